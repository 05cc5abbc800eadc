"""The lock of a folder, so that one parent at a time writes into it; the system releases it when its process ends."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import filelock

from bakeoff.spec.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


LOCK_FILE = ".lock"


@contextmanager
def locked(folder: Path, kind: str) -> Iterator[None]:
    """Hold a folder's lock; raise StoreError where another process has it. `kind` is "comparison" or "study"."""
    lock = filelock.FileLock(folder / LOCK_FILE)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        msg = f"{folder} is in use by another bakeoff; wait for it, or start a new {kind} without --resume"
        raise StoreError(msg) from None
    except OSError as error:
        why = error.strerror or str(error)
        if error.errno == errno.ELOOP:
            why = f"{LOCK_FILE} in it is a link, and links are not followed: remove it"
        msg = f"cannot lock {folder}: {why}"
        raise StoreError(msg) from error
    try:
        yield
    finally:
        lock.release()


def is_locked(folder: Path) -> bool:
    """Return whether a process holds a folder's lock; nothing is made, and others are kept from it for an instant."""
    try:
        handle = os.open(folder / LOCK_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # A shared one: two that look do not take each other for the holder.
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)  # which releases it
    return False

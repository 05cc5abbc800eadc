"""The lock of a folder, so that one parent at a time writes into it; the system releases it when its process ends."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import filelock

from bakeoff.spec.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def locked(folder: Path, kind: str) -> Iterator[None]:
    """Hold a folder's lock; raise StoreError where another process has it. `kind` is "comparison" or "study"."""
    lock = filelock.FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        msg = f"{folder} is in use by another bakeoff; wait for it, or start a new {kind} without --resume"
        raise StoreError(msg) from None
    except OSError as error:
        msg = f"cannot lock {folder}: {error.strerror or error}"
        raise StoreError(msg) from error
    try:
        yield
    finally:
        lock.release()

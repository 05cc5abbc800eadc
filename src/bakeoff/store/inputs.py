"""The folder of a run's batches: in the results directory while the run lasts, and gone in the end."""

from __future__ import annotations

import secrets
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import filelock

from bakeoff.spec.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = ".inputs-"


@contextmanager
def inputs_folder(results: Path) -> Iterator[Path]:
    """Yield an empty folder, which is removed in the end; remove those that killed parents have left.

    Raises StoreError where none can be made.
    """
    for left in results.glob(f"{PREFIX}*/"):
        with suppress(OSError):  # In use, or not ours to remove: filelock's Timeout is an OSError, too.
            _drop(left, _take(left))
    folder = results / f"{PREFIX}{secrets.token_hex(8)}"
    try:
        lock = _take(folder)
    except OSError as error:
        msg = f"cannot make {folder}: {error.strerror or error}"
        raise StoreError(msg) from error
    try:
        yield folder
    finally:
        _drop(folder, lock)


def _take(folder: Path) -> filelock.BaseFileLock:
    """Lock a folder and then make it, so that one without a lock belongs to nobody; return the lock."""
    lock = filelock.FileLock(f"{folder}.lock")
    lock.acquire(timeout=0)
    folder.mkdir(exist_ok=True)
    return lock


def _drop(folder: Path, lock: filelock.BaseFileLock) -> None:
    """Remove a folder with its lock."""
    shutil.rmtree(folder, ignore_errors=True)
    Path(lock.lock_file).unlink(missing_ok=True)
    lock.release()

"""A comparison's files: a folder for the comparison, with one for each trial; each is written whole or not at all.

results/<comparison>/comparison.json, end.json
results/<comparison>/<trial>/trial.json, record.json, evidence.npz, stdout.log, stderr.log
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from bakeoff.spec.bounded import read_bounded
from bakeoff.spec.comparison import FIRST_RULES, Comparison
from bakeoff.spec.errors import DamagedError, OtherVersionError, StoreError
from bakeoff.spec.record import RECORD_VERSION, Record
from bakeoff.store.evidence import EVIDENCE_FILE, checked_arrays
from bakeoff.store.reading import check_version, decoded, read_as, stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.spec.trial import TrialSpec

COMPARISON_FILE = "comparison.json"
STUDY_FILE = "study.json"
TRIAL_FILE = "trial.json"
RECORD_FILE = "record.json"
END_FILE = "end.json"
DAMAGED_FILE = "record.damaged.json"
EARLIER_FILE = "record.earlier.json"
"""Of a trial that came to nothing and was done again when its comparison went on."""


_MOST_NAME_BYTES = 200
"""Of the name of a temporary file, which begins as the one that it replaces."""


class _Sealed(msgspec.Struct, frozen=True):
    """A record with the SHA-256 of its bytes."""

    sha256: str
    record: msgspec.Raw


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that takes the place of what is at a path when it is whole: temporary file, fsync, rename, fsync.

    Where an error comes before, nothing is replaced. Raises StoreError, with the cause, where it cannot be written.
    """
    try:
        make_folder(path.parent, exist_ok=True)
        # A name may have 255 bytes, and what mkstemp adds counts, too.
        begin = os.fsdecode(os.fsencode(path.name)[:_MOST_NAME_BYTES])
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{begin}.")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fchmod(file.fileno(), 0o666 & ~_umask())
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        _settle(path.parent)
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise StoreError(msg) from error


def make_folder(folder: Path, *, exist_ok: bool = False) -> None:
    """Make a folder, with those above it that are missing, all of them still there after a power cut."""
    missing = list(takewhile(lambda one: not one.exists(), (folder, *folder.parents)))
    folder.mkdir(parents=True, exist_ok=exist_ok)
    for one in missing:
        _settle(one.parent)


def _settle(folder: Path) -> None:
    """Have the system write down what lies in a folder: until then a power cut may undo a rename, and lose the file."""
    with suppress(OSError):  # Not every file system can; there is nothing else to be done, and the file is whole.
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; raise StoreError with the cause."""
    with replacing(path) as file:
        file.write(content)


def write_json(path: Path, content: object) -> None:
    """Write a file of JSON, laid out for people, whole or not at all; raise StoreError with the cause."""
    write_atomically(path, msgspec.json.format(msgspec.json.encode(content)))


def _umask() -> int:
    """Return the process's umask, for files that others may read: those of mkstemp are for their owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_trial(folder: Path, trial: TrialSpec) -> None:
    """Write what is asked of a worker."""
    write_json(folder / TRIAL_FILE, trial)


def write_record(folder: Path, record: Record) -> None:
    """Write a trial's record, sealed."""
    content = msgspec.json.encode(record)
    sealed = _Sealed(sha256=hashlib.sha256(content).hexdigest(), record=msgspec.Raw(content))
    write_atomically(folder / RECORD_FILE, msgspec.json.encode(sealed))


def read_record(folder: Path) -> Record:
    """Return a trial's record; raise DamagedError, with the reason, where it is not as it was written.

    Raises OtherVersionError for one that another version of bakeoff wrote: it is as it was written.
    """
    path = folder / RECORD_FILE
    record = unsealed(stored(path), path)
    if record.evidence is not None:
        checked_arrays(folder / EVIDENCE_FILE, record.evidence.arrays_sha256)
    return record


def unsealed(content: bytes, path: Path) -> Record:
    """Return the record that the content of a file at this path holds, without its arrays; raise as `read_record`."""
    try:
        sealed = decoded(content, _Sealed)
    except ValueError as error:
        msg = f"{path} is truncated or not a record: {error}"
        raise DamagedError(msg) from error
    if hashlib.sha256(sealed.record).hexdigest() != sealed.sha256:
        msg = f"{path} was changed after it was written: its content does not have its SHA-256"
        raise DamagedError(msg)
    check_version(path, sealed.record, RECORD_VERSION)
    try:
        return decoded(sealed.record, Record)
    except ValueError as error:
        msg = f"{path} was made by another version of bakeoff: {error}"
        raise OtherVersionError(msg) from error


def write_comparison(folder: Path, comparison: Comparison) -> None:
    """Write what is compared, before the first trial."""
    write_json(folder / COMPARISON_FILE, comparison)


def read_comparison(folder: Path) -> Comparison:
    """Return the comparison of a folder; raise StoreError with the reason."""
    comparison = read_as(Comparison, folder / COMPARISON_FILE)
    procedure = comparison.procedure
    if procedure.rules == FIRST_RULES and procedure.aim == "size":
        # No file of these rules says so: it is older than the aim, when a comparison aimed at a verdict.
        procedure = msgspec.structs.replace(procedure, aim="verdict")
    return msgspec.structs.replace(comparison, procedure=procedure)


def write_end(folder: Path, reason: str) -> None:
    """Write why no more rounds were run: the only fact about a comparison that is not in its records."""
    write_atomically(folder / END_FILE, msgspec.json.encode({"reason": reason}))


def read_end(folder: Path) -> str:
    """Return why no more rounds were run; "" where the comparison was interrupted or still runs."""
    try:
        return decoded(read_bounded(folder / END_FILE), dict[str, str]).get("reason", "")
    except (OSError, ValueError, StoreError):
        return ""


def forget_end(folder: Path) -> None:
    """Remove the reason why an earlier run ended: the comparison goes on."""
    try:
        (folder / END_FILE).unlink(missing_ok=True)
    except OSError as error:
        msg = f"cannot remove {folder / END_FILE}: {error.strerror or error}"
        raise StoreError(msg) from error


def clear_trial(folder: Path) -> None:
    """Remove what an unfinished trial left, except records that were set aside, which somebody may examine."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name not in (DAMAGED_FILE, EARLIER_FILE):
            path.unlink()

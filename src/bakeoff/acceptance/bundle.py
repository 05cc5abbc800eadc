"""An acceptance's records in one file to be sent in: redacted, without links, the same bytes for the same records.

BUNDLE.tar.gz holds acceptance.json, manifest.json, report.md and, in a folder for each check, its records and the end
of its workers' output. Arrays stay: certificates.json has the errors that they showed. Records are sealed anew.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import zlib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

import bakeoff
from bakeoff.acceptance.redacted import Redactor, apart, redactor
from bakeoff.spec.acceptance import Acceptance, AcceptanceOutcome
from bakeoff.spec.bounded import MOST_BYTES, behind_links, opened, read_bounded
from bakeoff.spec.errors import BakeoffError, StoreError, UsageError
from bakeoff.store.acceptances import ACCEPTANCE_FILE
from bakeoff.store.files import RECORD_FILE, write_atomically
from bakeoff.store.reading import check_version, decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ENDING = ".tar.gz"
BUNDLE_FILE = f"bundle{ENDING}"
MANIFEST_FILE = "manifest.json"

KEPT = (".json", ".log", ".md")
"""Endings of the files that are sent."""

MOST_LOG_BYTES = 64 << 10
"""Of a worker's output, its end: where the cause of a failure is."""

MOST_MEMBERS = 10_000
"""Of a bundle that is read: one of a whole hour has some hundreds."""

MOST_UNPACKED_BYTES = 2 * MOST_BYTES
"""Of a bundle that is read, until its acceptance.json is found: the largest that is read, and as much again before it,
which is more than hundreds of records. A few megabytes of gzip may hold gigabytes, also in the name of a member."""

_UNREADABLE = (
    *(OSError, EOFError, StoreError, tarfile.TarError, zlib.error),
    *(ValueError, OverflowError, RecursionError, MemoryError),  # By what a stranger wrote into the heads of members.
)


def check_writable(path: Path) -> None:
    """Raise UsageError for a name that no bundle has, and for a file that is there and is none."""
    if not path.name.endswith(ENDING) or path.is_dir():
        msg = f"--bundle {path}: the file must end in {ENDING}"
        raise UsageError(msg)
    if path.exists():
        try:
            read_bundle(path)
        except BakeoffError as error:
            msg = f"--bundle {path}: a file is there that is no bundle; name another one, or remove it"
            raise UsageError(msg) from error


def write_bundle(outcome: AcceptanceOutcome, path: Path | None = None, using: Redactor | None = None) -> Path:
    """Write an acceptance's bundle, by default beside its records, and return its path; raise StoreError."""
    folder = Path(outcome.path)
    path = folder / BUNDLE_FILE if path is None else path
    using = using or redactor()
    members, left_out = _members(folder, using)
    acceptance = using.json(msgspec.to_builtins(outcome.acceptance)) | {"redacted": True}
    members[ACCEPTANCE_FILE] = pretty(acceptance)
    manifest = {"version": 1, "bakeoff": bakeoff.__version__, "files": sorted(members), "left_out": sorted(left_out)}
    members[MANIFEST_FILE] = pretty(manifest)
    write_atomically(path, archive(members))
    return path


def _members(folder: Path, using: Redactor) -> tuple[dict[str, bytes], list[str]]:
    """Return the redacted files of a folder by their names in the bundle, and the names of those left out."""
    names = _names(folder, using)
    members: dict[str, bytes] = {}
    left_out = []
    for path, name in names.items():
        try:
            members[name] = redacted_file(path, using)
        except (OSError, ValueError, StoreError):
            left_out.append(name)
    return members, left_out


def _names(folder: Path, using: Redactor) -> dict[Path, str]:
    """Return what the files of a folder are called in the bundle; those that would be called alike are numbered."""
    paths = list(_files(folder))
    inner = {path: (*path.relative_to(folder).parts[:-1], path.stem) for path in paths}
    known = apart((part for parts in inner.values() for part in parts), using)
    called = {path: [known.get(part) or using.text(part) for part in parts] for path, parts in inner.items()}
    return {path: f"{PurePosixPath(*parts)}{path.suffix}" for path, parts in called.items()}


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that are sent, in a stable order; no link is followed, and none is sent."""
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            continue
        if path.is_dir():
            yield from _files(path)
        elif path.is_file() and path.suffix in KEPT and not path.name.startswith("."):
            yield path


class Redacts(Protocol):
    """What takes words out of a text, and of an object of JSON."""

    def text(self, text: str) -> str:
        """Return a text without them."""

    def json(self, content: Any) -> Any:
        """Return an object of JSON without them."""


def redacted_file(path: Path, using: Redacts) -> bytes:
    """Return a file's content, redacted, a record sealed anew; raise ValueError for JSON that is none, or no record."""
    content = read_bounded(path)
    if path.name == RECORD_FILE:
        return _sealed(content, using)
    if path.suffix == ".json":
        return pretty(using.json(json.loads(content)))
    end = content[-MOST_LOG_BYTES:] if path.suffix == ".log" else content
    return "\n".join(using.text(line) for line in end.decode(errors="replace").split("\n")).encode()


def _sealed(content: bytes, using: Redacts) -> bytes:
    """Return a record, redacted and sealed anew: it can be read as any other."""
    said = json.loads(content)
    if not isinstance(said, dict) or "record" not in said:
        msg = "it holds no record"
        raise ValueError(msg)
    record = msgspec.json.encode(using.json(said["record"]))
    return msgspec.json.encode({"sha256": hashlib.sha256(record).hexdigest(), "record": msgspec.Raw(record)})


def pretty(content: Any) -> bytes:
    """Return JSON for people and programs."""
    return json.dumps(content, indent=1, sort_keys=True).encode() + b"\n"


def archive(members: Mapping[str, bytes], name: str = "") -> bytes:
    """Return an archive of plain files, compressed; `name` stands in its head."""
    written = io.BytesIO()
    with gzip.GzipFile(filename=name, fileobj=written, mode="wb", mtime=0) as packed:
        packed.write(tarred(members))
    return written.getvalue()


def tarred(members: Mapping[str, bytes]) -> bytes:
    """Return an archive of plain files by their names, sorted, with no owner, no time and no link."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as file:
        for path in sorted(members):
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(members[path]), 0o644
            file.addfile(member, io.BytesIO(members[path]))
    return written.getvalue()


def read_bundle(path: Path) -> AcceptanceOutcome:
    """Return the acceptance that a bundle holds; nothing is unpacked. Raises UsageError where it is no bundle."""
    try:
        with (
            opened(behind_links(path)) as file,
            gzip.GzipFile(fileobj=file) as unpacked,
            tarfile.open(fileobj=_Bounded(unpacked), mode="r|") as archive,
        ):
            content = _acceptance_of(archive)
    except _UNREADABLE as error:
        msg = f"--read {path}: no bundle of an acceptance can be read there: {error}"
        raise UsageError(msg) from error
    if content is None:
        msg = f"--read {path}: it holds no {ACCEPTANCE_FILE} of at most {MOST_BYTES >> 20} MiB"
        raise UsageError(msg)
    check_version(path / ACCEPTANCE_FILE, content)
    try:
        return AcceptanceOutcome(acceptance=decoded(content, Acceptance), path=str(path))
    except ValueError as error:
        msg = f"{path}: its {ACCEPTANCE_FILE} is damaged or of another version of bakeoff: {error}"
        raise StoreError(msg) from error


class _Bounded(io.RawIOBase):
    """A file of which no more than MOST_UNPACKED_BYTES are read."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file, self._left = file, MOST_UNPACKED_BYTES

    def read(self, size: int = -1) -> bytes:
        """Return so many bytes, fewer at the end; raise EOFError where the bound is reached."""
        content = self._file.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            msg = f"its first {MOST_UNPACKED_BYTES >> 20} MiB hold no {ACCEPTANCE_FILE}, and no more is unpacked"
            raise EOFError(msg)
        return content


def _acceptance_of(archive: tarfile.TarFile) -> bytes | None:
    """Return the content of an archive's acceptance.json; None where no plain file of bounded size has that name."""
    for number, member in enumerate(archive):
        if number >= MOST_MEMBERS:
            return None
        if member.name == ACCEPTANCE_FILE:
            file = archive.extractfile(member) if member.isreg() and member.size <= MOST_BYTES else None
            return file.read() if file is not None else None
    return None

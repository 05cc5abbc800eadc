"""The records behind a page as one archive: without names, folders, keys and logs, or all of them as they are.

Records that were redacted are sealed anew. The archive is the same bytes for the same records.
"""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from bakeoff.acceptance.bundle import archive, redacted_file
from bakeoff.report.forms.marks import ARCHIVE
from bakeoff.spec.bounded import MOST_BYTES, read_bounded
from bakeoff.spec.errors import StoreError
from bakeoff.store.evidence import EVIDENCE_FILE, MOST_EVIDENCE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.report.gallery.found import PageSource
    from bakeoff.report.redacted import Redaction

ARCHIVE_FILE = "records.tar.gz"

_REDACTED = (".json",)
_WHOLE = (".json", ".log", ".npz")
"""Endings of the files that are taken; reports can be made of them again."""


def packed(one: PageSource, redaction: Redaction | None) -> bytes:
    """Return the archive of an undertaking's records; without a redaction they are taken as they are.

    A study's holds what it declares: each of its comparisons has an archive. What cannot be read is left out.
    """
    members: dict[str, bytes] = {}
    for path in files(one, _WHOLE if redaction is None else _REDACTED):
        parts = path.relative_to(one.folder).parts
        try:
            if redaction is None:
                content = read_bounded(path, MOST_EVIDENCE_BYTES if path.name == EVIDENCE_FILE else MOST_BYTES)
            else:
                content = redacted_file(path, redaction)
                parts = tuple(map(redaction.text, parts))
        except (OSError, ValueError, RecursionError, StoreError):
            continue  # The page says which records could not be read.
        members[str(PurePosixPath(*parts))] = content
    return archive(members, ARCHIVE)


def digest(one: PageSource, *, has_logs: bool) -> str:
    """Return a hash of all that a page depends on: every record, sizes of arrays, and the logs that its archive has."""
    found = hashlib.sha256()
    logs: Iterator[Path] = files(one, (".log",)) if has_logs else iter(())
    # A study's page depends on its comparisons.
    for path in (*_files(one.folder, (".json", ".npz"), is_deep=True), *logs):
        name = path.relative_to(one.folder).as_posix()
        try:
            said = str(path.lstat().st_size).encode() if path.suffix == ".npz" else read_bounded(path)
        except (OSError, StoreError) as error:
            said = type(error).__name__.encode()
        found.update(f"{name} {hashlib.sha256(said).hexdigest()}\n".encode(errors="surrogateescape"))
    return found.hexdigest()


def folders(one: PageSource) -> list[str]:
    """Return the names of all folders that its archive has, each once: they have to stay apart in it."""
    inner = (path.relative_to(one.folder).parts[:-1] for path in files(one, _REDACTED))
    return list(dict.fromkeys(name for names in inner for name in names))


def files(one: PageSource, endings: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files of an undertaking's records, in a stable order; no link is followed."""
    return _files(one.folder, endings, is_deep=one.kind != "study")


def _files(folder: Path, endings: tuple[str, ...], *, is_deep: bool) -> Iterator[Path]:
    """Yield the files with these endings in a folder and, where it is deep, in those within."""
    try:
        inside = sorted(folder.iterdir())
    except OSError:  # Removed meanwhile, as by a race that still runs: what judges the records says what is missing.
        return
    for path in inside:
        if path.is_symlink() or path.name.startswith("."):
            continue
        if path.is_dir():
            if is_deep:
                yield from _files(path, endings, is_deep=True)
        elif path.suffix in endings:
            yield path

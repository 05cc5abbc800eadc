"""What shows that bakeoff wrote a file: a file without it is somebody's own, and stays unless --force is given."""

from __future__ import annotations

import os
import stat
import struct
import zlib
from typing import TYPE_CHECKING

from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

HTML = '<meta name="generator" content="bakeoff">'
SVG = "<metadata>bakeoff</metadata>"
MARKDOWN = "<!-- bakeoff -->\n"
_TEXT = b"tEXtSoftware\0bakeoff"
PNG = struct.pack(">I", len(_TEXT) - 4) + _TEXT + struct.pack(">I", zlib.crc32(_TEXT))
"""A chunk of text (PNG, 11.3.4.3) with its length and its checksum."""

_PNG_HEAD_BYTES = 8 + 25
"""The signature and the chunk IHDR, which have to be first."""

SOURCE = "/* bakeoff */\n"
"""In a style sheet or a script."""
ARCHIVE = "bakeoff-records.tar"
"""The name in the head of an archive (RFC 1952, 2.3.1)."""

_MARKS = {
    ".html": HTML.encode(),
    ".svg": SVG.encode(),
    ".png": PNG,
    ".md": MARKDOWN.encode(),
    ".css": SOURCE.encode(),
    ".js": SOURCE.encode(),
    ".json": b'{"bakeoff":"',
    ".gz": ARCHIVE.encode() + b"\0",
}

_LOOK_BYTES = 1 << 16
"""The mark stands near a file's beginning."""


def marked_png(picture: bytes) -> bytes:
    """Return a PNG picture with the mark."""
    return picture[:_PNG_HEAD_BYTES] + PNG + picture[_PNG_HEAD_BYTES:]


def check_overwritable(path: Path, *, force: bool) -> None:
    """Raise UsageError where writing would replace something that bakeoff did not write."""
    try:
        found = os.stat(path)  # noqa: PTH116 - one name for what is there
    except (OSError, ValueError):
        if path.is_symlink() and not force:
            msg = f"{path} is a link that leads nowhere: name another file, or replace it by --force"
            raise UsageError(msg) from None
        return  # Nothing is there, or it cannot be written either: writing says why.
    if not stat.S_ISREG(found.st_mode):
        msg = f"{path} is no regular file: name a file to write"
        raise UsageError(msg)
    if force:
        return
    try:
        with path.open("rb") as file:
            is_ours = found.st_size == 0 or _mark_of(path) in file.read(_LOOK_BYTES)
    except OSError:
        is_ours = False
    if not is_ours:
        msg = f"{path} is there and was not written by bakeoff: name another file, or replace it by --force"
        raise UsageError(msg)


def _mark_of(path: Path) -> bytes:
    """Return the mark of a file of this name; an HTML page may have any name."""
    return _MARKS.get(path.suffix.lower(), _MARKS[".html"])

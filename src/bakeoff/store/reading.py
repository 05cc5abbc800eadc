"""Reading what a stranger may have written: regular files of a bounded size alone are opened, and no link is followed.

Nothing here changes anything.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

import msgspec

from bakeoff.spec.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = TypeVar("Kind")

MOST_BYTES = 64 << 20
"""Of a file of text: the largest record of a real comparison has some 50 kB."""

MOST_NAMED_BYTES = 1 << 20
"""Of a file of settings or a template that the user wrote: they have some lines, and a name is soon a wrong one."""

VERSION = 1
"""Of comparison.json, search.json and study.json."""


class DamagedError(StoreError):
    """A file that is not as it was written: truncated, edited, or no regular file at all."""


class OtherVersionError(StoreError):
    """A file that is whole, and that another version of bakeoff wrote: it is no damage, and is left as it is."""


class _Versioned(msgspec.Struct, frozen=True):
    """What files of all versions have in common."""

    version: int = VERSION


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file; raise OSError where it cannot be read, DamagedError for what is no file."""
    try:
        # Without O_NONBLOCK a pipe without a writer would be waited for.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            msg = f"{path} is a link, and links are not followed"
            raise DamagedError(msg) from error
        raise
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            msg = f"{path} is no regular file"
            raise DamagedError(msg)
        with os.fdopen(handle, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(handle)


def read_bounded(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Return a file's content; raise OSError where it cannot be read, DamagedError for what is no file or too large."""
    with opened(path) as file:
        content = file.read(most_bytes + 1) if os.fstat(file.fileno()).st_size <= most_bytes else None
    if content is None or len(content) > most_bytes:
        msg = f"{path} is larger than {most_bytes >> 20} MiB, the most that bakeoff reads of such a file"
        raise DamagedError(msg)
    return content


def behind_links(path: Path) -> Path:
    """Return the file that a path leads to: the user's own names may be links, unlike those in a stranger's folder."""
    return Path(os.path.realpath(path))


def read_named(path: Path, most_bytes: int = MOST_NAMED_BYTES) -> str:
    """Return the text of a file that the user has named; raise as `read_bounded` does, and UnicodeDecodeError."""
    return read_bounded(behind_links(path), most_bytes).decode()


def decoded(content: bytes | msgspec.Raw, kind: type[Kind]) -> Kind:
    """Return JSON as what it should be; raise ValueError with the reason."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from error


def check_version(path: Path, content: bytes | msgspec.Raw, version: int = VERSION) -> None:
    """Raise OtherVersionError for the content of a file that says that another version of bakeoff wrote it."""
    try:
        found = decoded(content, _Versioned).version
    except ValueError:
        return  # Not even that: who reads on says what is wrong.
    if found != version:
        msg = f"{path} was made by another version of bakeoff: it has version {found}, and this one reads {version}"
        raise OtherVersionError(msg)


def read_as(kind: type[Kind], path: Path) -> Kind:
    """Return the content of a JSON file that bakeoff wrote; raise StoreError with the reason."""
    try:
        content = read_bounded(path)
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise StoreError(msg) from error
    check_version(path, content)
    try:
        return decoded(content, kind)
    except ValueError as error:
        msg = f"{path} is damaged or of another version of bakeoff: {error}"
        raise StoreError(msg) from error

"""Reading a file that may be anything: a regular one of a bounded size alone is opened, and no link is followed."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from bakeoff.spec.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_BYTES = 64 << 20
"""Of a file of text: the largest record of a real comparison has some 50 kB."""


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


def at_home(path: str | Path) -> Path:
    """Return a user's own path with `~` and `~name` as the home that they mean; as it is where nobody has that name."""
    with suppress(RuntimeError):
        return Path(path).expanduser()
    return Path(path)

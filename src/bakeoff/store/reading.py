"""Reading what a stranger may have written: it is bounded, of this version, and what it should be.

Nothing here changes anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from bakeoff.spec.bounded import behind_links, read_bounded
from bakeoff.spec.errors import OtherVersionError, StoreError

if TYPE_CHECKING:
    from pathlib import Path

Kind = TypeVar("Kind")

MOST_NAMED_BYTES = 1 << 20
"""Of a file of settings or a template that the user wrote: they have some lines, and a name is soon a wrong one."""

VERSION = 1
"""Of comparison.json, search.json and study.json."""


class _Versioned(msgspec.Struct, frozen=True):
    """What files of all versions have in common."""

    version: int = VERSION


def read_named(path: Path) -> str:
    """Return the text of a file that the user has named; raise as `read_bounded` does, and UnicodeDecodeError."""
    return read_bounded(behind_links(path), MOST_NAMED_BYTES).decode()


def stored(path: Path) -> bytes:
    """Return the content of a file that bakeoff wrote; raise StoreError, with the reason, where it cannot be read."""
    try:
        return read_bounded(path)
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise StoreError(msg) from error


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
    content = stored(path)
    check_version(path, content)
    try:
        return decoded(content, kind)
    except ValueError as error:
        msg = f"{path} is damaged or of another version of bakeoff: {error}"
        raise StoreError(msg) from error

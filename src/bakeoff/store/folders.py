"""Folders in a results directory, one for each comparison, search and study: made, and found again to resume."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.store.files import make_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Kind = TypeVar("Kind")


def holding(place: Path, *names: str) -> list[Path]:
    """Return the files of these names in the folders of a place, sorted; folders that are links are not followed."""
    found = (path for name in names for path in place.glob(f"*/{name}"))
    return sorted(path for path in found if not path.parent.is_symlink())


def by_name(name: str, file: str, known: Sequence[Path]) -> Path | None:
    """Return the folder that a name means; None for none: its path, or the id or the end of the id of a known one.

    A path counts where the folder has this file; of several known ones it is the last.
    """
    if os.path.exists(Path(name) / file):  # noqa: PTH110 - Path.exists fails for a name that is too long
        return Path(name)
    return next((one for one in reversed(known) if one.name == name or one.name.endswith(f"-{name}")), None)


def new_folder(results: Path, stem: str) -> Path:
    """Make a folder whose name begins with this stem and is nobody else's; raise StoreError with the cause."""
    while True:
        folder = results / f"{stem}-{secrets.token_hex(2)}"
        try:
            make_folder(folder)
        except FileExistsError:
            continue  # A name that is taken is drawn again.
        except OSError as error:
            msg = f"cannot make {folder}: {error.strerror or error}"
            raise StoreError(msg) from error
        return folder


def latest_like(
    folders: Sequence[Path], read: Callable[[Path], Kind], identity: Callable[[Kind], object], wanted: Kind
) -> tuple[Path, Kind] | None:
    """Return the latest of these folders that asked for the same, with its content; None where there is none.

    `folders` come oldest first; `identity` returns what must agree. A folder that cannot be read is passed over.
    """
    for folder in reversed(folders):
        try:
            before = read(folder)
        except StoreError:
            continue  # What that one asked for is unknown.
        if identity(before) == identity(wanted):
            return folder, before
    return None


def resumable(kind: str, results: Path, found: tuple[Path, Kind] | None) -> tuple[Path, Kind]:
    """Return what was found to resume; raise UsageError where that is nothing."""
    if found is None:
        told = f"no {kind} in {results} asked for the same, of the same data"
        msg = f"nothing to go on with: {told}; run it without --resume"
        raise UsageError(msg)
    return found

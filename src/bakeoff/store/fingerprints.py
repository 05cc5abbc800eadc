"""Hashes of what is run: whoever runs a text can tell that it is the one that was looked at before."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.spec.errors import ChangedError

if TYPE_CHECKING:
    from collections.abc import Iterable

SOURCES = frozenset({".py", ".pyi", ".toml", ".txt", ".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".metal"})
"""Endings of the files that decide what a folder does; what Python and compilers leave beside them does not."""


def folder_sha256(folder: Path) -> str:
    """Return the hash of a folder's source files, names and contents; empty where it cannot be read."""
    files = (path for path in folder.rglob("*") if path.suffix in SOURCES)
    return files_sha256(folder, files)


def files_sha256(root: Path, files: Iterable[Path]) -> str:
    """Return the hash of these files, by their names below `root` and their contents; empty where one is unreadable."""
    digest = hashlib.sha256()
    try:
        for name, path in sorted((path.relative_to(root).as_posix(), path) for path in files):
            # Lengths by a hash of each part: no name can run over into a content.
            digest.update(hashlib.sha256(name.encode()).digest() + hashlib.sha256(path.read_bytes()).digest())
    except OSError:
        return ""
    return digest.hexdigest()


def packages_of(interpreter: str) -> list[str]:
    """Return the names, with versions, of all that is installed beside an interpreter, without starting it.

    Empty where that is unknown: there are no packages, or others are seen through the environment.
    """
    environment = Path(interpreter).parent.parent
    try:
        settings = (environment / "pyvenv.cfg").read_text(errors="replace").replace(" ", "").lower()
    except OSError:
        settings = ""
    if "include-system-site-packages=true" in settings:
        return []
    found = environment.glob("lib/python*/site-packages/*.dist-info")
    return sorted("/".join(path.parts[-3:]) for path in found)


def packages_sha256(interpreter: str) -> str:
    """Return the hash of `packages_of` an interpreter; empty where they are unknown."""
    found = packages_of(interpreter)
    return hashlib.sha256("\n".join(found).encode()).hexdigest() if found else ""


def check_unchanged(what: str, before: str, now: str) -> None:
    """Raise ChangedError where a hash differs from the one that was fixed; an empty one was never taken."""
    if before and before != now:
        raise ChangedError(what)

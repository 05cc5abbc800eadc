"""The declared frameworks: every folder in bakeoff.frameworks with a framework.toml, and those of installed packages.

No framework is imported here: only a worker does that, in the framework's own interpreter.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tomllib
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

import bakeoff
from bakeoff.spec.errors import UnavailableError, UnknownNameError
from bakeoff.spec.framework import FrameworkInfo

if TYPE_CHECKING:
    from collections.abc import Callable

DECLARATION = "framework.toml"
ENTRY_POINTS = "bakeoff.frameworks"
"""Other distributions declare theirs as: [project.entry-points."bakeoff.frameworks"] name = "their.package"."""


class Framework(msgspec.Struct, frozen=True, kw_only=True):
    """A framework's declaration and the folder that holds it."""

    info: FrameworkInfo
    path: Path
    problem: str = ""
    """Why the declaration cannot be used; empty when it can."""


def frameworks() -> dict[str, Framework]:
    """Return every declared framework by name; one whose declaration cannot be used is included, with its problem."""
    folders = sorted(path.parent for path in _shipped().glob(f"*/{DECLARATION}"))
    declared = {folder.name: _read(folder.name, folder) for folder in folders}
    for point in _points(entry_points, tuple(map(_changed_ns, sys.path))):
        # A shipped framework wins over a package that takes its name.
        declared.setdefault(point.name, _external(point))
    return declared


def framework(name: str) -> Framework:
    """Return the framework of this name; raise UnknownNameError or, for a broken declaration, UnavailableError."""
    declared = frameworks()
    if name not in declared:
        # The tests' stand-in works when it is named, and is offered to nobody.
        offered = [other for other, found in declared.items() if found.info.listed or found.problem]
        raise UnknownNameError("framework", name, offered)
    if declared[name].problem:
        raise UnavailableError(declared[name].problem)
    return declared[name]


def _shipped() -> Path:
    """Return the folder of the frameworks that come with bakeoff."""
    return Path(bakeoff.__file__).parent / "frameworks"


def _read(name: str, folder: Path) -> Framework:
    """Return one folder's framework, with the problem where its declaration cannot be used."""
    path = folder / DECLARATION
    try:
        info = _info(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        return _broken(name, folder, f"{path}: {error}")
    if info.name != name:
        return _broken(name, folder, f"{path} says name = {info.name!r}, but its folder or entry point is {name!r}")
    return Framework(info=info, path=folder)


@lru_cache(maxsize=1)
def _points(read: Callable[..., Any], seen: tuple[tuple[str, int], ...]) -> EntryPoints:
    """Return what installed packages declare, for a path as it was `seen`: to read all of them takes a while."""
    del seen
    found: EntryPoints = read(group=ENTRY_POINTS)
    return found


def _changed_ns(folder: str) -> tuple[str, int]:
    """Return a folder of the path and when a package was last added to it or taken away; 0 where that is unknown."""
    try:
        return folder, os.stat(folder or os.curdir).st_mtime_ns  # noqa: PTH116 - the path may hold what is no folder
    except OSError:
        return folder, 0


@cache
def _info(text: str) -> FrameworkInfo:
    """Return what a declaration says; raise ValueError where it cannot be used. Declarations are asked for often."""
    return msgspec.convert(tomllib.loads(text), FrameworkInfo)


def _external(point: EntryPoint) -> Framework:
    """Return the framework of an installed package that an entry point names, without importing the package."""
    try:
        spec = importlib.util.find_spec(point.value)
    except (ImportError, ValueError) as error:
        return _broken(point.name, Path(point.value), f"entry point {point.name} = {point.value!r}: {error}")
    if spec is None or not spec.submodule_search_locations:
        return _broken(point.name, Path(point.value), f"entry point {point.name} = {point.value!r} is no package")
    return _read(point.name, Path(next(iter(spec.submodule_search_locations))))


def _broken(name: str, folder: Path, problem: str) -> Framework:
    """Return a framework that is listed with its problem, instead of being left out."""
    info = FrameworkInfo(name=name, title=name, module="", distributions=(), options={})
    return Framework(info=info, path=folder, problem=problem)

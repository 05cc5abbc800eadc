"""The declared frameworks: every folder in bakeoff.frameworks with a framework.toml, and other people's packages.

Nothing is imported here: a framework's own interpreter does that, in a worker.
"""

from __future__ import annotations

import importlib.util
import tomllib
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import msgspec

import bakeoff
from bakeoff.spec.errors import UnavailableError, UnknownNameError
from bakeoff.spec.framework import FrameworkInfo

DECLARATION = "framework.toml"
ENTRY_POINTS = "bakeoff.frameworks"
"""A package of another distribution says: [project.entry-points."bakeoff.frameworks"] name = "their.package"."""


class Framework(msgspec.Struct, frozen=True, kw_only=True):
    """A framework's declaration and the folder that holds it."""

    info: FrameworkInfo
    path: Path
    problem: str = ""
    """Why the declaration cannot be used; empty when it can."""


def frameworks() -> dict[str, Framework]:
    """Give every declared framework by name; a broken one is there too, with its problem."""
    folders = sorted(path.parent for path in _shipped().glob(f"*/{DECLARATION}"))
    found = {folder.name: _read(folder.name, folder) for folder in folders}
    for point in entry_points(group=ENTRY_POINTS):
        found.setdefault(point.name, _external(point))
    return found


def framework(name: str) -> Framework:
    """Give one usable framework; raise UnknownNameError or, for a broken declaration, UnavailableError."""
    known = frameworks()
    if name not in known:
        raise UnknownNameError("framework", name, known)
    if known[name].problem:
        raise UnavailableError(known[name].problem)
    return known[name]


def _shipped() -> Path:
    """Give the folder of the frameworks that come with bakeoff."""
    return Path(bakeoff.__file__).parent / "frameworks"


def _read(name: str, folder: Path) -> Framework:
    """Read one folder's declaration, or say what is wrong with it."""
    path = folder / DECLARATION
    try:
        info = msgspec.convert(tomllib.loads(path.read_text("utf-8")), FrameworkInfo)
    except (OSError, ValueError) as error:
        return _broken(name, folder, f"{path}: {error}")
    if info.name != name:
        return _broken(name, folder, f"{path} says name = {info.name!r}, but it is found as {name!r}")
    return Framework(info=info, path=folder)


def _external(point: EntryPoint) -> Framework:
    """Find the folder of a package that an entry point names, without importing the package."""
    try:
        spec = importlib.util.find_spec(point.value)
    except (ImportError, ValueError) as error:
        return _broken(point.name, Path(point.value), f"entry point {point.name} = {point.value!r}: {error}")
    if spec is None or not spec.submodule_search_locations:
        return _broken(point.name, Path(point.value), f"entry point {point.name} = {point.value!r} is no package")
    return _read(point.name, Path(next(iter(spec.submodule_search_locations))))


def _broken(name: str, folder: Path, problem: str) -> Framework:
    """Give a framework that is listed with its problem instead of being dropped."""
    info = FrameworkInfo(name=name, title=name, module="", distributions=(), options={})
    return Framework(info=info, path=folder, problem=problem)

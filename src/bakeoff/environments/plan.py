"""What an environment is to have: the packages of a framework's requirements.txt, its name, and its size on disk.

FRAMEWORK@VERSION is another environment, with the framework at that version and the other packages as pip chooses them;
FRAMEWORK-DEVICE is one for a device, as its requirements-DEVICE.txt pins it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.environments.builds import PROCESSOR, name_for
from bakeoff.environments.declared import Framework
from bakeoff.environments.installed import Environment, Marker, find, home
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.spec.framework import FrameworkInfo

REQUIREMENTS = "requirements.txt"

LONGEST_NAME = 200
"""In bytes: file systems take 255, and the lock's name is longer."""

OURS = ("msgspec",)
"""Packages that bakeoff's worker itself needs: they keep their pins in an environment for another version, in which pip
chooses all others, since it knows which fit."""

NEEDED = ("numpy", "msgspec")
"""Packages without which no worker runs (bootstrap.py): they are installed beside pins that do not name them."""

_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?P<extras>\[[^\]]*\])?\s*(?P<pin>[^;#]*)(?P<marker>;[^#]*)?")
_VERSION = re.compile(r"\d[\w.+!-]*")


class EnvironmentPlan(msgspec.Struct, frozen=True, kw_only=True):
    """An environment that is to be made."""

    name: str
    framework: Framework
    requirements: Path
    pins: str | None
    """The content of another requirements.txt, for another version of the framework; None: `requirements` holds."""
    marker: Marker

    def lines(self) -> list[str]:
        """Return what pip is asked to install, without comments."""
        return [*self._lines(), *self.added()]

    def added(self) -> list[str]:
        """Return what a worker needs and a user's own pins do not name; frameworks' own files are taken as they are."""
        is_own = self.requirements.parent == self.framework.path
        named = {match["name"].lower() for match in map(_REQUIREMENT.match, self._lines()) if match}
        return [] if is_own else [name for name in NEEDED if name not in named]

    def _lines(self) -> list[str]:
        """Return the lines of the requirements, without comments."""
        text = self.requirements.read_text("utf-8") if self.pins is None else self.pins
        return [line for each in text.splitlines() if (line := each.partition(" #")[0].strip()) and line[0] != "#"]

    def size(self) -> EnvironmentSize | None:
        """Return how much is fetched and how much it takes on disk; None where another file says what to install."""
        info = self.framework.info
        if self.requirements.parent != self.framework.path:
            return None
        of = f"of {info.name} as {self.requirements.name} pins it: " if self.pins is not None else ""
        if self.marker.device in info.builds:
            build = info.builds[self.marker.device]
            return EnvironmentSize(
                download_mb=build.download_mb, installed_mb=build.installed_mb, source=f"{of}{build.source}"
            )
        if info.installed_mb is None:
            return None
        return EnvironmentSize(installed_mb=info.installed_mb, source=f"{of}{info.installed_source}")


class EnvironmentSize(msgspec.Struct, frozen=True, kw_only=True):
    """How large an environment is, about."""

    download_mb: int | None = None
    installed_mb: int
    source: str


def planned(
    framework: Framework,
    *,
    name: str | None = None,
    requirements: Path | None = None,
    version: str | None = None,
    device: str = PROCESSOR,
) -> EnvironmentPlan:
    """Return which environment of a framework would be made, with nothing touched.

    `version` is of a second environment, framework@version; `name` and `requirements` are of one with any other pins;
    with a `device` it is the one for that device. Raise UsageError for what cannot be made.
    """
    info = framework.info
    if name is None:
        name = name_for(f"{info.name}@{version}" if version else info.name, device)
    check_name(name)
    if not name.isprintable():  # one that is there already can be removed
        msg = f"{name!r} is no name for an environment: a terminal would not show it as it is"
        raise UsageError(msg)
    requirements = requirements or framework.path / requirements_for(device)
    if not os.path.isfile(requirements):  # noqa: PTH113 - unlike Path.is_file, no error for a name that is too long
        msg = f"{info.name} cannot be made: there is no {requirements}"
        raise UsageError(msg)
    pins = _text(info.name, requirements)
    return EnvironmentPlan(
        name=name,
        framework=framework,
        requirements=requirements,
        pins=pinned(pins, info, version) if version else None,
        marker=Marker(
            framework=info.name,
            requirements_sha256=hashlib.sha256(f"{version or ''}{pins}".encode()).hexdigest(),
            complete=False,
            device=device,
        ),
    )


def already_made(plan: EnvironmentPlan) -> Environment | None:
    """Return the environment that a plan would make, if it is there and of the same requirements."""
    existing = find(plan.name)
    same = existing is not None and existing.info.requirements_sha256 == plan.marker.requirements_sha256
    return existing if same else None


def requirements_for(device: str) -> str:
    """Return the name of the file, in a framework's folder, that pins an environment for a device."""
    return REQUIREMENTS if device == PROCESSOR else f"requirements-{device}.txt"


def parse_version(text: str) -> tuple[str, str | None]:
    """Return framework and version of FRAMEWORK or FRAMEWORK@VERSION; raise UsageError for what is no version."""
    name, at, version = text.partition("@")
    if at and not _VERSION.fullmatch(version):
        msg = f"{text!r} is not of the form FRAMEWORK@VERSION, such as {name}@1.2.3; other names are given by --name"
        raise UsageError(msg)
    return name, version or None


def pinned(requirements: str, info: FrameworkInfo, version: str) -> str:
    """Return the requirements with the framework's own packages at a version and no pins for the others."""
    own = info.versioned or info.distributions[:1]
    lines = []
    for line in requirements.splitlines():
        match = _REQUIREMENT.match(line.strip())
        if match is None:
            continue
        name, extras, marker = match["name"], match["extras"] or "", (match["marker"] or "").strip()
        exactly = "===" if match["pin"].startswith("===") else "=="
        pin = f"{exactly}{version}" if name in own else match["pin"].strip() if name in OURS else ""
        lines.append(f"{name}{extras}{pin}{marker}")
    return "\n".join(lines) + "\n"


def room(plan: EnvironmentPlan) -> str:
    """Return how large an environment will be, about, and how much free space its disk has."""
    size, free_gb = plan.size(), free_bytes() / 1e9
    if size is None:
        return ""
    fetched = f"{size.download_mb / 1e3:.2f} GB to fetch, " if size.download_mb else ""
    return f": {fetched}about {size.installed_mb / 1e3:.2f} GB on disk, of {free_gb:.0f} GB that are free"


def free_bytes() -> int:
    """Return the free space of the disk that environments are on, whether or not their folder is there yet."""
    folder = home()
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def _text(framework: str, requirements: Path) -> str:
    """Return what a file of requirements says; raise UsageError for one that holds no text."""
    try:
        return requirements.read_text("utf-8")
    except UnicodeDecodeError as error:
        msg = f"{framework} cannot be made: {requirements} holds no text, but pip's requirements are lines of text"
        raise UsageError(msg) from error
    except OSError as error:
        msg = f"{framework} cannot be made: {requirements} cannot be read: {error.strerror}"
        raise UsageError(msg) from error


def check_name(name: str) -> None:
    """Raise UsageError for a name that is not that of a single folder: it could lead out of the home."""
    is_folder = name == Path(name).name and len(os.fsencode(name)) <= LONGEST_NAME
    if name in {"", ".", ".."} or not is_folder:
        msg = f"{name!r} is no name for an environment: it has to be the name of a folder, without a path"
        raise UsageError(msg)

"""Make and remove environments: one virtual environment for each framework, as its requirements.txt pins it.

FRAMEWORK@VERSION is another environment, with the framework at that version and the other packages as pip chooses them;
FRAMEWORK-DEVICE is one for a device, as its requirements-DEVICE.txt pins it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
import msgspec

from bakeoff.environments.builds import PROCESSOR, name_for
from bakeoff.environments.declared import Framework
from bakeoff.environments.installed import MARKER, Environment, Marker, find, home, installed, read_marker
from bakeoff.spec.errors import BakeoffError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.spec.framework import FrameworkInfo

REQUIREMENTS = "requirements.txt"

INSTALL = "install.py"
"""In a framework's folder, what pip cannot do: the new environment's interpreter runs it once; its output is shown."""

LARGE_DOWNLOAD_BYTES = 20e6
"""Downloads from this size on are shown one by one: on a slow line they are what a user waits for."""

LONGEST_NAME = 200
"""In bytes: file systems take 255, and the lock's name is longer."""

KEPT_LINES = 15
"""How many of the last lines of pip's output an error shows: pip's own messages take 5 to 10."""

OURS = ("msgspec",)
"""Packages that bakeoff's worker itself needs: they keep their pins in an environment for another version, in which pip
chooses all others, since it knows which fit."""

NEEDED = ("numpy", "msgspec")
"""Packages without which no worker runs (bootstrap.py): they are installed beside pins that do not name them."""

_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?P<extras>\[[^\]]*\])?\s*(?P<pin>[^;#]*)(?P<marker>;[^#]*)?")
_VERSION = re.compile(r"\d[\w.+!-]*")
_NOT_FOUND = re.compile(
    r"Could not find a version that satisfies the requirement "
    r"(?P<name>[A-Za-z0-9][\w.-]*)(\[[^\]]*\])?==(?P<version>\S+) .*\(from versions: (?P<versions>[^)]*)\)"
)
MOST_VERSIONS = 5  # of those that there are instead: the newest few fit in a line
_DOWNLOADING = re.compile(r"\s*Downloading (?P<file>\S+) \((?P<size>[\d.]+) (?P<unit>[kMG]B)\)")
_UNIT_BYTES = {"kB": 1e3, "MB": 1e6, "GB": 1e9}

Show = Callable[[str], None]
"""Shows the user one line of progress."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
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

    def size(self) -> Size | None:
        """Return how much is fetched and how much it takes on disk; None where another file says what to install."""
        info = self.framework.info
        if self.requirements.parent != self.framework.path:
            return None
        of = f"of {info.name} as {self.requirements.name} pins it: " if self.pins is not None else ""
        if self.marker.device in info.builds:
            build = info.builds[self.marker.device]
            return Size(download_mb=build.download_mb, installed_mb=build.installed_mb, source=f"{of}{build.source}")
        if info.installed_mb is None:
            return None
        return Size(installed_mb=info.installed_mb, source=f"{of}{info.installed_source}")


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How large an environment is, about."""

    download_mb: int | None = None
    installed_mb: int
    source: str


class CreationError(BakeoffError):
    """An environment could not be made; nothing of it is left on disk."""


def make_environment(
    framework: Framework,
    show: Show,
    *,
    name: str | None = None,
    requirements: Path | None = None,
    version: str | None = None,
    device: str = PROCESSOR,
) -> Environment:
    """Make the environment of a framework and return it; one with the same requirements is returned as it is.

    `version` makes a second environment, framework@version; `name` and `requirements` make one with any other pins;
    with a `device` it is the one for that device. `show` is called with a line for each phase. Raise UsageError for
    what cannot be made, CreationError if it fails.
    """
    plan = planned(framework, name=name, requirements=requirements, version=version, device=device)
    return make_planned(plan, show)


def make_planned(plan: Plan, show: Show) -> Environment:
    """Make the environment of a plan and return it, as `make_environment` does."""
    folder = home() / plan.name
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _lock(folder, show):
            # Only now: another process may have made it while this one waited for the lock.
            if existing := already_made(plan):
                show(f"{plan.name}: already there ({existing.path})")
                return existing
            return _make(folder, plan, show)
    except OSError as error:
        msg = f"cannot make {folder}: {_disk_full(str(error)) if error.errno == errno.ENOSPC else error}"
        raise CreationError(msg) from error


def planned(
    framework: Framework,
    *,
    name: str | None = None,
    requirements: Path | None = None,
    version: str | None = None,
    device: str = PROCESSOR,
) -> Plan:
    """Return what `make_environment` would make, with nothing touched; raise UsageError for what cannot be made."""
    info = framework.info
    if name is None:
        name = name_for(f"{info.name}@{version}" if version else info.name, device)
    _check_name(name)
    requirements = requirements or framework.path / requirements_for(device)
    if not os.path.isfile(requirements):  # noqa: PTH113 - unlike Path.is_file, no error for a name that is too long
        msg = f"{info.name} cannot be made: there is no {requirements}"
        raise UsageError(msg)
    pins = _text(info.name, requirements)
    return Plan(
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


def already_made(plan: Plan) -> Environment | None:
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


def remove_environment(name: str) -> Path:
    """Remove an environment that bakeoff made, complete or not, and return its folder; raise UsageError for others."""
    _check_name(name)
    folder = home() / name
    if folder.is_symlink():
        msg = f"{folder} is a link, which bakeoff did not make: it stays"
        raise UsageError(msg)
    if not folder.exists():
        raise UnknownNameError("environment", name, [environment.path.name for environment in installed()])
    if read_marker(folder) is None:
        msg = f"{folder} was not made by bakeoff (it has no {MARKER}): it stays"
        raise UsageError(msg)
    with _lock(folder, lambda _: None):
        shutil.rmtree(folder)
    _lock_path(folder).unlink(missing_ok=True)
    return folder


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


def _check_name(name: str) -> None:
    """Raise UsageError for a name that is not that of a single folder: it could lead out of the home."""
    if name in {"", ".", ".."} or name != Path(name).name or len(os.fsencode(name)) > LONGEST_NAME:
        msg = f"{name!r} is no name for an environment: it has to be the name of a folder, without a path"
        raise UsageError(msg)


def _lock_path(folder: Path) -> Path:
    """Return the path of the lock that two processes making one environment compete for."""
    return folder.with_name(f".{folder.name}.lock")


def _lock(folder: Path, show: Show) -> filelock.BaseFileLock:
    """Return the environment's lock, to be held while it is changed; say so where another process holds it now."""
    lock = filelock.FileLock(_lock_path(folder))
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        show(f"{folder.name}: another bakeoff is working on it, waiting")
    else:
        lock.release()
    return lock


def _make(folder: Path, plan: Plan, show: Show) -> Environment:
    """Make a virtual environment and install into it; after any failure, Ctrl-C included, nothing of it is left."""
    if folder.exists() and read_marker(folder) is None:
        msg = f"{folder} is in the way: bakeoff did not make it; move it away, or name another environment by --name"
        raise UsageError(msg)
    started = time.monotonic()
    # What an interrupted run or other requirements left: an environment is never changed, only made anew.
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir()
        # The marker comes first, incomplete, so that a crash leaves a folder that is known to be bakeoff's.
        (folder / MARKER).write_bytes(msgspec.json.encode(plan.marker))
        show(f"{folder.name}: making the environment in {folder}{room(plan)}")
        _run([sys.executable, "-m", "venv", str(folder)], folder.name, show)
        environment = Environment(path=folder, info=plan.marker)
        requirements = plan.requirements if plan.pins is None else folder / REQUIREMENTS
        if plan.pins is not None:
            requirements.write_text(plan.pins, "utf-8")
        show(f"{folder.name}: installing {requirements}")
        pip = [str(environment.python), "-m", "pip", "--disable-pip-version-check", "--no-input"]
        _run([*pip, "install", "--progress-bar", "off", "-r", str(requirements), *plan.added()], folder.name, show)
        rest = plan.framework.path / INSTALL
        if rest.is_file():
            show(f"{folder.name}: running {rest}")
            _run([str(environment.python), str(rest)], folder.name, show, news=str.strip)
        return _complete(environment, show, started)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def room(plan: Plan) -> str:
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


def _complete(environment: Environment, show: Show, started: float) -> Environment:
    """Return the environment with the marker that it is complete, which is written by renaming."""
    marker = msgspec.structs.replace(
        environment.info,
        complete=True,
        python=platform.python_version(),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        size_bytes=sum(path.lstat().st_size for path in environment.path.rglob("*") if path.is_file()),
    )
    temporary = environment.path / f"{MARKER}.new"
    temporary.write_bytes(msgspec.json.encode(marker))
    temporary.replace(environment.path / MARKER)
    show(f"{environment.path.name}: done in {time.monotonic() - started:.0f} s, {marker.size_bytes / 1e9:.2f} GB")
    return Environment(path=environment.path, info=marker)


def _run(command: list[str], name: str, show: Show, news: Callable[[str], str | None] | None = None) -> None:
    """Run one phase and show its progress; raise CreationError with the last lines of its output if it fails.

    `news` turns a line of the output into what is shown, or None; by default for pip's output.
    """
    news = news or _pip_news
    last: deque[str] = deque(maxlen=KEPT_LINES)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, errors="replace"
    )
    with process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                last.append(line.rstrip())
                if shown := news(line):
                    show(f"{name}: {shown}")
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        if missing := _no_such_version(last):
            msg = f"{name}: {missing}"
            raise CreationError(msg)
        output = "\n".join(last)
        what = Path(command[1]).name if command[1:2] != ["-m"] else command[2]
        msg = f"{name}: {_disk_full(output)}{what} failed (exit code {process.returncode}):\n{output}"
        raise CreationError(msg)


def _no_such_version(output: Iterable[str]) -> str:
    """Return in a line which version pip does not find and the newest that it does; empty for any other output.

    Pip names every version there is, oldest first, in a line of some kilobytes.
    """
    for line in output:
        if match := _NOT_FOUND.search(line):
            known = [version for version in match["versions"].split(", ") if version != "none"]
            newest = ", ".join(reversed(known[-MOST_VERSIONS:]))
            return f"no {match['name']} {match['version']}" + (f"; newest: {newest}" if newest else " for this Python")
    return ""


def _pip_news(line: str) -> str | None:
    """Return what a waiting user wants to know of a line of pip's output; None for all other lines."""
    collected = line.removeprefix("Installing collected packages:")
    if collected != line:
        return f"unpacking {len(collected.split(','))} packages"
    match = _DOWNLOADING.match(line)
    if match and float(match["size"]) * _UNIT_BYTES[match["unit"]] >= LARGE_DOWNLOAD_BYTES:
        return f"downloading {Path(match['file']).name} ({match['size']} {match['unit']})"
    return None


def _disk_full(output: str) -> str:
    """Return the start of a message that the disk is full, where that is the cause; else ""."""
    return f"the disk is full ({home()}); " if "No space left on device" in output else ""

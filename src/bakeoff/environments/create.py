"""Make and remove environments: a virtual environment each, with what the framework's requirements.txt pins."""

from __future__ import annotations

import errno
import hashlib
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

from bakeoff.environments.declared import Framework
from bakeoff.environments.installed import MARKER, Environment, Marker, find, home, installed, read_marker
from bakeoff.spec.errors import BakeoffError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from bakeoff.spec.framework import FrameworkInfo

REQUIREMENTS = "requirements.txt"

INSTALL = "install.py"
"""What a framework's folder has where pip is not all: run once by the new environment's interpreter, its lines told."""

TOLD_BYTES = 20e6
"""Downloads from this size on are told one by one: on a slow line they are what a user waits for."""

KEPT_LINES = 15
"""How many of pip's last lines tell why it failed: its own messages take 5 to 10."""

OURS = ("msgspec",)
"""What bakeoff's worker itself needs keeps its pin; all else is left to pip, which knows what fits the version."""

_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?P<extras>\[[^\]]*\])?\s*(?P<pin>[^;#]*)(?P<marker>;[^#]*)?")
_VERSION = re.compile(r"\d[\w.+!-]*")
_DOWNLOADING = re.compile(r"\s*Downloading (?P<file>\S+) \((?P<size>[\d.]+) (?P<unit>[kMG]B)\)")
_SCALE = {"kB": 1e3, "MB": 1e6, "GB": 1e9}

Tell = Callable[[str], None]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """An environment to make."""

    framework: Framework
    requirements: Path
    pins: str | None
    """What is installed in place of the requirements, for another version."""
    marker: Marker


class CreationError(BakeoffError):
    """An environment could not be made; nothing of it is left behind."""


def make_environment(
    framework: Framework,
    tell: Tell,
    *,
    name: str | None = None,
    requirements: Path | None = None,
    version: str | None = None,
) -> Environment:
    """Make the environment of a framework, unless it is there with the same requirements; tell each phase.

    `version` makes another one beside it, framework@version; `name` and `requirements` one with any pins at all.
    """
    info = framework.info
    name = name or (f"{info.name}@{version}" if version else info.name)
    _check_name(name)
    requirements = requirements or framework.path / REQUIREMENTS
    if not requirements.is_file():
        msg = f"{info.name} cannot be made: there is no {requirements}"
        raise UsageError(msg)
    pins = requirements.read_text("utf-8")
    plan = Plan(
        framework=framework,
        requirements=requirements,
        pins=pinned(pins, info, version) if version else None,
        marker=Marker(
            framework=info.name,
            requirements_sha256=hashlib.sha256(f"{version or ''}{pins}".encode()).hexdigest(),
            complete=False,
        ),
    )
    folder = home() / name
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _lock(folder, tell):
            there = find(name)
            if there is not None and there.info.requirements_sha256 == plan.marker.requirements_sha256:
                tell(f"{name}: already there ({there.path})")
                return there
            return _make(folder, plan, tell)
    except OSError as error:
        msg = f"cannot make {folder}: {_disk_full(str(error)) if error.errno == errno.ENOSPC else error}"
        raise CreationError(msg) from error


def parse_version(text: str) -> tuple[str, str | None]:
    """Read FRAMEWORK or FRAMEWORK@VERSION."""
    name, at, version = text.partition("@")
    if at and not _VERSION.fullmatch(version):
        msg = f"{text!r} is not of the form FRAMEWORK@VERSION, such as {name}@1.2.3; other names are given by --name"
        raise UsageError(msg)
    return name, version or None


def pinned(requirements: str, info: FrameworkInfo, version: str) -> str:
    """Give requirements with the framework's own packages at a version and the others as pip chooses them."""
    own = info.versioned or info.distributions[:1]
    lines = []
    for line in requirements.splitlines():
        match = _REQUIREMENT.match(line.strip())
        if match is None:
            continue
        name, extras, marker = match["name"], match["extras"] or "", (match["marker"] or "").strip()
        pin = f"=={version}" if name in own else match["pin"].strip() if name in OURS else ""
        lines.append(f"{name}{extras}{pin}{marker}")
    return "\n".join(lines) + "\n"


def remove_environment(name: str) -> Path:
    """Remove an environment that bakeoff made, whole or not; raise UsageError for anything else."""
    _check_name(name)
    folder = home() / name
    if not folder.exists():
        raise UnknownNameError("environment", name, [environment.path.name for environment in installed()])
    if read_marker(folder) is None:
        msg = f"{folder} was not made by bakeoff (it has no {MARKER}): it stays"
        raise UsageError(msg)
    with _lock(folder, lambda _: None):
        shutil.rmtree(folder)
    _lock_path(folder).unlink(missing_ok=True)
    return folder


def _check_name(name: str) -> None:
    """Keep names to one folder, so that none leads out of the home."""
    if name in {"", ".", ".."} or name != Path(name).name:
        msg = f"{name!r} is no name for an environment: it becomes a folder"
        raise UsageError(msg)


def _lock_path(folder: Path) -> Path:
    """Give the file that two creators of one environment contend for."""
    return folder.with_name(f".{folder.name}.lock")


def _lock(folder: Path, tell: Tell) -> filelock.BaseFileLock:
    """Take the environment's lock; wait, and say so, while another process makes it."""
    lock = filelock.FileLock(_lock_path(folder))
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        tell(f"{folder.name}: another bakeoff is at it, waiting")
    else:
        lock.release()
    return lock


def _make(folder: Path, plan: Plan, tell: Tell) -> Environment:
    """Make a virtual environment and fill it; on any failure nothing is left of it."""
    if folder.exists() and read_marker(folder) is None:
        msg = f"{folder} is in the way: bakeoff did not make it"
        raise UsageError(msg)
    started = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir()
        (folder / MARKER).write_bytes(msgspec.json.encode(plan.marker))
        tell(f"{folder.name}: making the environment in {folder}{_room(folder, plan.framework.info.installed_mb)}")
        _run([sys.executable, "-m", "venv", str(folder)], folder.name, tell)
        environment = Environment(path=folder, info=plan.marker)
        requirements = plan.requirements
        if plan.pins is not None:
            requirements = folder / REQUIREMENTS
            requirements.write_text(plan.pins, "utf-8")
        tell(f"{folder.name}: installing {requirements}")
        pip = [str(environment.python), "-m", "pip", "--disable-pip-version-check", "--no-input"]
        _run([*pip, "install", "--progress-bar", "off", "-r", str(requirements)], folder.name, tell)
        rest = plan.framework.path / INSTALL
        if rest.is_file():
            tell(f"{folder.name}: running {rest}")
            _run([str(environment.python), str(rest)], folder.name, tell, news=str.strip)
        return _complete(environment, tell, started)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _room(folder: Path, installed_mb: int | None) -> str:
    """Say how large an environment will be, about, and how much its disk has left."""
    if installed_mb is None:
        return ""
    return f": about {installed_mb / 1e3:.2f} GB, of {shutil.disk_usage(folder).free / 1e9:.0f} GB that are free"


def _complete(environment: Environment, tell: Tell, started: float) -> Environment:
    """Write the marker that says the environment is whole, by renaming."""
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
    tell(f"{environment.path.name}: done in {time.monotonic() - started:.0f} s, {marker.size_bytes / 1e9:.2f} GB")
    return Environment(path=environment.path, info=marker)


def _run(command: list[str], name: str, tell: Tell, news: Callable[[str], str | None] | None = None) -> None:
    """Run one phase; tell what of its lines is `news`, by default pip's, and on failure raise with the last ones."""
    news = news or _news
    last: deque[str] = deque(maxlen=KEPT_LINES)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, errors="replace"
    )
    with process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                last.append(line.rstrip())
                if told := news(line):
                    tell(f"{name}: {told}")
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        output = "\n".join(last)
        what = Path(command[1]).name if command[1:2] != ["-m"] else command[2]
        msg = f"{name}: {_disk_full(output)}{what} failed (exit code {process.returncode}):\n{output}"
        raise CreationError(msg)


def _news(line: str) -> str | None:
    """Give what of pip's output a waiting user wants to know."""
    collected = line.removeprefix("Installing collected packages:")
    if collected != line:
        return f"unpacking {len(collected.split(','))} packages"
    match = _DOWNLOADING.match(line)
    if match and float(match["size"]) * _SCALE[match["unit"]] >= TOLD_BYTES:
        return f"downloading {Path(match['file']).name} ({match['size']} {match['unit']})"
    return None


def _disk_full(output: str) -> str:
    """Say in plain words that the disk is full, where that is the cause."""
    return f"the disk is full ({home()}); " if "No space left on device" in output else ""

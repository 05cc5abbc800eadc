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

from bakeoff.environments.made import MARKER, Made, Marker, find, home, made, read_marker
from bakeoff.spec.errors import BakeoffError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from bakeoff.environments.declared import Framework

REQUIREMENTS = "requirements.txt"

TOLD_BYTES = 20e6
"""Downloads from this size on are told one by one: on a slow line they are what a user waits for."""

KEPT_LINES = 15
"""How many of pip's last lines tell why it failed: its own messages take 5 to 10."""

_DOWNLOADING = re.compile(r"\s*Downloading (?P<file>\S+) \((?P<size>[\d.]+) (?P<unit>[kMG]B)\)")
_SCALE = {"kB": 1e3, "MB": 1e6, "GB": 1e9}

Tell = Callable[[str], None]


class CreationError(BakeoffError):
    """An environment could not be made; nothing of it is left behind."""


def create(framework: Framework, tell: Tell, *, name: str | None = None, requirements: Path | None = None) -> Made:
    """Make the environment of a framework, unless it is there with the same requirements; tell each phase.

    `name` and `requirements` make another one beside it, such as an older version: framework@name races it.
    """
    name = name or framework.info.name
    _check_name(name)
    requirements = requirements or framework.path / REQUIREMENTS
    if not requirements.is_file():
        msg = f"{framework.info.name} cannot be made: there is no {requirements}"
        raise UsageError(msg)
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    folder = home() / name
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _lock(folder, tell):
            there = find(name)
            if there is not None and there.info.requirements_sha256 == digest:
                tell(f"{name}: already there ({there.path})")
                return there
            return _make(
                folder,
                requirements,
                Marker(framework=framework.info.name, requirements_sha256=digest, complete=False),
                tell,
            )
    except OSError as error:
        msg = f"cannot make {folder}: {_disk_full(str(error)) if error.errno == errno.ENOSPC else error}"
        raise CreationError(msg) from error


def remove(name: str) -> Path:
    """Remove an environment that bakeoff made, whole or not; raise UsageError for anything else."""
    _check_name(name)
    folder = home() / name
    if not folder.exists():
        raise UnknownNameError("environment", name, [environment.path.name for environment in made()])
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


def _make(folder: Path, requirements: Path, marker: Marker, tell: Tell) -> Made:
    """Make a virtual environment and fill it; on any failure nothing is left of it."""
    if folder.exists() and read_marker(folder) is None:
        msg = f"{folder} is in the way: bakeoff did not make it"
        raise UsageError(msg)
    started = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir()
        (folder / MARKER).write_bytes(msgspec.json.encode(marker))
        tell(f"{folder.name}: making the environment in {folder}")
        _run([sys.executable, "-m", "venv", str(folder)], folder.name, tell)
        environment = Made(path=folder, info=marker)
        tell(f"{folder.name}: installing {requirements}")
        pip = [str(environment.python), "-m", "pip", "--disable-pip-version-check", "--no-input"]
        _run([*pip, "install", "--progress-bar", "off", "-r", str(requirements)], folder.name, tell)
        return _complete(environment, tell, started)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _complete(environment: Made, tell: Tell, started: float) -> Made:
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
    return Made(path=environment.path, info=marker)


def _run(command: list[str], name: str, tell: Tell) -> None:
    """Run one phase; tell its large downloads, and on failure raise with its last lines."""
    last: deque[str] = deque(maxlen=KEPT_LINES)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, errors="replace"
    )
    with process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                last.append(line.rstrip())
                if news := _news(line):
                    tell(f"{name}: {news}")
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        output = "\n".join(last)
        msg = f"{name}: {_disk_full(output)}{command[2]} failed (exit code {process.returncode}):\n{output}"
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

"""Make and remove environments: one virtual environment for each framework, by a plan of what it has (plan.py)."""

from __future__ import annotations

import errno
import platform
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
import msgspec

from bakeoff.environments.installed import MARKER, Environment, home, installed, read_marker
from bakeoff.environments.plan import REQUIREMENTS, EnvironmentPlan, already_made, check_name, room
from bakeoff.spec.errors import BakeoffError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


INSTALL = "install.py"
"""In a framework's folder, what pip cannot do: the new environment's interpreter runs it once; its output is shown."""

LARGE_DOWNLOAD_BYTES = 20e6
"""Downloads from this size on are shown one by one: on a slow line they are what a user waits for."""

KEPT_LINES = 15
"""How many of the last lines of pip's output an error shows: pip's own messages take 5 to 10."""

_NOT_FOUND = re.compile(
    r"Could not find a version that satisfies the requirement "
    r"(?P<name>[A-Za-z0-9][\w.-]*)(\[[^\]]*\])?==(?P<version>\S+) .*\(from versions: (?P<versions>[^)]*)\)"
)
MOST_VERSIONS = 5  # of those that there are instead: the newest few fit in a line
_DOWNLOADING = re.compile(r"\s*Downloading (?P<file>\S+) \((?P<size>[\d.]+) (?P<unit>[kMG]B)\)")
_UNIT_BYTES = {"kB": 1e3, "MB": 1e6, "GB": 1e9}

_POLL_S = 0.1
"""Between two looks at whether environments are made: a wait for a lock does not end by every Ctrl-C, a sleep does."""

Show = Callable[[str], None]
"""Shows the user one line of progress."""


class CreationError(BakeoffError):
    """An environment could not be made; nothing of it is left on disk."""


class Phases:
    """The processes that make environments now, so that all of them can be ended."""

    def __init__(self) -> None:
        """Begin without any."""
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._is_over = False

    def begin(self, process: subprocess.Popen[str]) -> None:
        """Take a process that has been started; it is ended at once where all have been."""
        with self._lock:
            self._running.add(process)
            if self._is_over:
                process.kill()

    def are_over(self) -> bool:
        """Return whether all were ended."""
        return self._is_over

    def finish(self, process: subprocess.Popen[str]) -> None:
        """Forget a process that has ended."""
        with self._lock:
            self._running.discard(process)

    def end(self) -> None:
        """End those that run, and every one that is begun from now on."""
        with self._lock:
            self._is_over = True
            for process in self._running:
                process.kill()


def make_all(plans: Sequence[EnvironmentPlan], show: Show, *, at_once: int) -> None:
    """Make the environments of these plans, so many at a time: pip unpacks on one processor.

    Each is made whatever becomes of the others. Raise CreationError with what was wrong with those that failed; after
    Ctrl-C nothing is left of what was not finished.
    """
    different = list({plan.name: plan for plan in plans}.values())
    phases, pool = Phases(), ThreadPoolExecutor(max(1, min(at_once, len(different))))
    try:
        made = [pool.submit(make_planned, plan, show, phases) for plan in different]
        while not all(one.done() for one in made):
            time.sleep(_POLL_S)
    except BaseException:
        phases.end()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    failed = [error for one in made if (error := one.exception()) is not None]
    for error in failed:
        if not isinstance(error, CreationError) or len(failed) == 1:
            raise error
    if failed:
        raise CreationError("\n".join(map(str, failed)))


def make_planned(plan: EnvironmentPlan, show: Show, phases: Phases | None = None) -> Environment:
    """Make the environment of a plan and return it; one with the same requirements is returned as it is.

    `show` is called with a line for each phase; `phases` has its processes. Raise CreationError if it fails.
    """
    folder, phases = home() / plan.name, phases or Phases()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = _lock(folder, show)
        with lock.acquire(cancel_check=phases.are_over):
            # Only now: another process may have made it while this one waited for the lock.
            if existing := already_made(plan):
                show(f"{plan.name}: already there ({existing.path})")
                return existing
            return _make(folder, plan, show, phases)
    except OSError as error:
        msg = f"cannot make {folder}: {_disk_full(str(error)) if error.errno == errno.ENOSPC else error}"
        raise CreationError(msg) from error


def remove_environment(name: str) -> Path:
    """Remove an environment that bakeoff made, complete or not, and return its folder; raise UsageError for others."""
    check_name(name)
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


def _make(folder: Path, plan: EnvironmentPlan, show: Show, phases: Phases) -> Environment:
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
        run = partial(_run, name=folder.name, show=show, phases=phases)
        run([sys.executable, "-m", "venv", str(folder)])
        environment = Environment(path=folder, info=plan.marker)
        requirements = plan.requirements if plan.pins is None else folder / REQUIREMENTS
        if plan.pins is not None:
            requirements.write_text(plan.pins, "utf-8")
        show(f"{folder.name}: installing {requirements}")
        pip = [str(environment.python), "-m", "pip", "--disable-pip-version-check", "--no-input"]
        run([*pip, "install", "--progress-bar", "off", "-r", str(requirements), *plan.added()])
        rest = plan.framework.path / INSTALL
        if rest.is_file():
            show(f"{folder.name}: running {rest}")
            run([str(environment.python), str(rest)], news=str.strip)
        return _complete(environment, show, started)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


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


def _run(
    command: list[str], name: str, show: Show, phases: Phases, news: Callable[[str], str | None] | None = None
) -> None:
    """Run one phase and show its progress; raise CreationError with the last lines of its output if it fails.

    `news` turns a line of the output into what is shown, or None; by default for pip's output.
    """
    news = news or _pip_news
    last: deque[str] = deque(maxlen=KEPT_LINES)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, errors="replace"
    )
    phases.begin(process)
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
    phases.finish(process)
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

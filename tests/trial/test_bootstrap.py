"""The first lines of a worker's process, in fresh interpreters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import psutil
import pytest

import bakeoff
from bakeoff.environments.probe import probe

PACKAGE = Path(bakeoff.__file__).parent

TELL = """
import json, sys
class Engine:
    def versions(self):
        return {"path": json.dumps(sys.path), "modules": json.dumps(sorted(sys.modules)), "file": __file__}
    def devices(self):
        return ["cpu"]
"""

HANG = """
import ctypes, pathlib
class Engine:
    def configure(self, options):
        pathlib.Path("hanging").touch()
        ctypes.PyDLL(None).sleep(3600)  # In native code, with the interpreter's lock held.
"""

PARENT = """
import json, pathlib, sys, types
from bakeoff.race.workers.process import ProcessWorker
worker = ProcessWorker(pathlib.Path(sys.argv[1]), types.SimpleNamespace(variables={}), sys.executable)
worker.ready(600.0)
"""


def test_the_parents_packages_stay_with_the_parent(framework_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker imports bakeoff from its folder, and finds nothing else of where bakeoff is installed."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    told = probe(sys.executable, framework_of(TELL, "telling"))
    assert (told.error, told.devices) == ("", ["cpu"])
    modules = json.loads(told.versions["modules"])
    assert "bakeoff.spec.framework" in modules
    assert "schedule" not in modules
    assert str(PACKAGE) not in json.loads(told.versions["path"])


def test_a_framework_may_lie_anywhere(framework_of: Any) -> None:
    """A folder outside of bakeoff is a framework like those within."""
    folder = framework_of(TELL, "elsewhere")
    assert probe(sys.executable, folder).versions["file"] == str(folder / "engine.py")


def test_a_framework_that_breaks_is_told(framework_of: Any) -> None:
    """What an import raises is the probe's answer."""
    assert probe(sys.executable, framework_of("1 / 0", "breaking")).error == "ZeroDivisionError: division by zero"


def test_it_is_not_for_people() -> None:
    """Started by hand it says so."""
    command = [sys.executable, str(PACKAGE / "bootstrap.py"), "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert "use the command bakeoff" in told.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only a thread of the worker's own watches")
def test_a_worker_that_hangs_in_native_code_ends_with_its_parent(
    framework_of: Any, trial_of: Any, tmp_path: Path
) -> None:
    """Also one that holds the interpreter's lock, so that no line of Python runs in it any more."""
    folder = trial_of(framework_of(HANG, "hanging"))
    cwd = tmp_path / "here"
    cwd.mkdir()
    with subprocess.Popen([sys.executable, "-c", PARENT, str(folder)], cwd=cwd) as parent:
        try:
            wait_for((cwd / "hanging").exists)
            (worker,) = psutil.Process(parent.pid).children()
            assert worker.is_running()
        finally:
            parent.kill()
    wait_for(lambda: not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE)


def wait_for(is_so: Any) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Started(NamedTuple):
    """A worker, and the parent's ends of its pipes."""

    process: subprocess.Popen[bytes]
    commands: BinaryIO
    answers: BinaryIO


@contextmanager
def started(folder: Path) -> Iterator[Started]:
    """Start a worker on a trial, as a parent does."""
    commands_in, commands_out = os.pipe()
    answers_in, answers_out = os.pipe()
    lifeline_in, lifeline_out = os.pipe()
    fds = (commands_in, answers_out, lifeline_in)
    command = [sys.executable, str(PACKAGE / "bootstrap.py"), "trial", str(folder), *map(str, fds)]
    with (
        os.fdopen(commands_out, "wb", buffering=0) as commands,
        os.fdopen(answers_in, "rb") as answers,
        os.fdopen(lifeline_out, "wb"),
        subprocess.Popen([*command, str(time.perf_counter_ns())], pass_fds=fds, start_new_session=True) as worker,
    ):
        for fd in fds:
            os.close(fd)
        yield Started(worker, commands, answers)


def test_the_interpreters_own_start_is_measured(trial_of: Any, fake: Path, fakes_options: dict[str, str]) -> None:
    """The first line of bootstrap.py notes the time: a worker's start is known without asking the system."""
    folder = trial_of(fake, **fakes_options)
    began = time.perf_counter_ns()
    with started(folder) as worker:
        assert worker.answers.readline() == b"\n"
        assert json.loads(worker.answers.readline())["type"] == "ready"
        worker.commands.write(b'{"type":"BUILD"}\n{"type":"QUIT"}\n')
        assert [json.loads(line)["type"] for line in worker.answers] == ["built", "done"]
        ended = time.perf_counter_ns()
        assert worker.process.wait() == 0
    record = json.loads((folder / "record.json").read_bytes())["record"]
    assert 0 < record["start_ns"] < ended - began


def test_a_trial_without_quit_leaves_no_record(trial_of: Any, fake: Path, fakes_options: dict[str, str]) -> None:
    """When the commands end early, the parent is gone and the trial was not finished."""
    folder = trial_of(fake, **fakes_options)
    with started(folder) as worker:
        worker.commands.write(b'{"type":"BUILD"}\n')
        worker.commands.close()
        assert worker.process.wait(timeout=60) == 1
        assert b"built" in worker.answers.read()
    assert not (folder / "record.json").exists()

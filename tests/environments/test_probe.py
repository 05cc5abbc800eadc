from __future__ import annotations

import os
import py_compile
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import bakeoff
from bakeoff.environments.declared import framework
from bakeoff.environments.probe import probe

CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
HANG = "import subprocess, time; subprocess.Popen(['sleep', '97.53']); time.sleep(60)"
NOISY = "print('x' * 200_000, flush=True); raise ImportError('libnothing.so: cannot open')"


def faulty(tmp_path: Path, code: str) -> Path:
    """Give a framework's folder whose import does this."""
    folder = tmp_path / "faulty"
    shutil.copytree(framework("fake").path, folder)
    (folder / "engine.py").write_text(code)
    return folder


def sleeping() -> list[psutil.Process]:
    """Give the children that a hanging framework has left."""
    return [process for process in psutil.process_iter(["cmdline"]) if "97.53" in (process.info["cmdline"] or [])]


def test_a_framework_tells_its_devices_and_python() -> None:
    """A working framework answers with what it is in that interpreter."""
    answer = probe(sys.executable, framework("fake").path)
    assert answer.error == ""
    assert answer.devices == ["cpu"]
    assert answer.python == ".".join(map(str, sys.version_info[:3]))


def test_a_probe_is_set_up_as_a_worker_on_the_device(tmp_path: Path) -> None:
    """What framework.toml sets for a device is set before the import, so that asking takes no whole GPU."""
    folder = faulty(tmp_path, "import os; raise ImportError(os.environ.get('TAKES_ALL', 'not set'))")
    variable = (
        '[[variables]]\nname = "TAKES_ALL"\nvalue = "never"\nreason = "of this test"\nwhen = { device = "cuda" }\n'
    )
    declaration = folder / "framework.toml"
    declaration.write_text(f"{declaration.read_text()}\n{variable}".replace('name = "fake"', 'name = "faulty"', 1))
    assert probe(sys.executable, folder).error.endswith("not set")
    assert probe(sys.executable, folder, device="cuda").error.endswith("never")
    # So are variables of the one who asks, unless the framework's own say something else.
    assert probe(sys.executable, folder, variables={"TAKES_ALL": "mine"}).error.endswith("mine")


def test_a_failing_import_is_told_with_its_reason(tmp_path: Path) -> None:
    """What the import raises is the reason, however much it prints."""
    assert "libnothing.so" in probe(sys.executable, faulty(tmp_path, NOISY)).error


def test_a_crash_is_told_by_its_signal(tmp_path: Path) -> None:
    """A framework that takes its process down is told by the signal's name."""
    assert "SIGSEGV" in probe(sys.executable, faulty(tmp_path, CRASH)).error


def test_a_hang_is_ended_with_its_children(tmp_path: Path) -> None:
    """After the time limit the probe is ended with all that it started."""
    began = time.monotonic()
    assert "no answer within 2 s" in probe(sys.executable, faulty(tmp_path, HANG), limit_s=2.0).error
    assert time.monotonic() - began < 20
    # A killed process ends when the kernel next comes to it: on a busy machine, a moment later.
    while sleeping() and time.monotonic() - began < 20:
        time.sleep(0.05)
    assert not sleeping()


def test_an_interpreter_without_numpy_says_what_it_lacks(tmp_path: Path) -> None:
    """A bare interpreter is told what a worker needs."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    error = probe(str(tmp_path / "bare" / "bin" / "python"), framework("fake").path).error
    assert "numpy" in error


@pytest.mark.parametrize("kind", ["missing", "not-python"])
def test_what_is_no_interpreter_is_told(tmp_path: Path, kind: str) -> None:
    """A path that cannot be started, or that answers nothing, gives a reason and no traceback."""
    program = tmp_path / "program"
    if kind == "not-python":
        program.write_text("#!/bin/sh\necho no python here\nexit 5\n")
        program.chmod(0o755)
    error = probe(str(program), framework("fake").path).error
    assert ("cannot be started" if kind == "missing" else "no python here (exit code 5)") in error


@pytest.mark.parametrize(("keeps", "compiles_before"), [(True, False), (False, False), (False, True)])
def test_a_probe_tells_where_each_process_compiles_what_it_imports(
    tmp_path: Path,
    *,
    keeps: bool,
    compiles_before: bool,  # as pip does, and uv does not
) -> None:
    """Of sources that Python keeps nothing compiled of, as many containers have it, an import takes seconds more."""
    (tmp_path / "frame.py").touch()
    if compiles_before:
        py_compile.compile(str(tmp_path / "frame.py"))
    code = "import builtins, frame; from bakeoff.trial.probe import is_compiled; print(*map(is_compiled, {}))"
    paths = os.pathsep.join([str(tmp_path), str(Path(bakeoff.__file__).parents[1])])
    variables = os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "" if keeps else "1"}
    asked = ["frame", "builtins", "never_imported"]
    said = subprocess.run([sys.executable, "-c", code.format(asked)], capture_output=True, env=variables, check=True)
    assert said.stdout.split() == [str(keeps or compiles_before).encode(), b"True", b"True"]

"""Jittor's operators in tests: in a folder of their own, and compiled with headers that g++ has read once."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import subprocess
from pathlib import Path

import filelock
import jittor_quick
import platformdirs
import pytest

import bakeoff
from bakeoff.environments.declared import frameworks
from bakeoff.environments.interpreters import resolve
from bakeoff.environments.options import variables_of
from bakeoff.spec.contender import Contender
from bakeoff.spec.errors import UnavailableError

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def operators(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every process of a test of Jittor compile its operators so; what they compute is the same.

    They are flags of g++, so Jittor would compile the operators of its user anew: those of tests lie elsewhere.
    """
    if re.search(r"\bjittor\b", request.node.name):
        for name, value in variables().items():
            monkeypatch.setenv(name, value)


@functools.cache
def variables() -> dict[str, str]:
    """Return what a process of Jittor is started with; the header is made by the first process that asks for it.

    Nothing where there is no Jittor: a test that needs it says so itself.
    """
    declared = frameworks()["jittor"]
    try:
        interpreter = resolve(Contender(framework="jittor", label="jittor"), declared)
    except UnavailableError:
        return {}
    name = hashlib.sha256(interpreter.encode()).hexdigest()[:12]
    folder = platformdirs.user_cache_path("bakeoff-tests") / f"jittor-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        name: value.format(threads=1, cache=folder / "operators")
        for name, value in variables_of(declared.info, {}).items()
    }
    own = {one.name: one.value.format(cache=folder / "operators") for one in declared.info.cache.variables}
    with filelock.FileLock(folder / "lock"):
        done = subprocess.run(
            [interpreter, str(HERE / "jittor_header.py"), str(folder)],
            check=False,
            capture_output=True,
            text=True,
            env=os.environ | settings | {"PYTHONPATH": str(Path(bakeoff.__file__).parents[1])},
        )
    assert done.returncode == 0, done.stderr[-4000:]
    header = done.stdout.splitlines()[-1]
    quick = {
        jittor_quick.FOLDER: str(folder / "quick"),
        jittor_quick.COMPILER: f"/bin/sh {HERE / 'jittor_compiler.sh'}",
        jittor_quick.PYTHON: interpreter,
    }
    return own | quick | ({"kernel_flags": f" -include {header} "} if header else {})

"""No command line ends in a traceback: drawn ones, run in this process up to the first that they would start."""

from __future__ import annotations

import io
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_lines import command_lines
from tests.drawn import is_all

from bakeoff import data
from bakeoff.cli import FAILED, INTERRUPTED, MISUSED, main
from bakeoff.cli.slower import UNTOLD
from bakeoff.measure import noise
from bakeoff.race import conductor
from bakeoff.spec.trial import Inputs

LONGEST_S = 20.0
"""Of one command line on a loaded machine; without load none takes a second."""

LINES, SEED = "BAKEOFF_FUZZ_LINES", "BAKEOFF_FUZZ_SEED"
"""Variables by which so many lines of another seed are tried beside those of every run."""

UNSAFE = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), "\u202e"} - {"\n"}
"""What no terminal is to be sent: control characters, and one that turns the direction of text."""

MODEL = """
from bakeoff.spec.workload import Size, Workload
WORKLOAD = Workload(
    name={name!r}, summary="s", source="mine", scenarios=("infer",),
    sizes={{"full": Size(batch_size=2, input_shape={shape}, classes=2)}},
)
def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(size.input_shape[-1], 2)

        def forward(self, x):
            return self.head(x)

    return Model()
"""

FILES = {
    "mine.py": MODEL.format(name="mine", shape="(4,)"),
    "sized.py": MODEL.format(name="sized", shape="(10 ** 9, 10 ** 9)"),
    "exit.py": "import sys\nsys.exit(0)\n",
    "odd.py": "class Odd(BaseException):\n    __str__ = None\nraise Odd\n",
    "study.toml": "name = 3\n",
    "notes.html": "<p>my own notes</p>\n",
    "taken": "",
}


class Stopped(BaseException):
    """A process would be started now."""


def stop(*_: Any, **__: Any) -> Any:
    """Start nothing."""
    raise Stopped


@pytest.fixture
def here(home: Path, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with files and records to work in, from which nothing can be started or reached."""
    folder = tmp_path / "a" / "b" / "c"
    shutil.copytree(root / "docs" / "records", folder / "results")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "folder.py").mkdir()
    (home / "envs").mkdir(parents=True)
    (home / "envs" / "link").symlink_to(folder / "results")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(conductor, "probe", lambda _: noise.probe(0.001))
    monkeypatch.setattr(subprocess, "Popen", stop)
    monkeypatch.setattr(socket.socket, "connect", stop)
    # Megabytes that no process will read.
    monkeypatch.setattr(data, "prepare", lambda *_, **__: Inputs(source="none", batches=4, sha256="0"))
    return folder


def said(line: list[str]) -> tuple[int | None, str, float]:
    """Run a command line; return its exit code, None where it was stopped, what it wrote to stderr, and its time."""
    out, err, began_s = io.StringIO(), io.StringIO(), time.monotonic()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code: int | None = main(line)
        except Stopped:
            code = None
    return code, err.getvalue(), time.monotonic() - began_s


def asked_for() -> list[Any]:
    """Return the seed and the number of the lines that the variables ask for, as a case more."""
    count = int(os.environ.get(LINES, "0"))
    marks = [pytest.mark.slow, pytest.mark.timeout(600 + count)]
    return [pytest.param(int(os.environ.get(SEED, "3")), count, marks=marks)] if count else []


@pytest.mark.parametrize(
    ("seed", "count"),
    [
        (1, 200),
        pytest.param(2, 4800 if is_all() else 300, marks=[pytest.mark.slow, pytest.mark.timeout(600)]),
        *asked_for(),
    ],
)
def test_no_command_line_ends_in_a_traceback(
    here: Path, monkeypatch: pytest.MonkeyPatch, seed: int, count: int
) -> None:
    """Whatever is written, the answer is an exit code that is documented and a message that can be read."""
    left = {path: path.read_bytes() for path in (here / "results").rglob("*") if path.is_file()}
    ended: list[int | None] = []
    for line in command_lines(seed, count):
        monkeypatch.setattr(sys, "argv", ["bakeoff", *line])
        try:
            code, err, took_s = said(line)
        except Exception as error:
            shown = [word if len(word) < 80 else f"{word[:20]}... ({len(word)})" for word in line]
            raise AssertionError(shown) from error
        ended.append(code)
        assert code in {None, 0, FAILED, MISUSED, INTERRUPTED, UNTOLD}, line
        assert "Traceback" not in err, line
        assert not {*err} & UNSAFE, line
        assert took_s < LONGEST_S, line
        assert (here / "notes.html").read_text() == FILES["notes.html"] or "--force" in line
        (here / "notes.html").write_text(FILES["notes.html"])
    assert {path: path.read_bytes() for path in left} == left
    # The lines are worth their time: many get as far as starting something, and many are refused.
    assert ended.count(None) > count / 40
    assert ended.count(MISUSED) > count / 4

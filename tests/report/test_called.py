from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from bakeoff.cli.app import app, command
from bakeoff.report import called
from bakeoff.report.forms import terminal

SOURCE = Path(called.__file__).parents[2]


@pytest.fixture
def as_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have bakeoff called by a path with a space in it."""
    monkeypatch.setattr(called._Called, "name", "'my env/bin/bakeoff'")


def program(path: Path) -> Path:
    """Write a bakeoff that can be called."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\nimport sys\nfrom bakeoff.cli import main\nsys.exit(main())\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("told", "pasted"),
    [
        ("bakeoff run mlp-mnist torch --resume", "'my env/bin/bakeoff' run mlp-mnist torch --resume"),
        ("make one: `bakeoff env create torch`", "make one: `'my env/bin/bakeoff' env create torch`"),
        ("bakeoff report A; bakeoff --help", "'my env/bin/bakeoff' report A; 'my env/bin/bakeoff' --help"),
        ("this machine, or bakeoff, is not to be trusted", "this machine, or bakeoff, is not to be trusted"),
        ("bakeoff runs frameworks", "bakeoff runs frameworks"),
        ("/opt/bakeoff run", "/opt/bakeoff run"),
        ("python -m bakeoff-extra run", "python -m bakeoff-extra run"),
    ],
)
@pytest.mark.usefixtures("as_path")
def test_commands_begin_as_bakeoff_was_called(told: str, pasted: str) -> None:
    """Every command in a text becomes one that can be pasted; what only speaks of bakeoff stays."""
    assert called.pasteable(told) == pasted


def test_every_command_is_known() -> None:
    """Every command of the command line is told from a sentence about bakeoff."""
    assert set(command().commands) <= called.COMMANDS
    assert {one.name for one in app.registered_commands} <= called.COMMANDS


@pytest.mark.usefixtures("as_path")
def test_a_terminals_page_is_pasteable() -> None:
    """What a terminal says of a command begins as bakeoff was called."""
    stream = io.StringIO()
    terminal._say(Console(file=stream, width=80), "again    bakeoff run mlp-mnist", whole=True)
    assert stream.getvalue() == "again    'my env/bin/bakeoff' run mlp-mnist\n"


@pytest.mark.usefixtures("as_path")
def test_help_is_pasteable() -> None:
    """The commands that help texts propose begin as bakeoff was called, those of inner commands too."""
    parameter = command().commands["env"].commands["create"].params[0]
    assert parameter.help.startswith("From `'my env/bin/bakeoff' list frameworks`")


def test_how_bakeoff_is_called_here(tmp_path: Path) -> None:
    """Called by its name, by a path or by `python -m`, bakeoff tells exactly that, and it works when it is pasted."""
    path = program(tmp_path / "bin" / "bakeoff")
    link = tmp_path / "local" / "bakeoff"
    link.parent.mkdir()
    link.symlink_to(path)
    environment = {"HOME": str(tmp_path), "PYTHONPATH": str(SOURCE)}
    plain_path = f"{os.environ['PATH']}"
    for typed, folders in (
        ("bakeoff", f"{path.parent}:{plain_path}"),
        ("bakeoff", f"{link.parent}:{plain_path}"),
        ("bin/bakeoff", "/usr/bin:/bin"),
        ("./bin/bakeoff", "/usr/bin:/bin"),
        (str(path), "/usr/bin:/bin"),
        (f"{sys.executable} -m bakeoff", "/usr/bin:/bin"),
    ):
        told = subprocess.run(
            ["/bin/sh", "-c", f"{typed} report"],
            cwd=tmp_path,
            env=environment | {"PATH": folders},
            capture_output=True,
            text=True,
            check=False,
        )
        assert f"({typed} run mlp-mnist)" in told.stderr, (typed, told.stderr)


def test_another_programs_call_is_plain(tmp_path: Path) -> None:
    """In a notebook or a script of the user's, where nobody typed bakeoff, commands keep their plain name."""
    script = tmp_path / "own.py"
    script.write_text("from bakeoff.cli import main\nmain(['report'])\n")
    told = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "(bakeoff run mlp-mnist)" in told.stderr

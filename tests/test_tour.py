"""The tour of docs/tour.md, made as a new user makes it: every command, in its order, in one folder."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from bakeoff.environments import installed

ROOT = Path(__file__).parents[1]
TOUR = ROOT / "docs" / "tour.md"
FRAMEWORKS = ("torch", "jax")

COMMAND_S = 150.0
"""No command of the tour takes half as long, on a machine with little else to do."""

SHORTER = ("--budget 20s", "--budget 8s")
"""A time budget of the page, and that of the tests: what is printed has the same lines after fewer rounds."""


@dataclass(frozen=True)
class Step:
    """A command of the tour, and what the page says that it prints."""

    command: str
    printed: tuple[str, ...]


def steps(text: str) -> list[Step]:
    """Return the commands of a page's `console` blocks, which stand behind a dollar sign, in their order."""
    found: list[Step] = []
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *printed = part.splitlines()
            found.append(Step(command, tuple(printed)))
    return found


def missing(printed: tuple[str, ...], said: str) -> list[str]:
    """Return the lines of the page that were not printed in their order; "..." stands for anything in a line."""
    lines = [re.sub(r" +", " ", line).strip() for line in said.splitlines()]
    absent = []
    for line in printed:
        pattern = ".*".join(map(re.escape, re.sub(r" +", " ", line).split("...")))
        found = next((index for index, each in enumerate(lines) if re.fullmatch(pattern, each)), None)
        if line == "...":
            continue
        if found is None:
            absent.append(line)
        else:
            lines = lines[found + 1 :]
    return absent


@pytest.fixture
def clone(tmp_path: Path, typed: Path) -> tuple[Path, dict[str, str]]:
    """Return a folder that holds what of a clone the tour needs, and a new user's variables, with the frameworks."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in ("docs", "examples"):
        (folder / name).symlink_to(ROOT / name)
    home = tmp_path / "home"
    (home / ".bakeoff" / "envs").mkdir(parents=True)
    for name in FRAMEWORKS:
        # Not the others: in a fresh home, Jittor compiles itself.
        (home / ".bakeoff" / "envs" / name).symlink_to(installed.home() / name)
    variables = {"HOME": str(home), "BAKEOFF_HOME": str(home / ".bakeoff"), "COLUMNS": "80", "LANG": "C.UTF-8"}
    return folder, variables | {"PATH": f"{typed}:{os.environ['PATH']}"}


def typed_in(script: str, folder: Path, variables: dict[str, str]) -> tuple[int, str]:
    """Run a line as a shell does; return its exit code and all that was printed. Nothing that it started stays."""
    began = time.monotonic()
    with subprocess.Popen(
        ["/bin/bash", "-c", script],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as shell:
        try:
            said, _ = shell.communicate(timeout=COMMAND_S)
        except BaseException:
            os.killpg(shell.pid, signal.SIGTERM)
            raise
    sys.stdout.write(f"{time.monotonic() - began:5.1f} s  {script.splitlines()[0]}\n")
    return shell.returncode, said


@pytest.mark.slow
@pytest.mark.by_turns
@pytest.mark.timeout(480)
def test_the_tour(clone: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    """Every command of the tour ends well and prints what the page shows, in a folder that is new.

    The first race has less time than on the page.
    """
    if not all(installed.find(name) for name in FRAMEWORKS):
        pytest.skip(f"needs the environments of {' and '.join(FRAMEWORKS)}: bakeoff env create {' '.join(FRAMEWORKS)}")
    folder, variables = clone
    place = tmp_path / "place"
    for step in steps(TOUR.read_text(encoding="utf-8")):
        # The next command begins in the folder where this one has ended.
        script = f"{step.command.replace(*SHORTER)}\nended=$?; pwd > '{place}'; exit $ended"
        code, said = typed_in(script, folder, variables)
        assert code == 0, f"$ {step.command}\n{said}"
        absent = missing(step.printed, said)
        assert not absent, f"$ {step.command}\n{said}\nlacks {absent}"
        folder = Path(place.read_text().strip())
    assert folder == clone[0]


def test_the_tour_shows_the_first_minutes() -> None:
    """The tour has every command that a new user needs first, and none of them twice."""
    commands = [step.command for step in steps(TOUR.read_text(encoding="utf-8"))]
    assert len(commands) == len(set(commands))
    for wanted in ("doctor", "list", "run", "report", "history", "diff"):
        assert any(f"bakeoff {wanted}" in command for command in commands), wanted
    for flag in ("--budget", "--resume", "--json", "--html", "--fail-if-slower", "--dry-run", "my_model.py", "INT"):
        assert any(flag in command for command in commands), flag


def test_a_line_that_was_not_printed_is_missed() -> None:
    """A line of the page that is not printed, or not in that order, is found; dots stand for anything."""
    said = "first   line of 3\nsecond\nthird\n"
    assert missing(("first line of ...", "...", "third"), said) == []
    assert missing(("fourth",), said) == ["fourth"]
    assert missing(("third", "second"), said) == ["second"]
    assert missing(("first line",), said) == ["first line"]

"""README.md and docs/: short where they begin, with commands that bakeoff has, and make says the same."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from bakeoff.cli.app import command

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted(path for path in (ROOT / "docs").glob("*.md") if path.name != "cli.md")]
MAKE = shutil.which("make") or ""
SCREENS = 110
"""Lines of README.md at most: what a newcomer scrolls through."""


def commands(page: Path) -> list[str]:
    """Return every command of bakeoff in a page's code blocks, without its comment."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = [
        line.removeprefix("$ ")
        for kind, block in blocks
        for line in block.splitlines()
        if kind != "console" or line.startswith("$ ")
    ]
    parts = [part.strip() for line in lines for part in re.split(r" # |;|&&| > | \| ", line)]
    return [re.sub(r"^timeout .*?(?=bakeoff )", "", part) for part in parts if re.match(r"(timeout .*)?bakeoff ", part)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_in_the_documents_is_one(page: Path) -> None:
    """Every command in a page's code blocks is one of bakeoff's, with options that it has."""
    for line in commands(page):
        one, words = command(), shlex.split(line)[1:]
        while getattr(one, "commands", None) and words and not words[0].startswith("-"):
            assert words[0] in one.commands, line
            one = one.commands[words.pop(0)]
        if "--version" not in words:
            one.make_context("bakeoff", words)


def test_the_documents_have_commands() -> None:
    """The commands of the pages are found: README.md has the four that it promises, and a few to set up."""
    told = [line.split()[1] for line in commands(README)]
    assert set(told) >= {"run", "report", "doctor", "env", "completion"}
    assert sum(len(commands(page)) for page in PAGES) > 40


def test_the_readme_is_short() -> None:
    """README.md fits a few screens, begins with a picture, and tells how bakeoff is called before it is called.

    A second picture is the one of an explanation.
    """
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= SCREENS
    assert text.count("![") == 2
    assert "docs/records/explained/" in text.partition("## Why")[2].partition("## ")[0].partition("[![")[2]
    assert text.index("![") < text.index("## Install") < text.index("bakeoff run")
    for way in ("pipx install .", "uv tool install .", ". .venv/bin/activate"):
        assert way in text.partition("## Run")[0], way


@pytest.mark.skipif(not MAKE, reason="make is not installed here")
def test_make_tells_how_to_call_bakeoff(tmp_path: Path) -> None:
    """`make setup` and `make demo` end with what to type from then on, which is what README.md says."""
    # What is said to be made already is not made: only the last lines are run.
    ready = ["-o", ".venv/.ready", "-o", "environments"]
    setup = subprocess.run([MAKE, "-s", *ready, "setup"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ". .venv/bin/activate" in setup.stdout
    assert setup.stdout.rstrip().endswith(" .venv/bin/bakeoff")
    demo = subprocess.run([MAKE, "-n", *ready, "demo"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ". .venv/bin/activate" in demo.stdout.partition("bakeoff run mlp-mnist")[2]

"""The command line, run in this process: quick, and with the same code at its edge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from bakeoff.cli import main
from bakeoff.measure import noise
from bakeoff.race import conductor


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Cli = Callable[..., Said]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Give a function that runs `bakeoff ...` in an empty folder, with no environment made."""
    assert not home.exists()
    monkeypatch.chdir(tmp_path)
    # How calm the machine is takes 3 s to see, and is not what these tests are about.
    monkeypatch.setattr(conductor, "probe", lambda _: noise.probe(0.05))

    def run(*arguments: str) -> Said:
        code = main(arguments)
        return Said(code, *capsys.readouterr())

    return run

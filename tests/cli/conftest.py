"""The command line, run in this process: quick, and with the same code at its edge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.race.conftest import NO_PROBE_S
from tests.race.inline import InlineWorker

from bakeoff.cli import main
from bakeoff.measure import noise
from bakeoff.race import conductor
from bakeoff.report.forms import drawings
from bakeoff.study.every import EveryRun
from bakeoff.study.run import run_study

TRYING = (conductor.run, conductor.verify, conductor.check_timers, conductor.search_batches)
"""What starts trials."""

BLANK = '<svg class="marks" width="340" height="90" viewBox="0 0 340 90"></svg>'


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


@pytest.fixture(autouse=True)
def blank_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have charts be blank in this process: they take seconds to draw, and what they show is tested in tests/report.

    Commands in processes of their own draw them: test_run.py and test_sweep.py look at their files.
    """
    monkeypatch.setattr(drawings, "_rendered", lambda _: BLANK)


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have trials run in this process, in virtual time: for what is printed, not for how processes are started.

    Races from the command line in processes of their own: test_run.py, test_sweep.py, test_alone.py and test_doctor.py.
    """
    for function in (*TRYING, run_study, EveryRun.run):
        monkeypatch.setitem(function.__kwdefaults__, "launch", InlineWorker)
        if "probe_s" in function.__kwdefaults__:
            monkeypatch.setitem(function.__kwdefaults__, "probe_s", NO_PROBE_S)

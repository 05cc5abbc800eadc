"""Whole comparisons with the scripted framework: in this process and in virtual time, or in real processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import psutil
import pytest
from tests.race.inline import InlineWorker

from bakeoff.judge.outcome import Outcome
from bakeoff.measure.floating_point import handle_denormals
from bakeoff.measure.meminfo import oom_kills
from bakeoff.race import conductor
from bakeoff.race.progress import Event, Observer, TrialStarted, silent
from bakeoff.race.workers.process import KILLED
from bakeoff.race.workers.worker import Launcher
from bakeoff.spec.request import Request

NO_PROBE_S = 0.001

SELF_KILLED = KILLED["" if oom_kills() is None else "other"]
"""The reason of a trial whose process has killed itself, as far as the kernel tells."""


class Race(Protocol):
    """A whole comparison."""

    def __call__(
        self, *contenders: str, launch: Launcher = InlineWorker, observe: Observer = silent, **asked: Any
    ) -> Outcome:
        """Run it; `asked` are fields of Request."""


@pytest.fixture
def request_of(tmp_path: Path) -> Any:
    """Give a function that makes a small request, with results in a folder of the test's own."""

    def make(*contenders: str, **asked: Any) -> Request:
        # What was tested on this machine before is remembered outside of the test: those that need it ask for it.
        asked.setdefault("self_test", False)
        fields = {"workload": "mlp-mnist", "size": "reduced", "data": "synthetic"} | asked
        return Request(contenders=contenders, **{"results": str(tmp_path / "results")} | fields)

    return make


@pytest.fixture
def race(request_of: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Race]:
    """Give a function that runs a whole comparison, by default in this process; its noise is the same every time.

    What a contender does with denormal numbers is set in this process, too, and undone.
    """
    seeds = count(7)
    drawn = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed=None: drawn(next(seeds) if seed is None else seed))

    def run(*contenders: str, launch: Launcher = InlineWorker, observe: Observer = silent, **asked: Any) -> Outcome:
        return conductor.run(request_of(*contenders, **asked), observe, launch=launch, probe_s=NO_PROBE_S)

    yield run
    handle_denormals(flush=False)


@pytest.fixture
def started(race: Race) -> Any:
    """Give a function that races; it returns which trials were run, and the comparison's folder."""

    def run(*contenders: str, **asked: Any) -> tuple[list[str], Path]:
        names: list[str] = []

        def observe(event: Event) -> None:
            if isinstance(event, TrialStarted):
                names.append(event.name)

        outcome = race(*(contenders or ("fake",)), observe=observe, **({"max_rounds": 1} | asked))
        assert [one.status for one in outcome.contenders] == ["ranked"] * len(outcome.contenders)
        return names, Path(outcome.path)

    return run


@pytest.fixture(scope="session")
def running_in() -> Callable[[Path], list[str]]:
    """Give a function that finds the processes, but for this one, whose working directory is a folder.

    Processes inherit it, whatever else they do: this is not how bakeoff itself finds them.
    """

    def find(folder: Path) -> list[str]:
        found = []
        for process in psutil.process_iter():
            try:
                is_there = process.pid != os.getpid() and process.cwd() == str(folder)
                if is_there and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(" ".join(process.cmdline()))
            except psutil.Error:
                continue
        return found

    return find

"""Studies of the scripted framework, in this process and in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import pytest
from tests.race.inline import InlineWorker

from bakeoff.judge.study import StudyOutcome
from bakeoff.race.progress import StudyObserver, silent
from bakeoff.spec.request import Request
from bakeoff.study.run import run_study
from bakeoff.study.sweep import Axis, sweep_of

NO_PROBE_S = 0.001


class Swept(Protocol):
    """A whole sweep."""

    def __call__(
        self, *contenders: str, observe: StudyObserver = silent, resume: bool = False, **asked: Any
    ) -> StudyOutcome:
        """Run it; `asked` are axes by name, and fields of Request."""


def request_of(*contenders: str, **asked: Any) -> Request:
    """Make a small request."""
    fields = {"size": "reduced", "data": "synthetic", "self_test": False} | asked
    return Request(workload="mlp-mnist", contenders=contenders, **fields)


@pytest.fixture
def swept(tmp_path: Path) -> Swept:
    """Give a function that runs a sweep over batch sizes, or over any axes, with results in a folder of the test's."""

    def race(*contenders: str, observe: StudyObserver = silent, resume: bool = False, **asked: Any) -> StudyOutcome:
        axes = asked.pop("axes", {"batch size": ("8", "16")})
        study = sweep_of(
            request_of(*contenders, **asked), [Axis(name=name, values=values) for name, values in axes.items()]
        )
        return run_study(
            study,
            observe,
            results=str(tmp_path / "results"),
            resume=resume,
            launch=InlineWorker,
            probe_s=NO_PROBE_S,
        )

    return race

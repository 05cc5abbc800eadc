"""Studies of the scripted framework, in this process and in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import msgspec
import pytest
from tests.race.inline import InlineWorker

from bakeoff.judge.study import StudyOutcome
from bakeoff.race.forecast import Forecast
from bakeoff.race.prepare import outlined
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


def forecast_of(request: Request, **changes: Any) -> Forecast:
    """Make what is said of a comparison of which nothing is known: 5 rounds, 1,000 s."""
    told = Forecast(
        comparison=outlined(request),
        stages=[],
        certificates_s=None,
        round_s=None,
        behind_s=None,
        sources=[],
        costs={},
        unknown=[],
        fewest_rounds=5,
        most_rounds=5,
        budget_rounds=None,
        low_s=1000.0,
        high_s=1000.0,
    )
    return msgspec.structs.replace(told, **changes)


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

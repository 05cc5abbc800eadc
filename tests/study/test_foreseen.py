"""What a study is said to take before it starts, from forecasts that are made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.study.conftest import forecast_of, request_of

from bakeoff.race.forecast import ContenderCost, Forecast
from bakeoff.race.stages import explain
from bakeoff.spec.request import Request
from bakeoff.spec.study import Study
from bakeoff.study import foreseen as module
from bakeoff.study.foreseen import Foreseen, ForeseenPoint, foreseen, together
from bakeoff.study.sweep import Axis, sweep_of

PAIR = ("fake", "fake:step_ms=2")
NOTHING: list[Any] = []


def cost(round_s: float) -> ContenderCost:
    """Give what a contender took: half of a round is steps, of half a second each."""
    return ContenderCost(
        certificates_s=20.0, round_s=round_s, steps_s=round_s / 2, behind_s=10.0, step_s=0.5, watts=None
    )


def known(request: Request, **changes: Any) -> Forecast:
    """Give a forecast by what both contenders took: rounds of 30 s and 10 s, 100 to 300 s in all."""
    costs = dict(zip(PAIR, (cost(30.0), cost(10.0)), strict=True))
    sums: dict[str, Any] = {"certificates_s": 40.0, "round_s": 40.0, "behind_s": 20.0, "low_s": 100.0, "high_s": 300.0}
    return forecast_of(request, **({"costs": costs, "most_rounds": 20} | sums | changes))


def study_of(*batches: str, **asked: Any) -> Study:
    """Give a study of both contenders with each of these batch sizes."""
    return sweep_of(request_of(*PAIR, **asked), [Axis(name="batch size", values=batches or ("8",))])


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a function that foresees a study by one forecast, and by one of other sizes."""

    def tell(study: Study, forecast: Forecast, counted: Forecast | None = None, **asked: Any) -> Foreseen:
        monkeypatch.setattr(module, "forecast", lambda *_: forecast)
        monkeypatch.setattr(module, "by_other_size", lambda *_: counted)
        return foreseen(study, Path(), before=NOTHING, **asked)

    return tell


def test_points_take_their_times_together() -> None:
    """Both ends are sums, and without a limit of one point there is none of all."""
    points = [
        ForeseenPoint(title="", basis="rough", low_s=low, high_s=high) for low, high in ((10.0, 20.0), (1.0, 2.0))
    ]
    both = Foreseen(study=study_of(), points=points)
    assert (both.low_s, both.high_s) == (11.0, 22.0)
    endless = msgspec.structs.replace(points[0], high_s=None)
    assert Foreseen(study=study_of(), points=[endless, points[1]]).high_s is None
    assert (together([]), together([1.0, None]), together([None, 1.0])) == (0.0, None, None)


def test_a_point_that_is_finished_is_counted_and_takes_nothing(told: Any) -> None:
    """Of three points the one in the middle is done."""
    study = study_of("8", "16", "32")
    found = told(study, known(study.points[0].request), finished=[False, True, False])
    assert [one.title for one in found.points] == [study.points[0].title, study.points[2].title]
    assert (found.finished, found.low_s, found.high_s) == (1, 200.0, 600.0)


@pytest.mark.parametrize(
    ("asked", "rounds"),
    [
        ({}, 0),
        ({"trace_rounds": 7}, 0),
        ({"traced": True}, explain.ROUNDS),
        ({"traced": True, "trace_rounds": 7}, 7),
    ],
)
def test_a_round_of_traces_takes_as_long_as_a_round(told: Any, asked: dict[str, Any], rounds: int) -> None:
    """Where traces are asked for, in their usual number of rounds or in another one."""
    study = study_of(**asked)
    forecast = known(study.points[0].request)
    (measured,) = told(study, forecast).points
    assert (measured.basis, measured.trace_rounds) == ("measured", rounds)
    assert (measured.low_s, measured.high_s) == (100.0 + rounds * 40.0, 300.0 + rounds * 40.0)
    unknown = known(study.points[0].request, unknown=list(PAIR), costs={}, low_s=5.0)
    (counted,) = told(study, unknown, forecast).points
    assert counted == msgspec.structs.replace(measured, basis="counted")
    (rough,) = told(study, unknown).points
    assert (rough.basis, rough.low_s, rough.high_s) == ("rough", 5.0, None)


def test_whole_runs_have_processes_of_their_own(told: Any) -> None:
    """Each of two repeats starts and builds for half a round, and takes 100 steps of half a second."""
    study = study_of(epochs=1, steps=100, repeats=2)
    (point,) = told(study, known(study.points[0].request, high_s=None)).points
    assert (point.low_s, point.high_s) == (100.0 + 2 * (15 + 50) + 2 * (5 + 50), None)


def test_what_is_known_of_one_contender_is_not_the_time_of_two(told: Any) -> None:
    """Where nothing like the other one was run here, the time is rough."""
    study = study_of()
    half = known(study.points[0].request, unknown=[PAIR[1]], costs={PAIR[0]: cost(30.0)})
    assert [one.basis for one in told(study, half).points] == ["rough"]


def test_what_cannot_be_had_takes_no_time(told: Any) -> None:
    """A framework that is not here has its problem told, and adds nothing to either end."""
    study = study_of()
    lacking = msgspec.structs.replace(
        study,
        points=[
            msgspec.structs.replace(one, request=msgspec.structs.replace(one.request, contenders=("not-here", "fake")))
            for one in study.points
        ],
    )
    (point,) = told(lacking, known(study.points[0].request)).points
    assert "not-here" in point.problem
    assert (point.low_s, point.high_s, point.forecast) == (0.0, 0.0, None)


def test_results_are_looked_through_once_for_several_studies(told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found of earlier comparisons is taken as it is; a folder of results is read where nothing was."""
    study = study_of()
    looked: list[Path] = []

    def look(results: Path) -> list[Any]:
        looked.append(results)
        return []

    monkeypatch.setattr(module, "earlier", look)
    told(study, known(study.points[0].request))
    assert looked == []
    foreseen(study, Path("results"))
    assert looked == [Path("results")]

"""How long a study takes here, before it starts: by what was measured on this machine, else by what it declares."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from bakeoff.judge.epochs import length_of
from bakeoff.race.forecast import Forecast, earlier, forecast
from bakeoff.race.other_size import by_other_size
from bakeoff.race.prepare import outlined
from bakeoff.race.stages import explain
from bakeoff.spec.errors import BakeoffError
from bakeoff.spec.study import Study
from bakeoff.study.reproduction import processor_contenders

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bakeoff.race.forecast import ContenderCost, Earlier

Basis = Literal["measured", "declared", "counted", "rough"]
"""What a time is known from.

measured  what the same contenders took in comparisons of the same work on this machine
declared  the study's own `minutes`, for two calm cores, shared equally by all contenders that race in it there; those
          that cannot race here take none of them
counted   what they took with other sizes of the same model, steps in proportion to their counted operations
rough     none of these: about what a small network takes, and more for a large one
"""

MINUTE_S = 60.0


class ForeseenPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison of a study, before it is run."""

    title: str
    basis: Basis
    low_s: float
    high_s: float | None
    """None: no limit is known."""
    forecast: Forecast | None = None
    """None where the comparison cannot be had here."""
    trace_rounds: int = 0
    """Rounds of traces behind the race; each takes about as long as a round of it."""
    problem: str = ""
    """Why it cannot be had."""


class Foreseen(msgspec.Struct, frozen=True, kw_only=True):
    """A study, before it is run."""

    study: Study
    points: list[ForeseenPoint]
    """Those that are to be run."""
    finished: int = 0
    """How many are finished already."""

    @property
    def low_s(self) -> float:
        """Return the time that it takes at least."""
        return sum(one.low_s for one in self.points)

    @property
    def high_s(self) -> float | None:
        """Return the time that it takes at most; None: no limit is known."""
        return together(one.high_s for one in self.points)


def foreseen(study: Study, results: Path, *, finished: Sequence[bool] = (), before: Earlier | None = None) -> Foreseen:
    """Return what a study would take, without the points that are finished; nothing is started or written.

    `before` is what lies below the results directory, where several studies are foreseen.
    """
    before = earlier(results) if before is None else before
    done = finished or [False for _ in study.points]
    points = [_foreseen(study, index, before) for index, is_done in enumerate(done) if not is_done]
    return Foreseen(study=study, points=points, finished=sum(done))


def _foreseen(study: Study, index: int, before: Earlier) -> ForeseenPoint:
    """Return what one comparison would take."""
    point = study.points[index]
    try:
        comparison = outlined(point.request)
    except BakeoffError as error:
        return ForeseenPoint(title=point.title, basis="rough", low_s=0.0, high_s=0.0, problem=str(error))
    told = forecast(comparison, Path(), before)
    trace_rounds = (point.request.trace_rounds or explain.ROUNDS) if point.request.traced else 0
    if not told.unknown:
        return _by_costs(point.title, "measured", told, trace_rounds)
    here = study.reproduces
    if here is not None and here.scaled:
        share_s = here.published.minutes * MINUTE_S * len(told.labels) / max(1, processor_contenders(here.published))
        return ForeseenPoint(title=point.title, basis="declared", low_s=share_s, high_s=share_s, forecast=told)
    counted = by_other_size(told, before)
    if counted is not None:
        return _by_costs(point.title, "counted", counted, trace_rounds)
    return ForeseenPoint(title=point.title, basis="rough", low_s=told.low_s, high_s=None, forecast=told)


def _by_costs(title: str, basis: Basis, told: Forecast, trace_rounds: int) -> ForeseenPoint:
    """Return what a comparison would take whose contenders' times are known, with its whole runs and its traces."""
    also_s = sum(whole_runs_s(told, cost) + trace_rounds * cost.round_s for cost in told.costs.values())
    return ForeseenPoint(
        title=title,
        basis=basis,
        low_s=told.low_s + also_s,
        high_s=None if told.high_s is None else told.high_s + also_s,
        forecast=told,
        trace_rounds=trace_rounds,
    )


def whole_runs_s(told: Forecast, cost: ContenderCost) -> float:
    """Return the time of a contender's whole runs, each in a process of its own; 0 where none are asked for."""
    length = length_of(told.comparison)
    if length is None:
        return 0.0
    fixed_s = cost.round_s - cost.steps_s
    return told.comparison.procedure.repeats * (fixed_s + length.steps * cost.step_s)


def together(times_s: Iterable[float | None]) -> float | None:
    """Return the sum of times; None where one is not known."""
    total_s = 0.0
    for one_s in times_s:
        if one_s is None:
            return None
        total_s += one_s
    return total_s

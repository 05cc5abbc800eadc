"""How long a run of n steps takes from a cold start: start-up and compilation, then step after step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from bakeoff.report.standings import kind
from bakeoff.report.units import rounded
from bakeoff.spec.verdict import Interval, Verdict, between
from bakeoff.stats.differences import break_even

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.judge.outcome import ContenderOutcome

SHORTEST_AXIS = 1000
"""Steps that the axis shows at least: a small training run."""
LONGEST_AXIS = 10_000_000
"""Steps beyond which no break-even is drawn: weeks at 100 ms a step."""

START_RESOLUTION = 1.1
"""Starts closer than this ratio count as equally fast: they are medians over rounds that no interval stands behind."""


class ColdRun(msgspec.Struct, frozen=True, kw_only=True):
    """One contender's runs, of any length."""

    label: str
    overhead_s: float
    """What a run costs beyond its steps: import, build, and what the first step takes longer than another."""
    step: Interval

    def seconds(self, steps: float, step_s: float | None = None) -> float:
        """Return the time of a run, by the estimate or by a step time given."""
        return self.overhead_s + steps * (self.step.estimate if step_s is None else step_s)


def run_of(contender: ContenderOutcome) -> ColdRun | None:
    """Return a contender's runs; None where a part of the start or the step time is not known."""
    parts = (contender.import_s, contender.build_s, contender.first_step_s)
    known = [part for part in parts if part is not None]
    if contender.status != "ranked" or contender.step_s is None or len(known) < len(parts):
        return None
    overhead_s = sum(known) - contender.step_s.estimate
    return ColdRun(label=contender.label, overhead_s=overhead_s, step=contender.step_s)


def runs_of(contenders: Iterable[ContenderOutcome]) -> list[ColdRun]:
    """Return the runs of those whose start is known."""
    return [run for contender in contenders if (run := run_of(contender))]


class Crossing(msgspec.Struct, frozen=True, kw_only=True):
    """Where a contender that starts later has caught up with one that starts earlier, in a pair that is decided."""

    early: str
    late: str
    steps: int
    seconds: float


def crossings(runs: list[ColdRun], verdicts: list[Verdict]) -> list[Crossing]:
    """Return every break-even of a decided pair, the earliest first."""
    pairs = [(early, late) for early in runs for late in runs if starts_earlier(early, late)]
    found = []
    for early, late in pairs:
        verdict = between(verdicts, early.label, late.label)
        steps: int | None = break_even(early.overhead_s, early.step.estimate, late.overhead_s, late.step.estimate)
        if verdict is not None and kind(verdict) == "slower" and steps is not None:
            found.append(Crossing(early=early.label, late=late.label, steps=steps, seconds=late.seconds(steps)))
    return sorted(found, key=lambda crossing: crossing.steps)


def longest(runs: list[ColdRun], verdicts: list[Verdict], epoch: int | None) -> int:
    """Return the last step of the axis: a power of ten beyond an epoch and, where it can be, every break-even."""
    reach = max([SHORTEST_AXIS, epoch or 1, *(3 * crossing.steps for crossing in crossings(runs, verdicts))])
    return min(int(10 ** math.ceil(math.log10(reach))), LONGEST_AXIS)


def starts_earlier(early: ColdRun, late: ColdRun) -> bool:
    """Return whether one has its first step done clearly before the other."""
    return late.seconds(1) > START_RESOLUTION * early.seconds(1)


def steps_text(steps: int) -> str:
    """Return a number of steps with two significant digits at most, as start-up times carry no more."""
    return rounded(steps) if steps >= 10 else f"{steps}"  # noqa: PLR2004 (fewer than two digits)

"""How long a run of n steps takes from a cold start: start-up and compilation, then step after step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from bakeoff.report.pairs import between, kind
from bakeoff.report.units import duration, listed, rounded
from bakeoff.spec.verdict import Interval, Verdict
from bakeoff.stats.differences import break_even

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome

SHORTEST_AXIS = 1000
"""Steps that the axis shows at least: a small training run."""
LONGEST_AXIS = 10_000_000
"""Steps beyond which no break-even is drawn: weeks at 100 ms a step."""

START_RESOLUTION = 1.1
"""Starts closer than this ratio count as equally fast: they are medians over rounds that no interval stands behind."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One contender's runs, of any length."""

    label: str
    overhead_s: float
    """What a run costs beyond its steps: import, build, and what the first step takes longer than another."""
    step: Interval

    def seconds(self, steps: float, step_s: float | None = None) -> float:
        """Give the time of a run, by the estimate or by a step time given."""
        return self.overhead_s + steps * (self.step.estimate if step_s is None else step_s)


def run_of(contender: ContenderOutcome) -> Run | None:
    """Give a contender's runs; None where a part of the start or the step time is not known."""
    parts = (contender.import_s, contender.build_s, contender.first_step_s)
    known = [part for part in parts if part is not None]
    if contender.status != "ranked" or contender.step_s is None or len(known) < len(parts):
        return None
    overhead_s = sum(known) - contender.step_s.estimate
    return Run(label=contender.label, overhead_s=overhead_s, step=contender.step_s)


class Crossing(msgspec.Struct, frozen=True, kw_only=True):
    """Where a contender that starts later has caught up with one that starts earlier, in a pair that is decided."""

    early: str
    late: str
    steps: int
    seconds: float


def crossings(runs: list[Run], verdicts: list[Verdict]) -> list[Crossing]:
    """Give every break-even of a decided pair, the earliest first."""
    pairs = [(early, late) for early in runs for late in runs if _starts_earlier(early, late)]
    found = []
    for early, late in pairs:
        verdict = between(verdicts, early.label, late.label)
        steps: int | None = break_even(early.overhead_s, early.step.estimate, late.overhead_s, late.step.estimate)
        if verdict is not None and kind(verdict) == "slower" and steps is not None:
            found.append(Crossing(early=early.label, late=late.label, steps=steps, seconds=late.seconds(steps)))
    return sorted(found, key=lambda crossing: crossing.steps)


def longest(runs: list[Run], verdicts: list[Verdict], epoch: int | None) -> int:
    """Give the last step of the axis: a power of ten beyond an epoch and, where it can be, beyond every break-even."""
    reach = max([SHORTEST_AXIS, epoch or 1, *(3 * crossing.steps for crossing in crossings(runs, verdicts))])
    return min(int(10 ** math.ceil(math.log10(reach))), LONGEST_AXIS)


def short_runs(runs: list[Run], verdicts: list[Verdict]) -> str:
    """Say who is ahead in short runs, and until when; empty where there are no two to compare."""
    if len(runs) < 2:  # noqa: PLR2004 (two make a comparison)
        return ""
    first = min(runs, key=lambda run: run.seconds(1))
    beside = [run.label for run in runs if not _starts_earlier(first, run)]
    if len(beside) > 1:
        return f"Short runs: {listed(beside)} start about equally fast; first step after {duration(first.seconds(1))}."
    ahead = f"Short runs: {first.label} starts fastest (first step after {duration(first.seconds(1))})"
    passed = next((crossing for crossing in crossings(runs, verdicts) if crossing.early == first.label), None)
    if passed is not None:
        return f"{ahead} and is ahead until about step {steps_text(passed.steps)}, where {passed.late} catches up."
    others = [between(verdicts, run.label, first.label) for run in runs if run is not first]
    if all(verdict is not None and kind(verdict) == "slower" for verdict in others):
        return f"{ahead} and stays ahead."
    return f"{ahead}, and no other contender is shown to catch up."


def _starts_earlier(early: Run, late: Run) -> bool:
    """Tell whether one has its first step done clearly before the other."""
    return late.seconds(1) > START_RESOLUTION * early.seconds(1)


def steps_text(steps: int) -> str:
    """Give a number of steps with two significant digits at most, as start-up times carry no more."""
    return rounded(steps) if steps >= 10 else f"{steps}"  # noqa: PLR2004 (fewer than two digits)

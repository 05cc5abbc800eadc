"""The points, lines and bands of the three pictures, as plain rows: what is drawn, before how."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bakeoff.report.coldruns import ColdRun, Crossing, crossings, longest, runs_of
from bakeoff.report.pairs import kind, ratio_text, slower_first
from bakeoff.report.steps import ranked, shown_interval, step_parts, step_unit

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.report.pictures import Mark

BLOCK, FLAGGED, BEYOND = "block", "block beside foreign load", "block beyond the scale"
_HEADROOM = 1.5
"""Blocks longer than this times the longest interval's end are drawn at the edge: they would squeeze all others."""
_LOG_FROM = 20.0
"""From this ratio of the longest step time to the shortest the axis is logarithmic: else the shortest stood at 0."""
_LINE_POINTS = 80
"""Enough for a smooth line on a logarithmic axis."""


def step_times(outcome: Outcome) -> list[Mark]:
    """Return one dot for each contender; low and high only where there is an interval."""
    unit = step_unit(outcome)
    scale = unit.per_base
    points = []
    for one in ranked(outcome):
        if one.median_step_s is None:
            continue
        point: Mark = {"contender": one.label, "step": one.median_step_s * scale, "text": step_parts(one, unit)[0]}
        if (interval := shown_interval(one)) is not None:
            point |= {"low": interval.low * scale, "high": interval.high * scale}
        points.append(point)
    return points


def step_domain(outcome: Outcome) -> tuple[float, float, bool]:
    """Return the axis' ends, in the unit of step times, and whether it is logarithmic."""
    points = step_times(outcome)
    ends = [_end(point, "high", "step") for point in points]
    blocks = [block.step_s * step_unit(outcome).per_base for one in ranked(outcome) for block in one.blocks]
    top = min(max([*blocks, *ends], default=1.0), _HEADROOM * max(ends, default=1.0))
    shortest = min((_end(point, "step", "step") for point in points), default=top)
    if top > _LOG_FROM * shortest:
        least = min([*blocks, shortest])
        return least / 1.2, top * 1.2, True
    return 0.0, top * 1.04, False


def _end(point: Mark, name: str, otherwise: str) -> float:
    """Return an end of an interval; where there is none, its estimate."""
    return float(point[name] if name in point else point[otherwise])


def blocks(outcome: Outcome) -> list[Mark]:
    """Return every block of every ranked contender; one beyond the scale stands at its end."""
    top = step_domain(outcome)[1]
    points = []
    for one in ranked(outcome):
        for block in one.blocks:
            step = block.step_s * step_unit(outcome).per_base
            seen = BEYOND if step > top else FLAGGED if block.flagged else BLOCK
            points.append({"contender": one.label, "step": min(step, top), "kind": seen})
    return points


def lines(outcome: Outcome) -> list[Mark]:
    """Return the time of runs of every length, with its band, for each contender whose start is known."""
    runs = runs_of(ranked(outcome))
    last = longest(runs, outcome.verdicts, epoch_steps(outcome))
    lengths = [10 ** (math.log10(last) * index / (_LINE_POINTS - 1)) for index in range(_LINE_POINTS)]
    return [_line_point(run, steps) for run in runs for steps in lengths]


def _line_point(run: ColdRun, steps: float) -> Mark:
    """Return one point of a line."""
    return {
        "contender": run.label,
        "steps": steps,
        "seconds": run.seconds(steps),
        "low": run.seconds(steps, run.step.low),
        "high": run.seconds(steps, run.step.high),
    }


def overtakings(outcome: Outcome) -> list[Crossing]:
    """Return the break-evens at which the lead changes, which are the ones to draw: no third is ahead there."""
    runs = runs_of(ranked(outcome))
    return [
        crossing
        for crossing in crossings(runs, outcome.verdicts)
        if all(run.seconds(crossing.steps) >= 0.99 * crossing.seconds for run in runs)
    ]


def epoch_steps(outcome: Outcome) -> int | None:
    """Return the steps of one pass over the data; None for data that is made up."""
    data = outcome.comparison.data
    return data.batches if data.has_test else None


def ratios(outcome: Outcome) -> list[Mark]:
    """Return one row for each pair, turned so that its ratio is at least 1."""
    place = {one.label: index for index, one in enumerate(ranked(outcome))}
    pairs = [slower_first(verdict) for verdict in outcome.verdicts if verdict.ratio is not None]
    points = []
    for pair in sorted(pairs, key=lambda pair: (place.get(pair.first, 0), place.get(pair.second, 0))):
        point: Mark = {
            "pair": f"{pair.first} / {pair.second}",
            "ratio": pair.ratio,
            "verdict": kind(pair),
            "text": f"{ratio_text(pair, outcome.comparison.procedure.margin)}  {kind(pair)}",
        }
        if pair.low is not None and pair.high is not None:
            point |= {"low": pair.low, "high": pair.high}
        points.append(point)
    return points


def ratio_domain(outcome: Outcome) -> tuple[float, float]:
    """Return the ends of the ratios' axis: the band of equality and every interval, with a little room."""
    points, margin = ratios(outcome), 1.0 + outcome.comparison.procedure.margin
    low = min([1.0 / margin, *(_end(point, "low", "ratio") for point in points)])
    high = max([margin, *(_end(point, "high", "ratio") for point in points)])
    return low / 1.02, high * 1.02

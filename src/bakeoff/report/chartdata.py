"""The points, lines and bands of the three pictures, as plain rows: what is drawn, before how."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from bakeoff.report.pairs import FEWEST_ROUNDS, kind, ratio_text, slower_first
from bakeoff.report.runs import Crossing, Run, crossings, longest

if TYPE_CHECKING:
    from bakeoff.report.model import Report

Point = dict[str, Any]

BLOCK, FLAGGED, BEYOND = "block", "block beside foreign load", "block beyond the scale"
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [7, 3], [2, 2], [10, 3, 2, 3], [4, 4], [1, 3])
"""The second, third, ... contender of one framework has the next shape and the next dash, as its colour is the same."""

_HEADROOM = 1.5
"""Blocks longer than this times the longest interval's end are drawn at the edge: they would squeeze all others."""
_LOG_FROM = 20.0
"""From this ratio of the longest step time to the shortest the axis is logarithmic: else the shortest stood at 0."""
_LINE_POINTS = 80
"""Enough for a smooth line on a logarithmic axis."""


def looks(report: Report) -> list[tuple[str, str, str, list[int]]]:
    """Give label, colour, shape and dash of every ranked contender, in the order of the table."""
    seen: Counter[str] = Counter()
    found = {}
    for one in report.outcome.contenders:
        index = seen[one.plan.contender.framework] % len(SHAPES)
        seen[one.plan.contender.framework] += 1
        found[one.label] = (one.label, one.plan.colour, SHAPES[index], DASHES[index])
    return [found[one.label] for one in report.ranked]


def step_times(report: Report) -> list[Point]:
    """Give one dot for each contender; low and high only where there is an interval."""
    scale = report.unit.per_base
    points = []
    for row, one in zip(report.rows, report.ranked, strict=True):
        if one.median_step_s is None:
            continue
        point: Point = {"contender": one.label, "step": one.median_step_s * scale, "text": row.step}
        if one.step_s is not None and one.rounds >= FEWEST_ROUNDS:
            point |= {"low": one.step_s.low * scale, "high": one.step_s.high * scale}
        points.append(point)
    return points


def step_domain(report: Report) -> tuple[float, float, bool]:
    """Give the axis' ends, in the unit of step times, and whether it is logarithmic."""
    points = step_times(report)
    ends = [_end(point, "high", "step") for point in points]
    blocks = [block.step_s * report.unit.per_base for one in report.ranked for block in one.blocks]
    top = min(max([*blocks, *ends], default=1.0), _HEADROOM * max(ends, default=1.0))
    shortest = min((_end(point, "step", "step") for point in points), default=top)
    if top > _LOG_FROM * shortest:
        least = min([*blocks, shortest])
        return least / 1.2, top * 1.2, True
    return 0.0, top * 1.04, False


def _end(point: Point, name: str, otherwise: str) -> float:
    """Give an end of an interval; where there is none, its estimate."""
    return float(point[name] if name in point else point[otherwise])


def blocks(report: Report) -> list[Point]:
    """Give every block of every ranked contender; one beyond the scale stands at its end."""
    top = step_domain(report)[1]
    points = []
    for one in report.ranked:
        for block in one.blocks:
            step = block.step_s * report.unit.per_base
            seen = BEYOND if step > top else FLAGGED if block.flagged else BLOCK
            points.append({"contender": one.label, "step": min(step, top), "kind": seen})
    return points


def lines(report: Report) -> list[Point]:
    """Give the time of runs of every length, with its band, for each contender whose start is known."""
    last = longest(report.runs, report.outcome.verdicts, epoch_steps(report))
    lengths = [10 ** (math.log10(last) * index / (_LINE_POINTS - 1)) for index in range(_LINE_POINTS)]
    return [_line_point(run, steps) for run in report.runs for steps in lengths]


def _line_point(run: Run, steps: float) -> Point:
    """Give one point of a line."""
    return {
        "contender": run.label,
        "steps": steps,
        "seconds": run.seconds(steps),
        "low": run.seconds(steps, run.step.low),
        "high": run.seconds(steps, run.step.high),
    }


def overtakings(report: Report) -> list[Crossing]:
    """Give the break-evens at which the lead changes, which are the ones to draw: no third is ahead there."""
    return [
        crossing
        for crossing in crossings(report.runs, report.outcome.verdicts)
        if all(run.seconds(crossing.steps) >= 0.99 * crossing.seconds for run in report.runs)
    ]


def epoch_steps(report: Report) -> int | None:
    """Give the steps of one pass over the data; None for data that is made up."""
    data = report.outcome.comparison.data
    return data.batches if data.has_test else None


def ratios(report: Report) -> list[Point]:
    """Give one row for each pair, turned so that its ratio is at least 1."""
    place = {one.label: index for index, one in enumerate(report.ranked)}
    pairs = [slower_first(verdict) for verdict in report.outcome.verdicts if verdict.ratio is not None]
    points = []
    for pair in sorted(pairs, key=lambda pair: (place.get(pair.first, 0), place.get(pair.second, 0))):
        point: Point = {
            "pair": f"{pair.first} / {pair.second}",
            "ratio": pair.ratio,
            "verdict": kind(pair),
            "text": f"{ratio_text(pair, report.margin)}  {kind(pair)}",
        }
        if pair.low is not None and pair.high is not None:
            point |= {"low": pair.low, "high": pair.high}
        points.append(point)
    return points


def ratio_domain(report: Report) -> tuple[float, float]:
    """Give the ends of the ratios' axis: the band of equality and every interval, with a little room."""
    points, margin = ratios(report), 1.0 + report.margin
    low = min([1.0 / margin, *(_end(point, "low", "ratio") for point in points)])
    high = max([margin, *(_end(point, "high", "ratio") for point in points)])
    return low / 1.02, high * 1.02


def ratio_ticks(low: float, high: float) -> list[float]:
    """Give places that a reader of ratios looks for."""
    familiar = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0)
    if high > familiar[-1]:
        return sorted({1.0, *ticks(low, high)})
    return [place for place in familiar if low <= place <= high]


def ticks(low: float, high: float) -> list[float]:
    """Give round places on a logarithmic axis, the more of them the fewer decades it spans."""
    decades = math.log10(high / low)
    if decades < _EVEN_BELOW:
        power = 10.0 ** math.floor(math.log10((high - low) / 2))
        return [place * power for place in range(math.ceil(low / power), math.floor(high / power) + 1)]
    leading = next(places for most, places in _LEADING if decades < most)
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [lead * 10.0**exponent for exponent in exponents for lead in leading if low <= lead * 10.0**exponent <= high]


_EVEN_BELOW = 0.3
"""Decades below which even steps read better: from 1 to 2."""
_LEADING = ((1.0, (1, 1.5, 2, 3, 4, 5, 7)), (3.0, (1, 2, 5)), (math.inf, (1,)))
"""For axes of less than so many decades: the leading digits that are marked."""

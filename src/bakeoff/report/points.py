"""A study's points as plain rows: side by side for tables, and as marks for pictures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.outcome import ContenderOutcome, Outcome
from bakeoff.report.pictures import Look, looks
from bakeoff.report.standings import fastest, kind, leaders, ratio_text, throughput, throughput_parts
from bakeoff.report.units import UNKNOWN, listed
from bakeoff.spec.verdict import between

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bakeoff.judge.study import PointOutcome, StudyOutcome
    from bakeoff.report.pictures import Mark
    from bakeoff.spec.verdict import Verdict


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One contender at one point: samples/s, or why there are none."""

    rate: str = ""
    interval: str = ""
    """"30,000 to 34,000"; empty below the fewest rounds."""
    hole: str = ""
    """"failed", "uncertified", ...; empty where there is a rate."""
    reason: str = ""
    """Of a hole, in a sentence."""
    value: float | None = None
    low: float | None = None
    high: float | None = None


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """One pair at one point; `ratio` is the step time of the pair's first over that of its second."""

    text: str
    """"2.2 (2.1 to 2.3)"."""
    verdict: str
    ratio: float | None
    low: float | None
    high: float | None


class PointRow(msgspec.Struct, frozen=True, kw_only=True):
    """One point."""

    place: list[str]
    """Its value on each axis; where there is none, its title."""
    title: str
    cells: dict[str, Cell]
    ratios: dict[tuple[str, str], Ratio]
    verdict: str
    """Who is fastest there, or that it is undecided."""
    outcome: Outcome | None


class Points(msgspec.Struct, frozen=True, kw_only=True):
    """A study's points as they are shown and drawn."""

    axes: list[str]
    """Heads of the rows' places."""
    rows: list[PointRow]
    looks: dict[str, Look]
    """Of every contender that has a column, in the order in which they were named."""
    pairs: list[tuple[str, str]]
    """Turned so that the ratio is above 1 at most points."""
    margin: float

    @property
    def labels(self) -> list[str]:
        """The contenders that have a column."""
        return list(self.looks)


def points_of(study: StudyOutcome) -> Points:
    """Return a study's points side by side."""
    outcomes = study.outcomes
    found = looks(contender for outcome in outcomes for contender in outcome.contenders)
    pairs = _pairs(list(found), outcomes)
    axes = list(study.study.axes())
    return Points(
        axes=axes or ["comparison"],
        rows=[_row(point, axes, list(found), pairs) for point in study.points],
        looks=found,
        pairs=pairs,
        margin=max((outcome.comparison.procedure.margin for outcome in outcomes), default=0.0),
    )


def _pairs(labels: list[str], outcomes: list[Outcome]) -> list[tuple[str, str]]:
    """Return every pair that has a ratio anywhere, turned so that it is above 1 at most points."""
    found = []
    for index, first in enumerate(labels):
        for second in labels[index + 1 :]:
            known = [verdict for outcome in outcomes if (verdict := between(outcome.verdicts, first, second))]
            ratios = [verdict.ratio for verdict in known if verdict.ratio is not None]
            below = sum(ratio < 1 for ratio in ratios)
            if ratios:
                found.append((second, first) if 2 * below > len(ratios) else (first, second))
    return found


def _row(point: PointOutcome, axes: list[str], labels: list[str], pairs: list[tuple[str, str]]) -> PointRow:
    """Return one point in words."""
    outcome = point.outcome
    place = [point.point.coordinates[axis] for axis in axes] or [point.point.title]
    if outcome is None:
        hole = Cell(hole="not measured", reason=point.reason)
        cells = dict.fromkeys(labels, hole)
        return PointRow(place=place, title=point.point.title, cells=cells, ratios={}, verdict="", outcome=None)
    known = {one.label: one for one in outcome.contenders}
    left_out = point.point.left_out | outcome.comparison.excluded
    verdicts = {pair: between(outcome.verdicts, *pair) for pair in pairs}
    return PointRow(
        place=place,
        title=point.point.title,
        cells={label: _cell(known.get(label), left_out.get(label, ""), outcome) for label in labels},
        ratios={pair: _ratio(verdict, outcome) for pair, verdict in verdicts.items() if verdict is not None},
        verdict=_verdict(outcome),
        outcome=outcome,
    )


def _cell(contender: ContenderOutcome | None, left_out: str, outcome: Outcome) -> Cell:
    """Return one contender at one point in words."""
    if contender is None:
        return Cell(hole="left out" if left_out else "", reason=left_out)
    if contender.status != "ranked" or contender.samples_per_s is None:
        return Cell(hole=contender.status if contender.status != "ranked" else UNKNOWN, reason=contender.reason)
    rate, interval = throughput_parts(contender, outcome.comparison.batch_size)
    known = throughput(contender, outcome.comparison.batch_size)
    low, high = (known.low, known.high) if known else (None, None)
    return Cell(rate=rate, interval=interval, value=contender.samples_per_s, low=low, high=high)


def _ratio(verdict: Verdict, outcome: Outcome) -> Ratio:
    """Return one pair at one point in words."""
    text = ratio_text(verdict, outcome.comparison.procedure.margin)
    return Ratio(text=text, verdict=kind(verdict), ratio=verdict.ratio, low=verdict.low, high=verdict.high)


def _verdict(outcome: Outcome) -> str:
    """Return in a few words who is fastest at a point."""
    ranked = [one.label for one in outcome.contenders if one.status == "ranked"]
    if len(ranked) <= 1:
        return f"only {ranked[0]} ranked" if ranked else "none ranked"
    if all(kind(verdict) == "no verdict" for verdict in outcome.verdicts):
        return "no verdict"
    winner = fastest(ranked, outcome.verdicts)
    if winner is not None:
        return f"{winner} {'faster' if len(ranked) == 2 else 'fastest'}"  # noqa: PLR2004 (of two there is no fastest)
    front = leaders(ranked, outcome.verdicts)
    kinds = {kind(verdict) for verdict in outcome.verdicts if {verdict.first, verdict.second} <= set(front)}
    return f"{listed(front)} {kinds.pop()}" if len(kinds) == 1 else "not all decided"


def winner(row: PointRow, labels: list[str]) -> str | None:
    """Return who is decided to be the fastest at a point, "" where nobody is, None where nothing was measured."""
    if row.outcome is None or not row.outcome.verdicts:
        return None
    ranked = [label for label in labels if row.cells[label].rate]
    return fastest(ranked, row.outcome.verdicts) or ""


LOG_FROM = 4.0
"""From this ratio of an axis' largest value to its smallest it is logarithmic: equal factors are equal distances."""


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """The points that share a frame: all whose values agree on every axis but the one along the bottom."""

    title: str
    """Empty where there is one frame only."""
    lines: list[PointRow]


class ChartFrame(msgspec.Struct, frozen=True, kw_only=True):
    """What goes along the bottom, and how the points are parted into frames."""

    axis: str
    numeric: bool
    values: list[str]
    panels: list[Panel]
    index: int
    """Of the axis among a line's places."""

    def x(self, line: PointRow) -> float | str:
        """Return a line's place along the bottom."""
        value = line.place[self.index]
        return float(value) if self.numeric else value


def frame(study: Points) -> ChartFrame:
    """Put the longest axis of numbers along the bottom; where there is none, the longest of words."""
    columns = list(zip(*(line.place for line in study.rows), strict=True))
    sizes = [(_is_numeric(column), len(set(column))) for column in columns]
    # An axis with one value only is no axis, however numeric.
    index = max(range(len(columns)), key=lambda one: (sizes[one][0] and sizes[one][1] > 1, sizes[one][1], -one))
    parted: dict[tuple[str, ...], list[PointRow]] = {}
    for line in study.rows:
        others = tuple(value for place, value in enumerate(line.place) if place != index)
        parted.setdefault(others, []).append(line)
    names = [axis for place, axis in enumerate(study.axes) if place != index]
    panels = [
        Panel(title=", ".join(f"{name} {value}" for name, value in zip(names, others, strict=True)), lines=lines)
        for others, lines in parted.items()
    ]
    values = list(dict.fromkeys(columns[index]))
    return ChartFrame(axis=study.axes[index], numeric=sizes[index][0], values=values, panels=panels, index=index)


def _is_numeric(values: Sequence[str]) -> bool:
    """Return whether all values are numbers above 0."""
    try:
        return all(math.isfinite(float(value)) and float(value) > 0 for value in values)
    except ValueError:
        return False


def rates(study: Points, here: ChartFrame, panel: Panel) -> list[Mark]:
    """Return one dot for each contender at each point; low and high only where there is an interval."""
    points = []
    for label in study.labels:
        for line in panel.lines:
            cell = line.cells[label]
            if cell.value is None:
                continue
            point: Mark = {"contender": label, "x": here.x(line), "rate": cell.value}
            if cell.low is not None and cell.high is not None:
                point |= {"low": cell.low, "high": cell.high}
            points.append(point)
    return points


def holes(study: Points, here: ChartFrame, panel: Panel) -> list[Mark]:
    """Return one mark for each contender at each point where it was to race and has no figure."""
    return [
        {"contender": label, "x": here.x(line), "why": f"{label} {line.cells[label].hole}"}
        for label in study.labels
        for line in panel.lines
        if line.cells[label].hole
    ]


def ratios(here: ChartFrame, panel: Panel, pair: tuple[str, str]) -> list[Mark]:
    """Return one mark for each point of a pair."""
    points = []
    for line in panel.lines:
        known = line.ratios.get(pair)
        if known is None or known.ratio is None:
            continue
        point: Mark = {"x": here.x(line), "ratio": known.ratio, "verdict": known.verdict}
        if known.low is not None and known.high is not None:
            point |= {"low": known.low, "high": known.high}
        points.append(point)
    return points


def ratio_domain(study: Points, here: ChartFrame, pair: tuple[str, str]) -> tuple[float, float]:
    """Return the ends of a pair's axis, the same in all frames: the band of equality and every interval."""
    points = [point for panel in here.panels for point in ratios(here, panel, pair)]
    margin = 1.0 + study.margin
    low, high = ends(points, "ratio", "low", "high") or (1.0, 1.0)
    return min(low, 1.0 / margin) / 1.02, max(high, margin) * 1.02


def ends(points: Iterable[Mark], *names: str) -> tuple[float, float] | None:
    """Return the smallest and the largest of these fields over all points; None where there is none."""
    values = [point[name] for point in points for name in names if name in point]
    return (min(values), max(values)) if values else None


def is_logarithmic(low: float, high: float) -> bool:
    """Return whether an axis between these is to be logarithmic."""
    return low > 0 and high / low >= LOG_FROM

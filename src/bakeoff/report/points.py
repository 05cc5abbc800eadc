"""A study's points side by side: a row for each, and in it a cell for each contender and a ratio for each pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.outcome import ContenderOutcome, Outcome
from bakeoff.report.pictures import Look, looks
from bakeoff.report.standings import between, fastest, kind, leaders, ratio_text, throughput, throughput_parts
from bakeoff.report.units import UNKNOWN, listed

if TYPE_CHECKING:
    from bakeoff.judge.study import PointOutcome, StudyOutcome
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
    """"2.2 [2.1, 2.3]"."""
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

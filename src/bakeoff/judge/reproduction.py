"""A reproduction: published figures compared with measured verdicts on the same pairs, and what that shows."""

from __future__ import annotations

from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING, Literal

import msgspec

from bakeoff.judge.outcome import ContenderOutcome
from bakeoff.spec.published import RELATIVE, Declared, Figure, PublishedStudy, step_s
from bakeoff.spec.verdict import Verdict, between

if TYPE_CHECKING:
    from bakeoff.judge.study import PointOutcome, StudyOutcome

Order = Literal["same", "other", "undecided", "unclear there", "too few rounds", "not measured"]
"""Ours against the published one.  unclear there: repeats of the two overlap in the document.  too few rounds: there is
a ratio so far, and no verdict yet."""
FIRST = 1
"""Of epochs that a document tells apart: it holds what comes once, and no verdict on a step's time speaks of it."""

Ranking = Literal["agrees", "disagrees", "undecided", "inconclusive"]


class PublishedLine(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the document on one of its machines, with what was measured for it here."""

    comparison: str
    row: str
    machine: str
    figure: Figure | None
    """None: the document gives no number."""
    published_step_s: float | None
    """Step time by the median of the published repeats."""
    measured: ContenderOutcome | None
    hole: str
    """Why nothing was measured; empty where something was."""


class PublishedPair(msgspec.Struct, frozen=True, kw_only=True):
    """Two rows on one machine: the published ratio of their times for the same work, and ours."""

    comparison: str
    machine: str
    first: str
    """The row that the document reports as slower."""
    second: str
    published: float
    published_range: tuple[float, float] | None
    """Range of the ratio over the repeats of both rows, where there are several."""
    verdict: Verdict | None
    """The measured verdict, mirrored so that it speaks of `first`; before the first look it has the ratio so far. None
    where one of them was not measured."""
    order: Order
    ranking: Ranking
    reason: str
    """Why the measured ranking neither confirms nor refutes the published one."""


def lines(study: StudyOutcome, published: PublishedStudy) -> list[PublishedLine]:
    """Return every row of every comparison, on each of the machines that the document has it for."""
    found = []
    for declared, point in both(study, published):
        for row in published.rows_of(declared):
            figures: list[Figure | None] = [one for one in declared.figures if one.row == row.name]
            found += [_line(published, declared, row.name, figure, point) for figure in figures or [None]]
    return found


def both(study: StudyOutcome, published: PublishedStudy) -> list[tuple[Declared, PointOutcome]]:
    """Return each declared comparison with its outcome, without those that the scaled variant leaves out."""
    points = {one.point.title: one for one in study.points}
    return [(declared, points[declared.name]) for declared in published.comparisons if declared.name in points]


def _line(
    published: PublishedStudy, declared: Declared, row: str, figure: Figure | None, point: PointOutcome
) -> PublishedLine:
    """Return one line."""
    is_absolute = published.unit_of(declared) not in RELATIVE
    return PublishedLine(
        comparison=declared.name,
        row=row,
        machine=machine_of(published, figure) if figure else "",
        figure=figure,
        published_step_s=published_step_s(published, declared, figure) if figure and is_absolute else None,
        measured=contender_of(point, row),
        hole=hole(point, row),
    )


def machine_of(published: PublishedStudy, figure: Figure) -> str:
    """Return the name of the machine of a figure."""
    return figure.machine or published.machines[0].name


def steps_s(published: PublishedStudy, declared: Declared, figure: Figure) -> list[float]:
    """Return the seconds of a step by each repeat."""
    unit, devices = published.unit_of(declared), published.row(figure.row).devices
    return [step_s(value, unit, declared, devices) for value in figure.values]


def published_step_s(published: PublishedStudy, declared: Declared, figure: Figure) -> float:
    """Return the seconds of a step by the median of the repeats."""
    return median(steps_s(published, declared, figure))


def contender_of(point: PointOutcome, row: str) -> ContenderOutcome | None:
    """Return what was measured of a row's contender; None where it is not ranked."""
    label = point.point.rows.get(row)
    ranked = [one for one in point.outcome.contenders if one.status == "ranked"] if point.outcome else []
    return next((one for one in ranked if one.label == label), None)


def hole(point: PointOutcome, row: str) -> str:
    """Return why a row has no measured step time; empty where it has one."""
    label = point.point.rows.get(row)
    if label is None:
        return "not asked for"
    if contender_of(point, row) is not None:
        return ""
    if label in point.point.left_out:
        return point.point.left_out[label]
    if point.outcome is None:
        return point.reason or "not run"
    found = next((one for one in point.outcome.contenders if one.plan.contender.label == label), None)
    if found is None:
        return point.outcome.comparison.excluded.get(label, "not run")
    # Of a certificate the first check that failed is enough here: the comparison's own report has them all.
    reason = found.reason.partition(";")[0] or found.status
    # One that is ranked has a mark in its label: what ran is not what stands for the row.
    said = {
        "uncertified": f"no passing certificate: {reason}",
        "ranked": f"in force was what nobody has asked for: {found.label}",
    }
    return said.get(found.status, reason)


def pairs(study: StudyOutcome, published: PublishedStudy) -> list[PublishedPair]:
    """Return every pair of rows that the document has figures of on the same machine, on as many devices."""
    found = []
    for declared, point in both(study, published):
        for machine in published.machines:
            on_it = [
                one for one in declared.figures if machine_of(published, one) == machine.name and one.epoch != FIRST
            ]
            found += [
                _pair(study, published, declared, two, point)
                for two in combinations(on_it, 2)
                if len({published.row(one.row).devices for one in two}) == 1
            ]
    return found


def _pair(
    study: StudyOutcome,
    published: PublishedStudy,
    declared: Declared,
    figures: tuple[Figure, Figure],
    point: PointOutcome,
) -> PublishedPair:
    """Return one published pair with the measured verdict; the published slower row comes first."""
    second, first = sorted(figures, key=lambda figure: published_step_s(published, declared, figure))
    above, below = steps_s(published, declared, first), steps_s(published, declared, second)
    ratio = median(above) / median(below)
    low, high = min(above) / max(below), max(above) / min(below)
    verdict = verdict_on(point, first.row, second.row)
    order = _order(ratio, low, verdict, point)
    reason = _no_ranking(study, published, declared, (first.row, second.row)) if verdict else _missing(point, figures)
    if order == "too few rounds":
        reason = ", ".join(part for part in (reason, order) if part)
    elif not reason and order == "unclear there":
        reason = "the document's own repeats overlap"
    return PublishedPair(
        comparison=declared.name,
        machine=machine_of(published, first),
        first=first.row,
        second=second.row,
        published=ratio,
        published_range=(low, high) if len(above) + len(below) > len(figures) else None,
        verdict=verdict,
        order=order,
        ranking="inconclusive" if reason else _RANKINGS[order],
        reason=reason,
    )


def verdict_on(point: PointOutcome, first: str, second: str) -> Verdict | None:
    """Return the measured verdict on two rows, mirrored so that it speaks of the first; None without any ratio."""
    labels = (point.point.rows.get(row, "") for row in (first, second))
    found = between(point.outcome.verdicts, *labels) if point.outcome else None
    return None if found is None or (found.ratio is None and is_early(found)) else found


def is_early(verdict: Verdict) -> bool:
    """Return whether a pair has too few rounds for a verdict."""
    return verdict.rounds < verdict.fewest


def _order(ratio: float, low: float, verdict: Verdict | None, point: PointOutcome) -> Order:
    """Return how the measured order compares with a published ratio, at least 1; `low` is the least of its repeats."""
    if verdict is None or point.outcome is None:
        return "not measured"
    if is_early(verdict):
        return "too few rounds"
    if verdict.verdict == "undecided":
        return "undecided"
    if low < 1.0 or low == 1.0 < ratio:
        return "unclear there"
    if verdict.verdict == "equal":
        return "same" if ratio <= 1.0 + point.outcome.comparison.procedure.margin else "other"
    return "same" if verdict.verdict == "slower" and ratio > 1.0 else "other"  # 1: one figure each, and the same


_RANKINGS: dict[Order, Ranking] = {"same": "agrees", "other": "disagrees", "undecided": "undecided"}
"""What an order shows where both were measured on the same kind of device, at the same size."""


def _no_ranking(study: StudyOutcome, published: PublishedStudy, declared: Declared, rows: tuple[str, str]) -> str:
    """Return why the measured order can neither confirm nor refute the published one; empty where it can."""
    point = next(one for one in study.points if one.point.title == declared.name)
    there = [published.row(name).device for name in rows]
    reasons = []
    if "not stated" in there:
        reasons.append("hardware not stated there")
    elif there != [_kind_here(point, name) for name in rows]:
        reasons.append("other hardware")
    reasons += [declared.other] if declared.other else []
    return ", ".join([*reasons, *(["scaled down"] if is_smaller(study, declared) else [])])


def _kind_here(point: PointOutcome, row: str) -> str:
    """Return whether a row's contender ran on a processor or a GPU."""
    found = contender_of(point, row)
    return "cpu" if found is None or found.plan.contender.device == "cpu" else "gpu"


def is_smaller(study: StudyOutcome, declared: Declared) -> bool:
    """Return whether a step here is smaller than the published one."""
    request = next(one.point.request for one in study.points if one.point.title == declared.name)
    return request.size != declared.size or request.batch_size != declared.batch_size


def _missing(point: PointOutcome, figures: tuple[Figure, Figure]) -> str:
    """Return which of two rows was not measured."""
    gone = [f"{one.row} not measured" for one in figures if hole(point, one.row)]
    return ", ".join(gone) or "too few rounds"

"""The one model that every form of a study's report shows: a line for each point, a column for each contender."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.outcome import ContenderOutcome, Outcome
from bakeoff.judge.study import PointOutcome, StudyOutcome
from bakeoff.report.cautions import cautions
from bakeoff.report.chartdata import DASHES, SHAPES
from bakeoff.report.pairs import FEWEST_ROUNDS, between, fastest, kind, leaders, ratio_parts
from bakeoff.report.study.words import error_rate, headline
from bakeoff.report.units import UNKNOWN, Unit, count, listed, quantity, rounded
from bakeoff.spec.verdict import Interval, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

FILES = {"report": "report.html", "markdown": "report.md", "chart": "chart.png", "drawing": "chart.svg"}
"""What `save` writes into the study's folder."""

THROUGHPUT = Unit("samples/s", 1.0)


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


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One point."""

    place: list[str]
    """Its value on each axis; where there is none, its title."""
    title: str
    cells: dict[str, Cell]
    ratios: dict[tuple[str, str], Ratio]
    verdict: str
    """Who is fastest there, or that it is undecided."""
    outcome: Outcome | None


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """How a contender is drawn."""

    label: str
    colour: str
    shape: str
    dash: list[int]


class StudyReport(msgspec.Struct, frozen=True, kw_only=True):
    """A study as it is shown."""

    study: StudyOutcome
    title: str
    work: str
    machine: str
    headline: str
    axes: list[str]
    """Heads of the lines' places."""
    lines: list[Line]
    looks: list[Look]
    """Of every contender that has a column, in the order in which they were named."""
    pairs: list[tuple[str, str]]
    """Turned so that the ratio is above 1 at most points."""
    holes: list[str]
    """Everything that was asked for and is not there, in sentences."""
    cautions: list[str]
    error_rate: str
    evidence: str
    margin: float

    @property
    def labels(self) -> list[str]:
        """The contenders that have a column."""
        return [look.label for look in self.looks]

    @property
    def files(self) -> dict[str, str]:
        """The paths of the records and of the reports that are there, by their names."""
        folder = Path(self.study.path)
        paths = {name: folder / file for name, file in FILES.items()}
        return {"records": str(folder)} | {name: str(path) for name, path in paths.items() if path.exists()}


def report_of(study: StudyOutcome) -> StudyReport:
    """Derive the model from a study's outcome."""
    outcomes = study.outcomes
    looks = _looks(outcomes)
    labels = [look.label for look in looks]
    pairs = _pairs(labels, outcomes)
    axes = list(study.study.axes())
    lines = [_line(point, axes, labels, pairs) for point in study.points]
    return StudyReport(
        study=study,
        title=study.study.title,
        work=_work(outcomes),
        machine=_machine(outcomes),
        headline=headline(axes, [(line.place, _winner(line, labels)) for line in lines], len(labels)),
        axes=axes or ["comparison"],
        lines=lines,
        looks=looks,
        pairs=pairs,
        holes=_holes(study, lines),
        cautions=_cautions(study),
        error_rate=error_rate(sum(len(outcome.verdicts) > 0 for outcome in outcomes)),
        evidence=_evidence(outcomes),
        margin=max((outcome.comparison.procedure.margin for outcome in outcomes), default=0.0),
    )


def _looks(outcomes: Iterable[Outcome]) -> list[Look]:
    """Give every contender its colour, which is its framework's, and among its kin a shape and a dash of its own."""
    seen: Counter[str] = Counter()
    found: dict[str, Look] = {}
    for outcome in outcomes:
        for one in outcome.contenders:
            if one.label in found:
                continue
            index = seen[one.plan.contender.framework] % len(SHAPES)
            seen[one.plan.contender.framework] += 1
            found[one.label] = Look(
                label=one.label, colour=one.plan.colour, shape=SHAPES[index], dash=list(DASHES[index])
            )
    return list(found.values())


def _pairs(labels: list[str], outcomes: list[Outcome]) -> list[tuple[str, str]]:
    """Give every pair that has a ratio anywhere, turned so that it is above 1 at most points."""
    found = []
    for index, first in enumerate(labels):
        for second in labels[index + 1 :]:
            known = [verdict for outcome in outcomes if (verdict := between(outcome.verdicts, first, second))]
            ratios = [verdict.ratio for verdict in known if verdict.ratio is not None]
            below = sum(ratio < 1 for ratio in ratios)
            if ratios:
                found.append((second, first) if 2 * below > len(ratios) else (first, second))
    return found


def _line(point: PointOutcome, axes: list[str], labels: list[str], pairs: list[tuple[str, str]]) -> Line:
    """Put one point into words."""
    outcome = point.outcome
    place = [point.point.coordinates[axis] for axis in axes] or [point.point.title]
    if outcome is None:
        hole = Cell(hole="not measured", reason=point.reason)
        cells = dict.fromkeys(labels, hole)
        return Line(place=place, title=point.point.title, cells=cells, ratios={}, verdict="", outcome=None)
    known = {one.label: one for one in outcome.contenders}
    left_out = point.point.left_out | outcome.comparison.excluded
    verdicts = {pair: between(outcome.verdicts, *pair) for pair in pairs}
    return Line(
        place=place,
        title=point.point.title,
        cells={label: _cell(known.get(label), left_out.get(label, ""), outcome) for label in labels},
        ratios={pair: _ratio(verdict, outcome) for pair, verdict in verdicts.items() if verdict is not None},
        verdict=_verdict(outcome),
        outcome=outcome,
    )


def _cell(contender: ContenderOutcome | None, left_out: str, outcome: Outcome) -> Cell:
    """Put one contender at one point into words."""
    if contender is None:
        return Cell(hole="left out" if left_out else "", reason=left_out)
    if contender.status != "ranked" or contender.samples_per_s is None:
        return Cell(hole=contender.status if contender.status != "ranked" else UNKNOWN, reason=contender.reason)
    step, batch_size = contender.step_s, outcome.comparison.batch_size
    if step is None or contender.rounds < FEWEST_ROUNDS or step.low <= 0:
        return Cell(rate=rounded(contender.samples_per_s), value=contender.samples_per_s)
    low, high = batch_size / step.high, batch_size / step.low
    known = quantity(Interval(estimate=contender.samples_per_s, low=low, high=high), THROUGHPUT)
    interval = f"{known.low} to {known.high}"
    return Cell(rate=known.estimate, interval=interval, value=contender.samples_per_s, low=low, high=high)


def _ratio(verdict: Verdict, outcome: Outcome) -> Ratio:
    """Put one pair at one point into words."""
    text = " ".join(part for part in ratio_parts(verdict, outcome.comparison.procedure.margin) if part)
    return Ratio(text=text, verdict=kind(verdict), ratio=verdict.ratio, low=verdict.low, high=verdict.high)


def _verdict(outcome: Outcome) -> str:
    """Say in a few words who is fastest at a point."""
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


def _winner(line: Line, labels: list[str]) -> str | None:
    """Give who is decided to be the fastest at a point, "" where nobody is, None where nothing was measured."""
    if line.outcome is None or not line.outcome.verdicts:
        return None
    ranked = [label for label in labels if line.cells[label].rate]
    return fastest(ranked, line.outcome.verdicts) or ""


def _work(outcomes: list[Outcome]) -> str:
    """Name what all points have in common."""
    if not outcomes:
        return ""
    comparisons = [outcome.comparison for outcome in outcomes]
    precisions = {plan.contender.options.get("precision", "") for one in comparisons for plan in one.contenders}
    parts: list[set[str]] = [
        {comparison.workload.name for comparison in comparisons},
        {comparison.scenario for comparison in comparisons},
        {"" if comparison.size == "full" else f"{comparison.size} size" for comparison in comparisons},
        precisions,
        {comparison.data.source.partition(" (")[0] for comparison in comparisons},
    ]
    return ", ".join(name for part in parts if len(part) == 1 for name in part if name)


def _machine(outcomes: list[Outcome]) -> str:
    """Name the machine and tell in how many comparisons it was not calm."""
    if not outcomes:
        return ""
    machine = outcomes[0].comparison.machine
    cores = machine.get("usable_cores") or machine.get("cores")
    parts = [str(machine.get("gpu") or ""), str(machine.get("processor") or "unknown processor")]
    parts += [count(int(cores), "core")] if cores else []
    busy = sum(outcome.calm is False for outcome in outcomes)
    calm = "calm" if all(outcome.calm for outcome in outcomes) else "noise unknown"
    parts.append(f"busy in {busy} of {count(len(outcomes), 'comparison')}" if busy else calm)
    return ", ".join(part for part in parts if part)


def _holes(study: StudyOutcome, lines: list[Line]) -> list[str]:
    """Say of everything that is missing where and why, each reason once."""
    reasons: dict[str, list[str]] = {}
    for point, line in zip(study.points, lines, strict=True):
        if point.outcome is None or point.reason:
            reasons.setdefault(point.reason, []).append(line.title)
        missing = {label: f"{cell.hole}: {cell.reason}" for label, cell in line.cells.items() if cell.hole}
        others = point.point.left_out | (point.outcome.comparison.excluded if point.outcome else {})
        told = {label: f"left out: {reason}" for label, reason in others.items()} | missing
        for label, reason in told.items() if point.outcome is not None else ():
            reasons.setdefault(f"{label} {reason}", []).append(line.title)
    return [_at(titles, reason, study) for reason, titles in reasons.items()]


def _cautions(study: StudyOutcome) -> list[str]:
    """Give the warnings of all comparisons, each once with the points that it is about."""
    found: dict[str, list[str]] = {}
    for point in study.points:
        for caution in cautions(point.outcome) if point.outcome else ():
            found.setdefault(caution, []).append(point.point.title)
    return [_at(titles, caution, study) for caution, titles in found.items()]


def _at(titles: list[str], sentence: str, study: StudyOutcome) -> str:
    """Say at which points something holds."""
    places = "; ".join(titles) if any("," in title for title in titles) else listed(titles)
    return sentence if len(titles) == len(study.points) > 1 else f"{places}: {sentence}"


def _evidence(outcomes: list[Outcome]) -> str:
    """Tell what the numbers rest on."""
    rounds, processes = (sum(outcome.rounds for outcome in outcomes), sum(outcome.processes for outcome in outcomes))
    return f"{count(len(outcomes), 'comparison')}, {count(rounds, 'round')}, {count(processes, 'fresh process')}"

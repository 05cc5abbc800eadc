"""The page of a study that is held against published figures."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.judge import reproduction
from bakeoff.judge.reproduced_epochs import epoch_lines
from bakeoff.judge.reproduced_scaling import overhead_lines
from bakeoff.report.page import Page, Picture, Section
from bakeoff.report.pages.comparison import comparison_page
from bakeoff.report.pages.published_tables import beside_measured, called_for
from bakeoff.report.pages.study import comparisons
from bakeoff.report.pictures.reproduction import bars_chart, bars_finding, ratios_chart
from bakeoff.report.standings import bounds, kind
from bakeoff.report.units import count, listed
from bakeoff.report.words import machine_line, machines_line, measured_line, packages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bakeoff.judge.outcome import Outcome
    from bakeoff.judge.reproduced_epochs import EpochLine
    from bakeoff.judge.reproduced_scaling import OverheadLine
    from bakeoff.judge.reproduction import Held, Order, PublishedLine, PublishedPair
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.spec.published import PublishedStudy

VERSION = 1
"""Of the JSON object, which docs/json-reproduced.md documents: raised when a key changes its meaning or goes away."""


def reproduction_page(study: StudyOutcome) -> Page:
    """Return the page: what was published beside what was measured."""
    assert study.study.reproduces is not None
    published = study.study.reproduces.published
    answer, pairs = headline(study), reproduction.pairs(study, published)
    pages = {point.point.title: comparison_page(point.outcome) for point in study.points if point.outcome}
    missing = _holes(study, published)
    notes = [f"The document leaves open: {text}" for text in published.not_stated] + list(published.notes)
    notes.append(f"Source: {published.document.citation}; {published.document.number}.")
    return Page(
        title=published.full_title(),
        headline=answer,
        sections=[
            Section(words=_conditions(study, published)),
            *_pictures(study, published, pairs, answer),
            *beside_measured(study, published, pairs),
            *called_for(study, published),
            *([Section(title="Holes", words=missing)] if missing else []),
            Section(title="What the figures rest on", words=notes),
            comparisons(study),
        ],
        begun=f"bakeoff {study.bakeoff}, study {study.id}, begun {study.created_at}.",
        measured=measured_line(
            (one for outcome in study.outcomes for one in outcome.contenders), study.bakeoff, study.created_at
        ),
        command=study.study.command,
        path=study.path,
        data=_data(study, pages),
        inner=list(pages.values()),
    )


def _pictures(study: StudyOutcome, published: PublishedStudy, pairs: list[PublishedPair], answer: str) -> list[Section]:
    """Return the bars of a document's figure beside ours, and the ratios of all pairs that were measured."""
    found = []
    if published.chart:
        finding = bars_finding(study, published)
        found.append(Section(kind="page", picture=Picture(finding, lambda width: bars_chart(study, published, width))))
    measured = [pair for pair in pairs if pair.verdict is not None]
    if measured:
        several = len(published.machines) > 1
        picture = Picture(answer, lambda width: ratios_chart(measured, width, several=several))
        found.append(Section(kind="page", picture=picture))
    return found


_SAID: dict[Order, str] = {
    "same": "the same order here",
    "other": "the other order here",
    "undecided": "undecided here",
    "unclear there": "decided here, but not by the document's own repeats",
    "too few rounds": "measured without a verdict",
    "not measured": "not measured here",
}


def headline(study: StudyOutcome) -> str:
    """Return what became of the published pairs, and whether that shows anything about them."""
    assert study.study.reproduces is not None
    published = study.study.reproduces.published
    pairs = reproduction.pairs(study, published)
    where = f"{published.document.number} of {published.document.name}"
    if not pairs:
        return f"There is no pair of figures in {where}."
    orders = Counter(pair.order for pair in pairs)
    said = [f"{orders[order]} {_SAID[order]}{_rounds(pairs, order)}" for order in _SAID if orders[order]]
    start = f"Of {count(len(pairs), 'published pair')} in {where}: {listed(said)}."
    told = Counter(pair.ranking for pair in pairs)
    if told["agrees"] or told["disagrees"]:
        return f"{start} Our ranking agrees with {told['agrees']} and disagrees with {told['disagrees']}."
    reasons = [pair.reason for pair in pairs if pair.verdict and pair.reason]
    named = ", ".join(dict.fromkeys(reason for text in reasons for reason in text.split(", ")))
    return f"{start} Whether the published ranking holds is inconclusive here: {named}." if named else start


def _rounds(pairs: Sequence[PublishedPair], order: Order) -> str:
    """Return how many rounds there are where they are too few: " (2 rounds of 5)"; empty for all other orders."""
    if order != "too few rounds":
        return ""
    early = [pair.verdict for pair in pairs if pair.order == order and pair.verdict]
    most = max(verdict.rounds for verdict in early)
    return f" ({count(most, 'round')} of {max(verdict.fewest for verdict in early)})"


def _conditions(study: StudyOutcome, published: PublishedStudy) -> list[str]:
    """Return what was measured on what, there and here."""
    here = study.study.reproduces
    assert here is not None
    machines = [machine.hardware for machine in published.machines]
    versions = dict.fromkeys(f"{row.name} {row.version}" for row in published.rows if row.version)
    with_versions = f"; {', '.join(versions)}" if versions else "; versions not stated"
    said = [f"Published on {'; '.join(machines)}{with_versions}. {_sentence(published.method)}"]
    said.append(f"Compile time there: {published.compile_time}; step times here never hold it.")
    if study.outcomes:
        said.append(f"Measured here on {_here(study.outcomes)}, device {here.device}. {_contenders(study, published)}.")
    if smaller := _smaller(study, published):
        said.append(f"Scaled down: {smaller}; the published ran on {listed(one.name for one in published.machines)}.")
    return said


def _here(outcomes: Sequence[Outcome]) -> str:
    """Return this machine, and beside how many comparisons something else ran."""
    return machine_line(outcomes[0]) if len(outcomes) == 1 else machines_line(outcomes)


def _contenders(study: StudyOutcome, published: PublishedStudy) -> str:
    """Return which contender, of which versions, stands for each row."""
    labels = {row: label for point in study.points for row, label in point.point.rows.items()}
    there = {one.label for outcome in study.outcomes for one in outcome.contenders}
    raced = [(row.name, label) for row in published.rows if (label := labels.get(row.name)) in there]
    placed = [f"{row} by {label}" for row, label in raced if row != label]
    told = packages(contender for outcome in study.outcomes for contender in outcome.contenders)
    return "; ".join([*([f"Rows: {', '.join(placed)}"] if placed else []), told])


def _sentence(text: str) -> str:
    """Return a clause as a sentence."""
    return f"{text[0].upper()}{text[1:]}."


def _smaller(study: StudyOutcome, published: PublishedStudy) -> str:
    """Return what is smaller here than there; empty where nothing is."""
    told: dict[str, list[str]] = {}
    for declared, point in reproduction.both(study, published):
        asked = point.point.request
        size = f"the network's {asked.size} size instead of the {declared.size} one"
        parts = [] if asked.size == declared.size else [size]
        same = asked.batch_size == declared.batch_size
        parts += [] if same else [f"batch {asked.batch_size} instead of {declared.batch_size}"]
        steps = declared.run_steps()
        fewer = asked.steps is not None and steps is not None and asked.steps < steps
        what = "epochs" if declared.epochs_apart else "whole runs"
        parts += [f"{what} of {asked.steps:,} steps instead of {steps:,}"] if fewer else []
        told.setdefault(", ".join(parts), []).append(declared.name)
    told.pop("", None)
    everywhere = len(reproduction.both(study, published))
    return "; ".join(text if len(one) == everywhere else f"{listed(one)}: {text}" for text, one in told.items())


def _holes(study: StudyOutcome, published: PublishedStudy) -> list[str]:
    """Return which rows have no measured figure, each reason once."""
    reasons: dict[str, list[str]] = {}
    for declared, point in reproduction.both(study, published):
        for row in published.rows:
            if reason := reproduction.hole(point, row.name):
                reasons.setdefault(reason, []).append(f"{row.name} ({declared.name})")
    held = reproduction.both(study, published)
    gone = [one.name for one in published.comparisons if one.name not in {declared.name for declared, _ in held}]
    said = [f"Not measured: {_rows(rows, len(held))}: {reason}" for reason, rows in reasons.items()]
    return [*said, f"Not in the scaled variant: {'; '.join(gone)}"] if gone else said


def _rows(named: list[str], everywhere: int) -> str:
    """Return the names of rows with their comparisons; a row that is missing in all of them by its name alone."""
    missing = Counter(name.partition(" (")[0] for name in named)
    whole = [row for row, times in missing.items() if times == everywhere]
    return listed([*whole, *(name for name in named if name.partition(" (")[0] not in whole)])


# --- For programs -------------------------------------------------------------------------------------------------


def _data(study: StudyOutcome, pages: Mapping[str, Page]) -> dict[str, Any]:
    """Return the JSON object; every documented key is there, and null is not known."""
    here = study.study.reproduces
    assert here is not None
    return {
        "version": VERSION,
        "bakeoff": study.bakeoff,
        "id": study.id,
        "path": study.path,
        "created_at": study.created_at,
        "command": study.study.command,
        "scaled": here.scaled,
        "device": here.device,
        "headline": headline(study),
        "published": msgspec.to_builtins(here.published),
        "lines": [_line(line) for line in reproduction.lines(study, here.published)],
        "epochs": [_epoch(line) for line in epoch_lines(study, here.published)],
        "overheads": [_overhead(line) for line in overhead_lines(study, here.published)],
        "pairs": [_pair(pair) for pair in reproduction.pairs(study, here.published)],
        "claims": [_claim(held) for held in reproduction.held(study, here.published)],
        "comparisons": {
            point.point.title: pages[point.point.title].data if point.outcome else {"reason": point.reason}
            for point in study.points
        },
    }


def _line(line: PublishedLine) -> dict[str, Any]:
    """Return one row on one machine."""
    known = line.measured
    return {
        "comparison": line.comparison,
        "row": line.row,
        "machine": line.machine or None,
        "epoch": line.figure.epoch if line.figure else None,
        "values": list(line.figure.values) if line.figure else None,
        "disturbed": list(line.figure.disturbed) if line.figure else None,
        "published_step_s": line.published_step_s,
        "contender": known.label if known else None,
        "step_s": known.median_step_s if known else None,
        "step_interval_s": bounds(known.step_s) if known else None,
        "hole": line.hole or None,
    }


def _epoch(line: EpochLine) -> dict[str, Any]:
    """Return one epoch of one row."""
    return {
        "comparison": line.comparison,
        "row": line.row,
        "epoch": line.epoch,
        "machine": line.machine or None,
        "published_s": line.published_s,
        "published_steps": line.published_steps,
        "steps": line.steps or None,
        "epoch_s": line.epoch_s,
        "epoch_range_s": [min(line.epochs_s), max(line.epochs_s)] if line.epochs_s else None,
        "compiled": line.compiled,
        "hole": line.hole or None,
    }


def _overhead(line: OverheadLine) -> dict[str, Any]:
    """Return one row on several devices."""
    ours = line.overhead
    return {
        "comparison": line.comparison,
        "row": line.row,
        "devices": line.devices,
        "published": line.published,
        "overhead": ours.estimate if ours else None,
        "overhead_interval": [ours.low, ours.high] if ours else None,
        "samples_per_s": line.samples_per_s,
        "hole": line.hole or None,
    }


def _pair(pair: PublishedPair) -> dict[str, Any]:
    """Return one pair."""
    fields: dict[str, Any] = msgspec.to_builtins(pair)
    verdict = pair.verdict
    return {
        "published_ratio": fields.pop("published"),
        **fields,
        "ratio": verdict.ratio if verdict else None,
        "interval": [verdict.low, verdict.high] if verdict and verdict.low is not None else None,
        "verdict": kind(verdict) if verdict else None,
        "reason": pair.reason or None,
    }


def _claim(held: Held) -> dict[str, Any]:
    """Return one statement of the document."""
    return {
        "text": held.claim.text,
        "published_percent": held.claim.percent,
        "percent": held.percent,
        "verdicts": [verdict.verdict for verdict in held.verdicts],
        "reason": held.reason or None,
    }

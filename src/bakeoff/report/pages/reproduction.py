"""The page of a study that is held against published figures."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.judge import reproduction
from bakeoff.judge.reproduced_epochs import epoch_lines
from bakeoff.judge.reproduced_memory import memory_lines
from bakeoff.judge.reproduced_parts import part_lines
from bakeoff.judge.reproduced_scaling import overhead_lines
from bakeoff.report.page import Page, Picture, Section
from bakeoff.report.pages import published_nothing
from bakeoff.report.pages.comparison import comparison_page
from bakeoff.report.pages.published_caption import caption
from bakeoff.report.pages.published_claims import claims_data, claims_sections, claims_told
from bakeoff.report.pages.published_parts import headline_of_parts, is_of_graphs, parts, parts_shape
from bakeoff.report.pages.published_shape import shape_table
from bakeoff.report.pages.published_tables import beside_measured, called_for
from bakeoff.report.pages.published_ticks import ticks_data, ticks_sections
from bakeoff.report.pages.study import comparisons
from bakeoff.report.pictures.bars import bars_chart, bars_finding
from bakeoff.report.pictures.nodes import nodes_chart, nodes_finding
from bakeoff.report.pictures.reproduction import ratios_chart
from bakeoff.report.standings import bounds, kind
from bakeoff.report.units import listed
from bakeoff.report.words import measured_line
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bakeoff.judge.explanation import ContenderProfile
    from bakeoff.judge.reproduced_epochs import EpochLine
    from bakeoff.judge.reproduced_parts import PartLine
    from bakeoff.judge.reproduced_scaling import OverheadLine
    from bakeoff.judge.reproduction import Order, PublishedLine, PublishedPair
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.spec.published import PublishedStudy

VERSION = 2
"""Of the JSON object, which docs/json-reproduced.md documents: raised when a key changes its meaning or goes away."""


def reproduction_page(study: StudyOutcome) -> Page:
    """Return the page: what was published beside what was measured."""
    assert study.study.reproduces is not None
    published = study.study.reproduces.published
    answer, pairs = headline(study), reproduction.pairs(study, published)
    pages = {point.point.title: comparison_page(point.outcome) for point in study.points if point.outcome}
    missing = _holes(study, published)
    notes = list(published.notes)
    notes.append(f"Source: {published.document.citation}; {published.document.number}.")
    return Page(
        title=published.full_title(),
        headline=answer,
        sections=[
            *_whole(study, published),
            Section(words=caption(study, published)),
            *ticks_sections(study, published),
            *_speeds(study, published),
            *_ratios(published, pairs, answer),
            *(published_nothing.by_benchmark(study, published) if published.is_silent() else []),
            *beside_measured(study, published, pairs),
            *parts(study, published),
            *claims_sections(study, published),
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


def _whole(study: StudyOutcome, published: PublishedStudy) -> list[Section]:
    """Return the document's table or figure with ours in it; its caption follows."""
    table, picture, number = shape_table(study, published), None, published.document.number
    if published.is_of_parts() and not published.chart:
        table = parts_shape(study, published)
    if published.chart:
        picture = _nodes(study, published) if is_of_graphs(published) else _bars(study, published)
    if not (table.lines or picture):
        return []
    title = f"{number[0].upper()}{number[1:]} of {published.document.name}, published beside measured"
    return [Section(title=title, tables=[table] if table.lines else [], picture=picture)]


def _bars(study: StudyOutcome, published: PublishedStudy) -> Picture:
    """Return the picture of speeds."""
    return Picture(bars_finding(study, published), lambda width: bars_chart(study, published, width))


def _nodes(study: StudyOutcome, published: PublishedStudy) -> Picture:
    """Return the picture of what passes take away."""
    return Picture(nodes_finding(study, published), lambda width: nodes_chart(study, published, width))


def _speeds(study: StudyOutcome, published: PublishedStudy) -> list[Section]:
    """Return our speeds beside a figure of graphs, which has none."""
    if not (published.chart and is_of_graphs(published)):
        return []
    where = f"{published.document.number} of {published.document.name}"
    title = f"Speed of a step in each row here, which {where} does not have"
    return [Section(title=title, picture=_bars(study, published))]


def _ratios(published: PublishedStudy, pairs: list[PublishedPair], answer: str) -> list[Section]:
    """Return the picture of the ratios of all pairs that were measured."""
    measured = [pair for pair in pairs if pair.verdict is not None]
    several = len(published.machines) > 1
    picture = Picture(answer, lambda width: ratios_chart(measured, width, several=several))
    return [Section(kind="page", picture=picture)] if measured else []


_SAID: dict[Order, tuple[str, str]] = {
    "same": ("has the same order here", "have the same order here"),
    "other": ("has the other order here", "have the other order here"),
    "undecided": ("is undecided here", "are undecided here"),
    "unclear there": (
        "is decided here, but not by the document's own repeats",
        "are decided here, but not by the document's own repeats",
    ),
    "too few rounds": ("is measured without a verdict", "are measured without a verdict"),
    "not measured": ("is not measured here", "are not measured here"),
}
"""Of one pair, and of several."""


def headline(study: StudyOutcome) -> str:
    """Return what became of the published pairs, and whether that shows anything about them."""
    assert study.study.reproduces is not None
    published = study.study.reproduces.published
    pairs = reproduction.pairs(study, published)
    where = f"{published.document.number} of {published.document.name}"
    if published.is_silent():
        return published_nothing.answer(study, published)
    if published.parts:
        return f"{headline_of_parts(study, published)} {claims_told(study, published)}".strip()
    if not pairs:
        alone = any(declared.figures for declared in published.comparisons)
        none = f"There is no pair of figures in {where}{': each stands alone beside ours' if alone else ''}."
        return f"{none} {claims_told(study, published)}".strip()
    start = _orders(pairs, where)
    told = Counter(pair.ranking for pair in pairs)
    if told["agrees"] or told["disagrees"]:
        return f"{start} Our ranking agrees with {told['agrees']} and disagrees with {told['disagrees']}."
    reasons = [pair.reason for pair in pairs if pair.verdict and pair.reason]
    named = ", ".join(dict.fromkeys(reason for text in reasons for reason in text.split(", ")))
    return f"{start} Whether the published ranking holds is inconclusive here: {named}." if named else start


def _orders(pairs: Sequence[PublishedPair], where: str) -> str:
    """Return how many of the published pairs have which order here: "All 3 published pairs in ... have the ..."."""
    orders = Counter(pair.order for pair in pairs)
    said = {
        order: f"{words[orders[order] > 1]}{_rounds(pairs, order)}" for order, words in _SAID.items() if orders[order]
    }
    if len(said) == 1:
        named = "The published pair" if len(pairs) == 1 else f"All {len(pairs)} published pairs"
        return f"{named} in {where} {next(iter(said.values()))}."
    told = listed(f"{orders[order]} {text}" for order, text in said.items())
    return f"Of {len(pairs)} published pairs in {where}: {told}."


def _rounds(pairs: Sequence[PublishedPair], order: Order) -> str:
    """Return how many rounds there are where they are too few: " (2 rounds of 5)"; empty for all other orders."""
    if order != "too few rounds":
        return ""
    early = [pair.verdict for pair in pairs if pair.order == order and pair.verdict]
    most = max(verdict.rounds for verdict in early)
    return f" ({count(most, 'round')} of {max(verdict.fewest for verdict in early)})"


def _holes(study: StudyOutcome, published: PublishedStudy) -> list[str]:
    """Return which rows have no measured figure, each reason once."""
    reasons: dict[str, list[tuple[str, str]]] = {}
    for declared, point in reproduction.both(study, published):
        for row in published.rows_of(declared):
            if reason := reproduction.hole(point, row.name):
                reasons.setdefault(reason, []).append((row.name, declared.name))
    rows = {declared.name: len(published.rows_of(declared)) for declared, _ in reproduction.both(study, published)}
    gone = [one for one in published.comparisons if one.name not in rows]
    scaled = study.study.reproduces is not None and study.study.reproduces.scaled
    left_out = [one.name for one in gone if scaled and one.scaled is None]
    nobody = [one.name for one in gone if one.name not in left_out]
    said = [f"Not measured: {_rows(missing, rows)}: {reason}" for reason, missing in reasons.items()]
    said += [f"Not in the scaled variant: {'; '.join(left_out)}"] if left_out else []
    return [*said, f"None of its rows can race here: {'; '.join(nobody)}"] if nobody else said


def _rows(missing: Sequence[tuple[str, str]], rows: Mapping[str, int]) -> str:
    """Return rows with their comparisons, and of what is missing as a whole its name alone.

    `rows` has of each comparison how many rows it has. One that is missing in all of them stands without them, and so
    does a comparison of which all rows are.
    """
    times, of = Counter(row for row, _ in missing), Counter(name for _, name in missing)
    whole = [row for row in times if times[row] == len(rows)]
    without = [name for name in of if of[name] == rows[name] > 1 and len(whole) < rows[name]]
    left = [f"{row} ({name})" for row, name in missing if row not in whole and name not in without]
    told = [*whole, *(f"every row of {name}" for name in without), *left]
    return "; ".join(told) if any("," in one for one in told) else listed(told)


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
        "caption": caption(study, here.published),
        "published": msgspec.to_builtins(here.published),
        "lines": [_line(line) for line in reproduction.lines(study, here.published)],
        "epochs": [_epoch(line) for line in epoch_lines(study, here.published)],
        "overheads": [_overhead(line) for line in overhead_lines(study, here.published)],
        "parts": [_part(line) for line in part_lines(study, here.published)],
        "graphs": [_graph(point.point.title, one) for point in study.points for one in point.profiles],
        "pairs": [_pair(pair) for pair in reproduction.pairs(study, here.published)],
        "memory": [
            msgspec.to_builtins(line) | {"hole": line.hole or None} for line in memory_lines(study, here.published)
        ],
        "ticks": ticks_data(study, here.published),
        "claims": claims_data(study, here.published),
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


def _part(line: PartLine) -> dict[str, Any]:
    """Return one part of a step or graph."""
    told, ours = line.published, line.measured
    return {
        "comparison": line.comparison,
        "row": line.row,
        "of": line.of,
        "published": told.value / line.scale if told else None,
        "published_kind": told.kind if told else None,
        "measured": ours.mean if ours else None,
        "measured_interval": bounds(ours.interval) if ours else None,
        "hole": line.hole or None,
    }


def _graph(comparison: str, profile: ContenderProfile) -> dict[str, Any]:
    """Return what the compiler of one contender made of its graph, and what it says of it."""
    stages = msgspec.to_builtins(profile.stages)
    return {"comparison": comparison, "contender": profile.label, "stages": stages, "facts": profile.facts}


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

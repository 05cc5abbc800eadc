"""The tables of what steps and graphs consist of: as a document says it, and as traces tell it here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.judge.reproduced_parts import graph_lines, part_lines
from bakeoff.judge.reproduction import both
from bakeoff.report.page import Line, Section, Table
from bakeoff.report.sections.stages import CLASSES, stages_table
from bakeoff.report.units import listed
from bakeoff.spec.parts import OF_STEPS

if TYPE_CHECKING:
    from bakeoff.judge.explanation import ContenderProfile
    from bakeoff.judge.reproduced_parts import PartLine
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.spec.parts import PartOf
    from bakeoff.spec.published import PublishedStudy

_TITLES: dict[PartOf, str] = {
    "compute": "Share of the step in which the device computes",
    "copies": "Share of the step in which memory is copied between host and device",
    "launches": "Kernels or operations started in a step",
    "removed": "Share of a graph's nodes that all passes take away",
    "pruning": "Share of the nodes that pruning takes away",
    "constant folding": "Share of the nodes that constant folding takes away",
    "arithmetic": "Share of the nodes that arithmetic optimisation takes away",
    "dependency": "Share of the nodes that dependency optimisation takes away",
    "arithmetic and dependency": "Share of the nodes that arithmetic and dependency optimisation take away together",
    "expensive": "Of the nodes taken away, expensive ones",
    "cheap": "Of the nodes taken away, cheap ones",
    "no op": "Of the nodes taken away, those that are no operation",
}

PROCESSOR = (
    "On a processor there is no device beside the host: *computes* is the share of a step in which some operation ran, "
    "the rest is the framework's own code between operations, or nothing; *started* counts operations, where a GPU has "
    "kernels."
)

TRACED = (
    "Shares are of typical steps under the profiler, which lengthens dispatch in some frameworks; the interval is over "
    "rounds of traces. Counts of a graph are the same in every round."
)


def parts(study: StudyOutcome, published: PublishedStudy) -> list[Section]:
    """Return a table for each thing that the study is about, and what became of each graph."""
    if not published.parts:
        return []
    lines = [one for one in part_lines(study, published) if one.published or one.measured]
    found = [
        Section(title=_TITLES[of], tables=[_table([one for one in lines if one.of == of])]) for of in published.parts
    ]
    here = study.study.reproduces
    is_processor = here is not None and here.kind == "cpu"
    said = [TRACED, *([PROCESSOR] if is_processor and {"compute", "launches"} & {*published.parts} else [])]
    return [
        *found,
        *(_graphs(study, published) if is_of_graphs(published) else []),
        Section(title="How steps were traced", words=said),
        *_holes(lines),
    ]


def _graphs(study: StudyOutcome, published: PublishedStudy) -> list[Section]:
    """Return what became of each graph, and what its compiler says beside."""
    known = graph_lines(study, published)
    stages = stages_table([(name, one.stages) for name, one in known])
    tables = [("What became of each graph", stages, [CLASSES]), ("What each compiler says of it", _facts(known), [])]
    return [Section(title=title, tables=[table], notes=notes) for title, table, notes in tables if table.lines]


def parts_shape(study: StudyOutcome, published: PublishedStudy) -> Table:
    """Return the document's table of shares as it is there: a line for each comparison, ours beside each column.

    A column is of one row; what the document says of every row alike is none of its table.
    """
    columns = list(dict.fromkeys((one.of, one.row) for each in published.comparisons for one in each.parts if one.row))
    lines = {(one.comparison, one.of, one.row): one for one in part_lines(study, published)}
    several = len({of for of, _ in columns}) > 1, len({row for _, row in columns}) > 1
    heads = [head for of, row in columns for head in _heads(of, row, *several)]
    found = []
    for declared, _ in both(study, published):
        cells = [cell for of, row in columns for cell in _beside(lines.get((declared.name, of, row)))]
        found.append(Line([declared.shown or declared.name, *cells]))
    return Table(["", *heads], found if columns else [])


def _heads(of: PartOf, row: str, has_parts: bool, has_rows: bool) -> list[str]:  # noqa: FBT001 - what tells columns apart
    """Return the heads of a document's column and of ours: by what tells columns apart."""
    name = f"{row}, {of}" if has_parts and has_rows else of if has_parts else row
    unit = "" if of == "launches" else " (%)"
    return [f"{name}{unit} there", f"{name}{unit} here"]


def _beside(line: PartLine | None) -> list[str]:
    """Return a figure as printed, and ours with its interval; empty of what the document has not."""
    if line is None:
        return ["", ""]
    _, there, here, ends = (cell.replace(" %", "") for cell in _cells(line))
    return ["" if line.published is None else there, f"{here} ({ends})" if ends else here]


def is_of_graphs(published: PublishedStudy) -> bool:
    """Return whether a study is about graphs, and not about a step's time alone."""
    return bool({*published.parts} - OF_STEPS)


def _table(lines: list[PartLine]) -> Table:
    """Return published beside measured."""
    heads = ["comparison", "published", "here", "95 % CI"]
    return Table(heads, [Line(_cells(one)) for one in lines], right=(1, 2, 3))


def _cells(line: PartLine) -> list[str]:
    """Return one row in one comparison."""
    name = f"{line.comparison}, {line.row}"
    there = "no number" if line.published is None else line.published.printed()
    if line.measured is None:
        return [name, there, "not measured", ""]
    known = line.measured.interval
    ends = f"{_value(known.low, line)} to {_value(known.high, line)}" if known else ""
    return [name, there, _value(line.measured.mean, line), ends]


def _value(value: float, line: PartLine) -> str:
    """Return our figure; what is in percent may be far below one, as it is in the document."""
    if line.of == "launches":
        return f"{value:,.0f}"
    return f"{100 * value:.3g} %" if value else "0 %"


def _facts(known: list[tuple[str, ContenderProfile]]) -> Table:
    """Return fusions, graphs and their breaks, of the frameworks that tell them."""
    names = ("fusions", "fused_kernels", "graphs", "graph_breaks", "instructions_before", "instructions_after")
    lines = [
        Line([name, *("" if fact is None else f"{fact:,}" for fact in map(one.facts.get, names))])
        for name, one in known
    ]
    heads = ["graph", "fusions", "fused kernels", "graphs", "graph breaks", "before, as it ran", "after, as it ran"]
    return Table(heads, lines, right=tuple(range(1, len(heads))))


def _holes(lines: list[PartLine]) -> list[Section]:
    """Return why figures are missing, each reason once."""
    reasons: dict[str, list[str]] = {}
    for one in lines:
        if one.hole:
            reasons.setdefault(one.hole, []).append(f"{one.row} ({one.comparison})")
    said = [f"No figure of {listed(dict.fromkeys(rows))}: {why}." for why, rows in reasons.items()]
    return [Section(title="Figures that are missing", words=said)] if said else []


def headline_of_parts(study: StudyOutcome, published: PublishedStudy) -> str:
    """Return how many of the published figures have a measured one beside them, and the first of them."""
    printed = [one for one in part_lines(study, published) if one.published is not None]
    known = [one for one in printed if one.measured is not None]
    where = f"{published.document.number} of {published.document.name}"
    start = f"{where[0].upper()}{where[1:]}: {len(known)} of {len(printed)} lines with a figure have ours beside it"
    spans = []
    for of in dict.fromkeys(one.of for one in known):
        mine = [one for one in known if one.of == of]
        there = [one.published.value / one.scale for one in mine if one.published]
        here = [one.measured.mean for one in mine if one.measured]
        spans.append(f"{_TITLES[of].lower()}: {_span(there, mine[0])} there, {_span(here, mine[0])} here")
    return f"{start}{'; ' if spans else ''}{'; '.join(spans[:2])}."


def _span(values: list[float], line: PartLine) -> str:
    """Return the least and the most."""
    low, high = _value(min(values), line), _value(max(values), line)
    return low if low == high else f"{low} to {high}"

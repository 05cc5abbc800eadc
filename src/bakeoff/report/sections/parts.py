"""The parts of a gap: kinds of operations and layers of the model, contenders side by side, and their pictures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.judge.gap import LEAST_SHARE
from bakeoff.report.gaps import by_size, labels_of, main_gap, named, pictured, scale_of
from bakeoff.report.page import Line, Picture, Section, Table
from bakeoff.report.pictures.layers import branches, layers_chart
from bakeoff.report.pictures.waterfall import bars, waterfall_chart
from bakeoff.report.units import percent, rounded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bakeoff.judge.explanation import Explanation, Gap, Row, RowKey
    from bakeoff.report.gaps import TimeFormat

MOST_LINES = 8
"""Of a table that stands open: with the gap's picture below it, a screen holds no more; the page has all lines."""

NOT_APART = "not told apart"

_KINDS_NOTE = (
    "Each contender's shares of typical traced steps, scaled to its raced step time, so that the lines of a column "
    "have the step as their sum. Interval: of the difference, so wide that all lines hold at once. Not told apart: it "
    f"holds 0, or the line is below {percent(LEAST_SHARE)} of a step. Data movement: copies, transpositions, casts, "
    "gathers. Host dispatch: the framework's own code ran, and no operation."
)


class _Side(NamedTuple):
    """One line of a table with all contenders side by side."""

    name: str
    times_s: dict[str, float]
    main: Row | None
    """The line in the main gap; None of several lines together."""


def kinds(explanation: Explanation) -> list[Section]:
    """Return the way from one step time to the other in the main gap, and the table by kind of operation."""
    main = main_gap(explanation)
    if main is None:
        return []
    table = _side_by_side(explanation, "kind of operation", lambda gap: gap.by_kind)
    return [_waterfall(explanation, main), Section(title="By kind of operation", tables=[table], notes=[_KINDS_NOTE])]


def layers(explanation: Explanation) -> list[Section]:
    """Return the table by layer, and the model's tree of the main gap; why not, where it is not known by layers."""
    main = main_gap(explanation)
    if main is None:
        return []
    if not main.by_layer:
        return [Section(words=[_no_layers(explanation, main)])]
    table = _side_by_side(explanation, "layer", lambda gap: gap.by_layer)
    return [Section(title="By layer of the model", tables=[table]), *_tree(explanation, main)]


def others(explanation: Explanation) -> list[Section]:
    """Return the pictures of each other gap that is drawn."""
    found = []
    for gap in pictured(explanation)[1:]:
        found += [_waterfall(explanation, gap), *_tree(explanation, gap)]
    return found


def _no_layers(explanation: Explanation, gap: Gap) -> str:
    """Return why a gap is not known by layers."""
    without = {one.label: one.reason for one in explanation.profiles if one.level != "layers"}
    reasons = [f"{label}: {without[label]}" for label in (gap.first, gap.second) if without.get(label)]
    why = f" ({'; '.join(reasons)})" if reasons else ""
    return f"{gap.second} and {gap.first} cannot be held against each other by layer{why}."


# --- Tables -------------------------------------------------------------------------------------------------------


def _side_by_side(explanation: Explanation, head: str, rows: Callable[[Gap], list[Row]]) -> Table:
    """Return the lines in which contenders differ most, the others in one, and the whole step."""
    main, labels = main_gap(explanation), labels_of(explanation)
    assert main is not None
    gaps = [gap for gap in explanation.gaps if rows(gap)]
    labels = [label for label in labels if any(label in (gap.first, gap.second) for gap in gaps)]
    scale = scale_of([main])
    sides = _sides(gaps, main, labels, rows)
    shown, rest = sides[:MOST_LINES], sides[MOST_LINES:]
    if len(rest) == 1:
        shown, rest = sides, []
    lines = [_line(side, labels, main, scale) for side in shown]
    if rest:
        together = {label: math.fsum(side.times_s[label] for side in rest) for label in labels}
        lines.append(_line(_Side(f"{len(rest)} others", together, None), labels, main, scale))
    whole = {label: time for gap in gaps for label, time in ((gap.first, gap.first_s), (gap.second, gap.second_s))}
    lines.append(_line(_Side("the step", whole, None), labels, main, scale))
    apart = "difference" if len(labels) <= len((main.first, main.second)) else f"{main.second} - {main.first}"
    heads = [head, *(f"{label}, {scale.unit.name}" for label in labels), apart, "interval"]
    return Table(heads, lines, right=tuple(range(1, len(heads))))


def _sides(gaps: Sequence[Gap], main: Gap, labels: Sequence[str], rows: Callable[[Gap], list[Row]]) -> list[_Side]:
    """Return a line for each part that any gap has, what differs most first; what nobody names took no time."""
    found: dict[RowKey, list[tuple[Gap, Row]]] = {}
    for gap in gaps:
        for row in rows(gap):
            found.setdefault(row.place, []).append((gap, row))
    mine = {row.place: row for row in rows(main)}
    sides = []
    for place, known in found.items():
        times = dict.fromkeys(labels, 0.0)
        for gap, row in known:
            times |= {gap.first: row.first_s, gap.second: row.second_s}
        sides.append(_Side(named(known[0][1]), times, mine.get(place)))
    return sorted(sides, key=lambda side: min(side.times_s.values()) - max(side.times_s.values()))


def _line(side: _Side, labels: Sequence[str], main: Gap, scale: TimeFormat) -> Line:
    """Return a line, marked where its difference in the main gap is more than chance."""
    apart = scale.signed(side.times_s[main.second] - side.times_s[main.first])
    is_known = side.main is not None and side.main.told_apart
    said = "" if side.main is None else _interval(side.main, scale)
    if side.main is not None and side.main.difference_s is not None and not is_known:
        said = NOT_APART
    times = [scale.text(side.times_s[label]) for label in labels]
    return Line([side.name, *times, apart, said], marked=is_known)


def _interval(row: Row, scale: TimeFormat) -> str:
    """Return the interval of a difference, where there were rounds enough for one."""
    known = row.difference_s
    return f"{scale.signed(known.low)} to {scale.signed(known.high)}" if known else "too few rounds"


def _pair_table(gap: Gap, head: str, rows: Sequence[Row]) -> Table:
    """Return all that is known of the parts of one gap."""
    scale = scale_of([gap])
    pair = (gap.first, gap.second)
    heads = [head, *(f"{label}, {scale.unit.name}" for label in pair), "difference", "interval", "told apart"]
    heads += [*(f"operations, {label}" for label in pair), "placed by a rule"]
    lines = [
        Line(
            [
                named(row),
                scale.text(row.first_s),
                scale.text(row.second_s),
                scale.signed(row.gap_s),
                _interval(row, scale),
                "yes" if row.told_apart else "no",
                *map(_started, (row.first_launches, row.second_launches)),
                percent(row.inferred_share),
            ],
            marked=row.told_apart,
        )
        for row in by_size(rows)
    ]
    return Table(heads, lines)


def _started(launches: float) -> str:
    """Return how many operations were started in a step; an average may have a fraction."""
    return f"{launches:,.0f}" if launches == int(launches) else rounded(launches, 3)


# --- Pictures -----------------------------------------------------------------------------------------------------


def _waterfall(explanation: Explanation, gap: Gap) -> Section:
    """Return the way from one step time to the other, with all of its parts in a table."""
    scale = scale_of([gap])
    ends = [f"{scale.text(time)} {scale.unit.name}" for time in (gap.first_s, gap.second_s)]
    parts = [f"{bar.name} {scale.difference(bar.end_s - bar.start_s)}" for bar in bars(gap)]
    finding = f"From {gap.first}'s step of {ends[0]} to {gap.second}'s of {ends[1]}: {', '.join(parts)}."
    picture = Picture(finding, lambda width: waterfall_chart(explanation, gap, width))
    table = _pair_table(gap, "kind of operation", gap.by_kind)
    return Section(kind="page", picture=picture, tables=[table])


def _tree(explanation: Explanation, gap: Gap) -> list[Section]:
    """Return the model's tree with what lies where, and all layers in a table; nothing where layers are not known."""
    found = branches(gap)
    if not found:
        return []
    scale = scale_of([gap])
    parts = [f"{branch.path} {scale.difference(branch.difference_s)}" for branch in found]
    finding = f"What {gap.second} spends more than {gap.first} in each part of the model: {', '.join(parts)}."
    picture = Picture(finding, lambda width: layers_chart(explanation, gap, width))
    return [Section(kind="page", picture=picture, tables=[_pair_table(gap, "layer", gap.by_layer)])]

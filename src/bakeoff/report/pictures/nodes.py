"""A document's figure of graphs: of each network, the shares of its nodes that passes take away, there and here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bakeoff.environments.declared import frameworks
from bakeoff.judge.reproduced_parts import TOGETHER, part_lines
from bakeoff.report.pictures import WIDE, altair, drawn, is_narrow
from bakeoff.report.pictures.colours import GREY, pale, seen
from bakeoff.report.pictures.legends import legend
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.parts import OF_STEPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.study import StudyOutcome
    from bakeoff.report.pictures import Chart, Mark
    from bakeoff.spec.published import PublishedStudy

_HEIGHT = 150
_BESIDE, _APART = 54, 28
"""Pixels that a panel's upright axis takes, and between two panels."""
_SHADES = (1.0, 0.7, 0.45, 0.2, 0.05)
"""Of the first, second, ... part, which all have the border of one colour: filled paler."""
_TURNED = 3
"""Groups from which on their names stand upright to have room."""
_PUBLISHED, _MEASURED = "published", "measured here"


def shares_there(published: PublishedStudy) -> list[Mark]:
    """Return the published bars, in percent: what the document's text states of each network."""
    bars = _bars(published)
    return [
        {"group": declared.shown or declared.name, "part": one.of, "share": one.value}
        for declared in published.comparisons
        for one in declared.parts
        if one.row and one.of in bars
    ]


def shares_here(study: StudyOutcome, published: PublishedStudy) -> list[Mark]:
    """Return our bars, in percent, of the rows that the document has figures of; below 0 where a pass adds nodes."""
    bars, rows = _bars(published), _rows(published)
    names = {declared.name: declared.shown or declared.name for declared in published.comparisons}
    return [
        {"group": names[line.comparison], "part": line.of, "share": 100.0 * line.measured.mean}
        for line in part_lines(study, published)
        if line.measured and line.row in rows and line.of in bars
    ]


def _bars(published: PublishedStudy) -> list[str]:
    """Return what has a bar in each group: every part of a graph; what passes do together is in them one by one."""
    return [of for of in published.parts if of not in OF_STEPS and TOGETHER not in of]


def _rows(published: PublishedStudy) -> list[str]:
    """Return the rows that the document has figures of."""
    return list(dict.fromkeys(one.row for declared in published.comparisons for one in declared.parts if one.row))


def nodes_finding(study: StudyOutcome, published: PublishedStudy) -> str:
    """Return every bar in words, there and here."""
    there, here = (
        ", ".join(f"{one['group']} {one['part']} {one['share']:.3g} %" for one in marks) or "none"
        for marks in (shares_there(published), shares_here(study, published))
    )
    return f"Share of a graph's nodes, {_PUBLISHED}: {there}. {_MEASURED.capitalize()}: {here}."


def nodes_chart(study: StudyOutcome, published: PublishedStudy, width: int = WIDE) -> Chart:
    """Draw the document's bars on the left and ours on the right, or below them where there is little room."""
    alt = altair()
    panel_px = width - _BESIDE if is_narrow(width) else (width - _APART) / 2 - _BESIDE
    join = partial(alt.vconcat, spacing=16) if is_narrow(width) else partial(alt.hconcat, spacing=_APART)
    groups = [declared.shown or declared.name for declared in published.comparisons]
    parts = ((shares_there(published), _PUBLISHED), (shares_here(study, published), _MEASURED))
    drawings = [_panel(marks, groups, published, where, width) for marks, where in parts]
    name = f"{published.document.name}, {published.document.number}"
    lines = [
        "bar: share of a graph's nodes that is taken away; below 0: nodes are added",
        f"{_PUBLISHED}: what the text states; {_MEASURED}: counted, the same in every round",
    ]
    whole = join(*(one.properties(width=panel_px) for one in drawings), title=alt.Title(name, subtitle=lines))
    return whole.resolve_scale(xOffset="independent")


def _panel(marks: list[Mark], groups: Sequence[str], published: PublishedStudy, where: str, width: int) -> Chart:
    """Draw one panel: a group of bars for each network."""
    alt = altair()
    head = alt.Title(where, fontSize=13)
    if not marks:
        nothing = drawn([{}]).mark_text().encode(text=alt.value("no figure"))
        return nothing.properties(height=_HEIGHT, title=head)
    angle = -40 if len(groups) > _TURNED else 0
    x = alt.X("group:O", title=None, scale=alt.Scale(domain=groups), axis=alt.Axis(labelAngle=angle))
    axis = alt.Axis(title="% of nodes", format=",~r", tickCount=5)
    y = alt.Y("share:Q", axis=axis, stack=None)
    bars = drawn(marks).mark_bar(strokeWidth=1.5).encode(x=x, y=y, **_look(published, width))
    zero = drawn([{"zero": 0.0}]).mark_rule(opacity=0.7).encode(y=alt.Y("zero:Q", axis=axis))
    return alt.layer(bars, zero).properties(height=_HEIGHT, title=head)


def _look(published: PublishedStudy, width: int) -> dict[str, Any]:
    """Return the encodings of the parts: place within a group, fill and border, in the framework's colour."""
    alt = altair()
    bars, known = _bars(published), frameworks()
    names = [parse_contender(published.row(row).contender).framework for row in _rows(published)[:1]]
    colour = next((known[name].info.colour for name in names if name in known), GREY)
    fills = [pale(colour, _SHADES[min(place, len(_SHADES) - 1)]) for place in range(len(bars))]
    entries = legend(bars, width, symbolType="square", symbolSize=160)
    return {
        "xOffset": alt.XOffset("part:N", sort=bars, scale=alt.Scale(domain=bars)),
        "fill": alt.Fill("part:N", scale=alt.Scale(domain=bars, range=fills), legend=entries),
        "stroke": alt.Stroke("part:N", scale=alt.Scale(domain=bars, range=[seen(colour)] * len(bars)), legend=entries),
    }

"""A document's figure as the document draws it, in groups of bars: published on the left, measured on the right."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from bakeoff.environments.declared import frameworks
from bakeoff.judge import reproduction
from bakeoff.report.pictures import WIDE, altair, drawn, is_narrow
from bakeoff.report.pictures.colours import GREY, pale, seen
from bakeoff.report.pictures.legends import legend
from bakeoff.report.standings import throughput
from bakeoff.report.units import listed, rounded
from bakeoff.spec.contender import parse_contender

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.study import PointOutcome, StudyOutcome
    from bakeoff.report.pictures import Chart, Mark
    from bakeoff.spec.published import Declared, Figure, PublishedStudy

_HEIGHT = 150
_BESIDE, _APART = 54, 28
"""Pixels that a panel's upright axis takes, and between two panels."""
_SHADES = (1.0, 0.5, 0.1)
"""Of the first, second, third row of one framework, which all have the border of its one colour: filled paler."""
_PUBLISHED, _MEASURED = "published", "measured here"
_TURNED = 3
"""Groups with names of words, from which on the names stand upright to have room."""


class _Panel(NamedTuple):
    """One part of the figure."""

    title: str
    comparisons: list[Declared]
    rows: list[str]


def _panels(published: PublishedStudy) -> list[_Panel]:
    """Return the parts of a document's figure: those that its file names, or one for each workload."""
    rows = [row.name for row in published.rows]
    drawing = published.drawing
    if drawing.groups == "comparison":
        named = [(one.title, list(one.rows)) for one in drawing.panels] or [("", rows)]
        return [_Panel(title, list(published.comparisons), mine) for title, mine in named]
    return [
        _of_workload(published, workload, rows)
        for workload in dict.fromkeys(declared.workload for declared in published.comparisons)
    ]


def _of_workload(published: PublishedStudy, workload: str, rows: list[str]) -> _Panel:
    """Return the part with all batch sizes of a workload, by the document's name for it."""
    mine = [one for one in published.comparisons if one.workload == workload]
    return _Panel(mine[0].shown or workload, mine, rows)


# --- Marks --------------------------------------------------------------------------------------------------------


def speeds_there(published: PublishedStudy) -> list[Mark]:
    """Return the published bars: in samples a second, or over a panel's first row where the figure is relative."""
    return [one for panel in _panels(published) for one in _there(published, panel)]


def speeds_here(study: StudyOutcome, published: PublishedStudy) -> list[Mark]:
    """Return our bars with their intervals, likewise."""
    return [one for panel in _panels(published) for one in _here(study, published, panel)]


def _there(published: PublishedStudy, panel: _Panel) -> list[Mark]:
    """Return the published bars of one panel."""
    if published.drawing.relative:
        return [one for declared in panel.comparisons for one in _relative_there(published, panel, declared)]
    return [
        _place(published, panel, declared, declared.batch_size, figure.row)
        | {"speed": _speed(published, declared, figure)}
        for declared in panel.comparisons
        for figure in declared.figures
        if figure.row in panel.rows
    ]


def _speed(published: PublishedStudy, declared: Declared, figure: Figure) -> float:
    """Return a figure as samples a second, those of all of its row's devices."""
    samples = declared.batch_size * published.row(figure.row).devices
    return samples / reproduction.published_step_s(published, declared, figure)


def _relative_there(published: PublishedStudy, panel: _Panel, declared: Declared) -> list[Mark]:
    """Return the bars of one group whose length the document's figures or its text state."""
    base, *others = panel.rows
    stated = {row: speed for row in others if (speed := _stated(published, declared, row, base)) is not None}
    if not stated:
        return []
    place = partial(_place, published, panel, declared, declared.batch_size)
    return [place(base) | {"speed": 1.0}, *(place(row) | {"speed": speed} for row, speed in stated.items())]


def _stated(published: PublishedStudy, declared: Declared, row: str, base: str) -> float | None:
    """Return a row's speed over another's as the document gives it for one comparison; None where it does not."""
    known = {one.row: reproduction.published_step_s(published, declared, one) for one in declared.figures}
    if row in known and base in known:
        return known[base] / known[row]
    for claim in published.claims:
        if claim.kind == "mean" and claim.of == "speed" and claim.comparisons == (declared.name,):
            speed = 1.0 + claim.percent / 100.0
            if (claim.first, claim.second) == (row, base):
                return speed
            if (claim.first, claim.second) == (base, row):
                return 1.0 / speed
    return None


def _here(study: StudyOutcome, published: PublishedStudy, panel: _Panel) -> list[Mark]:
    """Return our bars of one panel."""
    mine = {declared.name for declared in panel.comparisons}
    asked = [(declared, one) for declared, one in reproduction.both(study, published) if declared.name in mine]
    found = [_bar(published, panel, declared, one, row) for declared, one in asked for row in panel.rows]
    return [one for one in found if one]


def _bar(published: PublishedStudy, panel: _Panel, declared: Declared, one: PointOutcome, row: str) -> Mark | None:
    """Return one of our bars; None where there is a hole."""
    known = reproduction.contender_of(one, row)
    if known is None or known.samples_per_s is None or one.outcome is None:
        return None
    batch_size = one.outcome.comparison.batch_size
    place = _place(published, panel, declared, batch_size, row)
    if not published.drawing.relative:
        interval = throughput(known, batch_size)
        ends = {"low": interval.low, "high": interval.high} if interval else {}
        return place | {"speed": known.samples_per_s} | ends
    base = panel.rows[0]
    if row == base:
        return place | {"speed": 1.0}
    verdict = reproduction.verdict_on(one, base, row)
    if verdict is None or verdict.ratio is None:
        return None
    ends = {} if verdict.low is None or verdict.high is None else {"low": verdict.low, "high": verdict.high}
    return place | {"speed": verdict.ratio} | ends


def _place(published: PublishedStudy, panel: _Panel, declared: Declared, batch_size: int, row: str) -> Mark:
    """Return the place of a bar."""
    is_batch = published.drawing.groups == "batch"
    group = batch_size if is_batch else declared.shown or declared.name
    return {"panel": panel.title, "workload": declared.workload, "batch": batch_size, "group": group, "row": row}


# --- Words --------------------------------------------------------------------------------------------------------


def bars_finding(study: StudyOutcome, published: PublishedStudy) -> str:
    """Return every bar in words, there and here."""
    there, here = _said(published, speeds_there(published)), _said(published, speeds_here(study, published))
    return f"{_quantity(published)}, {_PUBLISHED}: {there}. {_MEASURED.capitalize()}: {here}."


def _quantity(published: PublishedStudy) -> str:
    """Return what a bar's length is."""
    return "Speed over the first" if published.drawing.relative else "Images/s"


def _said(published: PublishedStudy, points: list[Mark]) -> str:
    """Return every bar in words."""
    is_batch = published.drawing.groups == "batch"
    names = [f"{one['workload']} batch {one['batch']}" if is_batch else str(one["group"]) for one in points]
    told = [f"{name} {one['row']} {rounded(one['speed'], 3)}" for name, one in zip(names, points, strict=True)]
    return ", ".join(told) or "none"


def _title(study: StudyOutcome, published: PublishedStudy) -> Any:
    """Return on what the bars were measured, and which of them the document has numbers for."""
    alt = altair()
    here = study.study.reproduces
    assert here is not None
    groups = dict.fromkeys(str(point["group"]) for point in speeds_there(published))
    kind = "batch " if published.drawing.groups == "batch" else ""
    printed = f"numbers stated for {kind}{listed(groups)} only" if groups else "no numbers stated"
    scaled = ", scaled down" if here.scaled else ""
    bar = "speed over that of its group's first" if published.drawing.relative else "median over rounds"
    axes = "every panel has its own scale" if not published.drawing.relative else "1 is as fast"
    lines = [
        f"published: {published.machines[0].name}, {printed}",
        f"measured: {here.device}{scaled}",
        f"bar: {bar}, with its 95 % interval; {axes}",
    ]
    name = f"{published.document.name}, {published.document.number}"
    return alt.Title(f"Beside {name}, which has no speeds" if published.is_of_parts() else name, subtitle=lines)


# --- Drawing ------------------------------------------------------------------------------------------------------


def bars_chart(study: StudyOutcome, published: PublishedStudy, width: int = WIDE) -> Chart:
    """Draw the document's bars on the left and ours on the right, one line of panels for each part of its figure."""
    alt = altair()
    panel_px = width - _BESIDE if is_narrow(width) else (width - _APART) / 2 - _BESIDE
    join = partial(alt.vconcat, spacing=16) if is_narrow(width) else partial(alt.hconcat, spacing=_APART)
    lines = []
    for panel in _panels(published):
        parts = [
            (_there(published, panel), _groups_there(published, panel), _PUBLISHED),
            (_here(study, published, panel), _groups_here(study, published, panel), _MEASURED),
        ]
        drawings = [_panel(points, groups, published, panel, where, width) for points, groups, where in parts]
        line = join(*(one.properties(width=panel_px) for one in drawings))
        lines.append(line.resolve_scale(xOffset="independent"))
    whole = alt.vconcat(*lines, spacing=24, title=_title(study, published))
    return whole.resolve_scale(xOffset="independent")


def _groups_there(published: PublishedStudy, panel: _Panel) -> list[int | str]:
    """Return the groups along the bottom of a published panel: all that the document draws."""
    is_batch = published.drawing.groups == "batch"
    return [one.batch_size if is_batch else one.shown or one.name for one in panel.comparisons]


def _groups_here(study: StudyOutcome, published: PublishedStudy, panel: _Panel) -> list[int | str]:
    """Return the groups along the bottom of a measured panel: all that were asked for."""
    if published.drawing.groups != "batch":
        return _groups_there(published, panel)
    mine = {declared.name for declared in panel.comparisons}
    both = reproduction.both(study, published)
    sizes = [one.point.request.batch_size for declared, one in both if declared.name in mine]
    return [size for size in sizes if size is not None]


def _panel(
    points: list[Mark], groups: Sequence[int | str], published: PublishedStudy, panel: _Panel, where: str, width: int
) -> Chart:
    """Draw one panel: its groups of bars, in the document's order of rows."""
    alt = altair()
    head = alt.Title(", ".join(part for part in (panel.title, where) if part), fontSize=13)
    if not points:
        nothing = drawn([{}]).mark_text().encode(text=alt.value("no figure"))
        return nothing.properties(height=_HEIGHT, title=head)
    is_batch = published.drawing.groups == "batch"
    angle = -40 if not is_batch and len(groups) > _TURNED else 0
    x = alt.X(
        "group:O",
        title="batch size" if is_batch else None,
        scale=alt.Scale(domain=groups),
        axis=alt.Axis(labelAngle=angle),
    )
    look = _look(published, panel.rows, width)
    axis = alt.Axis(
        title=f"over {panel.rows[0]}" if published.drawing.relative else "images/s", format=",~r", tickCount=5
    )
    base = drawn(points).encode(x=x, xOffset=look.pop("xOffset"))
    bars = base.mark_bar(strokeWidth=1.5).encode(y=alt.Y("speed:Q", axis=axis, stack=None), **look)
    ends = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5)
    layers = [bars, ends.encode(y=alt.Y("low:Q", axis=axis), y2="high:Q")]
    if published.drawing.relative:
        layers.append(drawn([{"one": 1.0}]).mark_rule(opacity=0.7).encode(y=alt.Y("one:Q", axis=axis)))
    return alt.layer(*layers).properties(height=_HEIGHT, title=head)


def _look(published: PublishedStudy, rows: list[str], width: int) -> dict[str, Any]:
    """Return the encodings of a panel's rows: place within a group, fill and border."""
    alt = altair()
    looks = _looks(published)
    # Charts that stand together share their colours, so that all of them have every row.
    names = list(looks)
    fills, strokes = ([look[index] for look in looks.values()] for index in (0, 1))
    entries = legend(names, width, symbolType="square", symbolSize=160)
    return {
        "xOffset": alt.XOffset("row:N", sort=rows, scale=alt.Scale(domain=rows)),
        "fill": alt.Fill("row:N", scale=alt.Scale(domain=names, range=fills), legend=entries),
        "stroke": alt.Stroke("row:N", scale=alt.Scale(domain=names, range=strokes), legend=entries),
    }


def _looks(published: PublishedStudy) -> dict[str, tuple[str, str]]:
    """Return fill and border of each row: one colour for each framework, its rows filled paler and paler."""
    known = frameworks()
    names = [parse_contender(row.contender).framework for row in published.rows]
    colours = [known[name].info.colour if name in known else GREY for name in names]
    shades = [_SHADES[min(names[:index].count(name), len(_SHADES) - 1)] for index, name in enumerate(names)]
    found = [(pale(colour, shade), seen(colour)) for colour, shade in zip(colours, shades, strict=True)]
    return {row.name: look for row, look in zip(published.rows, found, strict=True)}

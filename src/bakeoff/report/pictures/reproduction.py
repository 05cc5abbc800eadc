"""Published beside measured as pictures: the bars of a document's figure, and the ratio of every pair."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bakeoff.environments.declared import frameworks
from bakeoff.judge import reproduction
from bakeoff.report.pictures import WIDE, altair, drawn, is_narrow, ratio_ticks, spaced
from bakeoff.report.pictures.colours import GREY, pale, seen
from bakeoff.report.pictures.legends import legend
from bakeoff.report.pictures.rows import rows
from bakeoff.report.standings import throughput
from bakeoff.report.units import listed, rounded
from bakeoff.spec.contender import parse_contender

if TYPE_CHECKING:
    from bakeoff.judge.reproduction import PublishedPair
    from bakeoff.judge.study import PointOutcome, StudyOutcome
    from bakeoff.report.pictures import Chart, Mark
    from bakeoff.spec.published import Declared, PublishedStudy

_HEIGHT = 150
_BESIDE, _APART = 54, 28
"""Pixels that a panel's upright axis takes, and between two panels."""
_ROW, _STRIP = 34, 9
"""Pixels for the two marks of a pair, and from the middle up to the first and down to the second."""
_SHADES = (1.0, 0.5, 0.1)
"""Of the first, second, third row of one framework, which all have the border of its one colour: filled paler."""
_PUBLISHED, _MEASURED = "published", "measured here"


# --- Bars ---------------------------------------------------------------------------------------------------------


def speeds_there(published: PublishedStudy) -> list[Mark]:
    """Return the published speeds, in samples a second."""
    return [
        _point(declared, declared.batch_size, figure.row)
        | {"speed": declared.batch_size / reproduction.published_step_s(published, declared, figure)}
        for declared in published.comparisons
        for figure in declared.figures
    ]


def speeds_here(study: StudyOutcome, published: PublishedStudy) -> list[Mark]:
    """Return our speeds with their intervals, in samples a second."""
    return [
        point
        for declared, one in reproduction.both(study, published)
        for row in published.rows
        if (point := _speed(declared, one, row.name))
    ]


def _speed(declared: Declared, one: PointOutcome, row: str) -> Mark | None:
    """Return one of our bars; None where there is a hole."""
    known = reproduction.contender_of(one, row)
    if known is None or known.samples_per_s is None or one.outcome is None:
        return None
    batch_size = one.outcome.comparison.batch_size
    found = _point(declared, batch_size, row) | {"speed": known.samples_per_s}
    if (interval := throughput(known, batch_size)) is not None:
        found |= {"low": interval.low, "high": interval.high}
    return found


def _point(declared: Declared, batch_size: int, row: str) -> Mark:
    """Return the place of a bar."""
    return {"workload": declared.workload, "batch": batch_size, "row": row}


def bars_finding(study: StudyOutcome, published: PublishedStudy) -> str:
    """Return every bar in words, there and here."""
    there, here = _said(speeds_there(published)), _said(speeds_here(study, published))
    return f"Images/s, {_PUBLISHED}: {there}. {_MEASURED.capitalize()}: {here}."


def _said(points: list[Mark]) -> str:
    """Return every bar in words."""
    told = [f"{one['workload']} batch {one['batch']} {one['row']} {rounded(one['speed'], 3)}" for one in points]
    return ", ".join(told) or "none"


def bars_chart(study: StudyOutcome, published: PublishedStudy, width: int = WIDE) -> Chart:
    """Draw the document's bars on the left and ours on the right, one line of panels for each network."""
    alt = altair()
    there, here = speeds_there(published), speeds_here(study, published)
    panel = width - _BESIDE if is_narrow(width) else (width - _APART) / 2 - _BESIDE
    join = partial(alt.vconcat, spacing=16) if is_narrow(width) else partial(alt.hconcat, spacing=_APART)
    lines = []
    for workload in dict.fromkeys(declared.workload for declared in published.comparisons):
        mine = [one for one in published.comparisons if one.workload == workload]
        sizes = [declared.batch_size for declared in mine]
        asked = [
            one.point.request.batch_size for declared, one in reproduction.both(study, published) if declared in mine
        ]
        ours = [size for size in asked if size is not None]
        left = _panel(_of(there, workload), sizes, published, f"{workload}, {_PUBLISHED}", width)
        right = _panel(_of(here, workload), ours, published, f"{workload}, {_MEASURED}", width)
        lines.append(join(*(one.properties(width=panel) for one in (left, right))))
    return alt.vconcat(*lines, spacing=24, title=_bars_title(study, published, there))


def _of(points: list[Mark], workload: str) -> list[Mark]:
    """Return the bars of one network."""
    return [point for point in points if point["workload"] == workload]


def _bars_title(study: StudyOutcome, published: PublishedStudy, there: list[Mark]) -> Any:
    """Return on what the bars were measured, and for which of them the document has numbers."""
    alt = altair()
    here = study.study.reproduces
    assert here is not None
    printed = listed(str(size) for size in sorted({point["batch"] for point in there}))
    scaled = ", scaled down" if here.scaled else ""
    lines = [
        f"published: {published.machines[0].name}, numbers printed for batch {printed} only",
        f"measured: {here.device}{scaled}",
        "bar: median over rounds, with its 95 % interval; every panel has its own scale",
    ]
    return alt.Title(f"{published.document.name}, {published.document.number}", subtitle=lines)


def _panel(points: list[Mark], sizes: list[int], published: PublishedStudy, title: str, width: int) -> Chart:
    """Draw one panel: a group of bars for each batch size, in the document's order of rows."""
    alt = altair()
    head = alt.Title(title, fontSize=13)
    if not points:
        nothing = drawn([{}]).mark_text().encode(text=alt.value("no figure"))
        return nothing.properties(height=_HEIGHT, title=head)
    names = [row.name for row in published.rows]
    looks = _looks(published)
    x = alt.X("batch:O", title="batch size", scale=alt.Scale(domain=sizes), axis=alt.Axis(labelAngle=0))
    offset = alt.XOffset("row:N", sort=names, scale=alt.Scale(domain=names))
    entries = legend(names, width, symbolType="square", symbolSize=160)
    fill = alt.Fill("row:N", scale=alt.Scale(domain=names, range=[look[0] for look in looks]), legend=entries)
    stroke = alt.Stroke("row:N", scale=alt.Scale(domain=names, range=[look[1] for look in looks]), legend=entries)
    axis = alt.Axis(title="images/s", format=",~r", tickCount=5)
    base = drawn(points).encode(x=x, xOffset=offset)
    bars = base.mark_bar(strokeWidth=1.5).encode(y=alt.Y("speed:Q", axis=axis, stack=None), fill=fill, stroke=stroke)
    ends = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5)
    layers = alt.layer(bars, ends.encode(y=alt.Y("low:Q", axis=axis), y2="high:Q"))
    return layers.properties(height=_HEIGHT, title=head)


def _looks(published: PublishedStudy) -> list[tuple[str, str]]:
    """Return fill and border of each row: one colour for each framework, its rows filled paler and paler."""
    known = frameworks()
    names = [parse_contender(row.contender).framework for row in published.rows]
    colours = [known[name].info.colour if name in known else GREY for name in names]
    shades = [_SHADES[min(names[:index].count(name), len(_SHADES) - 1)] for index, name in enumerate(names)]
    return [(pale(colour, shade), seen(colour)) for colour, shade in zip(colours, shades, strict=True)]


# --- Ratios -------------------------------------------------------------------------------------------------------


def ratios_chart(pairs: list[PublishedPair], width: int = WIDE, *, several: bool) -> Chart:
    """Draw the published ratio of each pair beside ours with its interval."""
    alt = altair()
    found = [_ratio_points(pair, several=several) for pair in pairs]
    layout = rows([(points[0]["pair"], "") for points in found], width, _ROW)
    points = [
        point | {"y": place + side * _STRIP}
        for both, place in zip(found, layout.places, strict=True)
        for side, point in zip((-1, 1), both, strict=True)
    ]
    ends = [point[key] for point in points for key in ("ratio", "low", "high") if point.get(key)]
    low, high = min([*ends, 1.0]) / 1.04, max([*ends, 1.0]) * 1.04
    scale = layout.scale(low, high, logarithmic=True)
    places = spaced(ratio_ticks(low, high), (low, high), (layout.right - layout.left) / 44)
    axis = alt.Axis(title="ratio of times, first over second", format=",~r", values=places)
    marks = alt.Scale(domain=[_PUBLISHED, _MEASURED], range=["diamond", "circle"])
    names = legend([_PUBLISHED, _MEASURED], width)
    base = drawn(points).encode(y=layout.y())
    ranges = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2)
    layers = [
        drawn([{"one": 1.0}]).mark_rule(opacity=0.7).encode(x=alt.X("one:Q", scale=scale, axis=axis)),
        ranges.encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q"),
        base.mark_point(size=90, strokeWidth=2, opacity=1).encode(
            x=alt.X("ratio:Q", scale=scale, axis=axis), shape=alt.Shape("where:N", scale=marks, legend=names)
        ),
    ]
    meaning = "published: with the range of its repeats, where there are several; measured: with its 95 % interval"
    return layout.chart(layers, alt.Title("Ratio by pair, published beside measured", subtitle=meaning))


def _ratio_points(pair: PublishedPair, *, several: bool) -> list[Mark]:
    """Return the two dots of a pair."""
    name = f"{pair.first} / {pair.second}, {pair.comparison}" + (f", {pair.machine}" if several else "")
    there: Mark = {"pair": name, "where": _PUBLISHED, "ratio": pair.published}
    if pair.published_range is not None:
        there |= dict(zip(("low", "high"), pair.published_range, strict=True))
    assert pair.verdict is not None
    ours: Mark = {"pair": name, "where": _MEASURED, "ratio": pair.verdict.ratio}
    if pair.verdict.low is not None and pair.verdict.high is not None:
        ours |= {"low": pair.verdict.low, "high": pair.verdict.high}
    return [there, ours]

"""The published ratio of every pair beside ours, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.pictures import WIDE, altair, drawn, ratio_ticks, spaced
from bakeoff.report.pictures.legends import legend
from bakeoff.report.pictures.rows import rows

if TYPE_CHECKING:
    from bakeoff.judge.reproduction import PublishedPair
    from bakeoff.report.pictures import Chart, Mark

_ROW, _STRIP = 34, 9
"""Pixels for the two marks of a pair, and from the middle up to the first and down to the second."""
_PUBLISHED, _MEASURED = "published", "measured here"


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

"""Ratios of pairs in rows: each with its interval against the band of equality, and the verdict in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.report.pictures import altair, drawn, ratio_ticks, spaced
from bakeoff.report.pictures.colours import GREY
from bakeoff.report.pictures.rows import rows
from bakeoff.report.units import percent

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bakeoff.report.pictures import Chart, Mark

_ROW = 18
"""Pixels for the marks of a pair."""
_TICK = 44
"""Pixels that a mark along the bottom needs, so that no label is on another."""
SHAPES = {
    "slower": ("triangle-right", "currentColor"),
    "faster": ("triangle-left", "currentColor"),
    "equal": ("circle", "currentColor"),
    "undecided": ("diamond", "transparent"),
    "no verdict": ("cross", "transparent"),
}
"""Of a verdict's mark: its form and its inside; what is open is hollow."""


BAND = {"fill": GREY, "fillOpacity": 0.25, "stroke": GREY, "strokeWidth": 1}
"""Of the band of equality: the edge is what is seen, the inside only shades."""


def meaning(levels: Collection[float | None]) -> str:
    """Return how the marks are read; `levels` are those of the intervals, None of those by the boundaries.

    The interval is that of a pair alone and does not decide, so that only the mark says what is decided.
    """
    known = {level for level in levels if level is not None}
    bar = f"{percent(known.pop())} CI" if len(known) == 1 and None not in levels else "interval"
    return f"grey band: practically equal; filled mark: decided, hollow: not; bar: {bar}"


def ratio_rows(points: Sequence[Mark], margin: float, width: int, title: Any) -> Chart:
    """Draw a row for each point: its `pair`, `ratio`, perhaps `low` and `high`, `verdict`, and `text`."""
    alt = altair()
    here = rows([(point["pair"], point["text"]) for point in points], width, _ROW)
    low, high = ratio_domain(points, margin)
    scale = here.scale(low, high, logarithmic=True)
    places = spaced(ratio_ticks(low, high), (low, high), (here.right - here.left) / _TICK)
    axis = alt.Axis(title=None, format=",~r", values=places)
    base = drawn([point | {"y": place} for point, place in zip(points, here.places, strict=True)]).encode(y=here.y())
    band = drawn([{"low": 1.0 / margin, "high": margin, "one": 1.0, "y": top, "end": end} for top, end in here.bands])
    band = band.encode(y=here.y(), y2="end:Q")
    kinds, looks = list(SHAPES), list(SHAPES.values())
    layers = [
        band.mark_rect(**BAND).encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q"),
        band.mark_rule(opacity=0.7).encode(x=alt.X("one:Q", scale=scale, axis=axis)),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q"),
        base.mark_point(size=90, opacity=1, strokeWidth=2).encode(
            x=alt.X("ratio:Q", scale=scale, axis=axis),
            shape=alt.Shape("verdict:N", scale=alt.Scale(domain=kinds, range=[look[0] for look in looks]), legend=None),
            fill=alt.Fill("verdict:N", scale=alt.Scale(domain=kinds, range=[look[1] for look in looks]), legend=None),
        ),
    ]
    return here.chart(layers, title)


def ratio_domain(points: Sequence[Mark], margin: float) -> tuple[float, float]:
    """Return the ends of the ratios' axis: the band of equality and every interval, with a little room."""
    low = min([1.0 / margin, *(point["low"] if "low" in point else point["ratio"] for point in points)])
    high = max([margin, *(point["high"] if "high" in point else point["ratio"] for point in points)])
    return low / 1.02, high * 1.02

"""The roofline: what memory and products of matrices allow, and where each contender stands under it.

After Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore architectures",
Communications of the ACM 52(4), 2009.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bakeoff.report.pictures import FONT_SIZE, WIDE, altair, drawn, looks, spaced, ticks
from bakeoff.report.pictures.colours import GREY
from bakeoff.report.standings import ranked
from bakeoff.report.units import percent, rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.light import Light, Peak
    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.report.pictures import Chart, Mark

HEIGHT = 300
"""Pixels."""
_APART = 17.0
"""Pixels between two lines of text."""
_LIFTED = 11.0
"""Pixels from a roof up to the middle of its label."""
_ROOM = 4.0
"""By this factor the axes reach beyond what is drawn."""
_LABELS = 1.6
"""Labels stand at this multiple of their point's place along the bottom."""
GIGA = 1e-9


def roofline_chart(outcome: Outcome, width: int = WIDE) -> Chart:
    """Draw the roof of each peak, and a point with its label for each contender."""
    alt = altair()
    points, roofs = _points(outcome), _roofs(outcome)
    (left, right), (_, high) = _domain([*points, *roofs], "x"), _domain([*points, *roofs], "y")
    low = _low(points, roofs, high)
    along, up = (spaced(ticks(*ends), ends, most) for ends, most in (((left, right), width / 60), ((low, high), 12)))
    x_axis = alt.Axis(title="MACs a byte of parameters, state and batch", values=along, format=",~r")
    y_axis = alt.Axis(title="GMAC/s", values=up, format=",~r")
    x_scale, y_scale = (alt.Scale(type="log", domain=list(ends), nice=False) for ends in ((left, right), (low, high)))
    x, y = alt.X("x:Q", scale=x_scale, axis=x_axis), alt.Y("y:Q", scale=y_scale, axis=y_axis)
    _spread(roofs, points, math.log(high / low) / HEIGHT)
    inside = math.log(right / left) / (width - 60)
    for point in points:
        _turn(point, right, inside)
    on_left, on_right = (
        [point for point in points if (point["label_x"] < point["x"]) is turned] for turned in (True, False)
    )
    names = looks(outcome.contenders)
    scale = {part: [getattr(names[point["contender"]], part) for point in points] for part in ("colour", "shape")}
    domain = [point["contender"] for point in points]
    colour = alt.Color("contender:N", scale=alt.Scale(domain=domain, range=scale["colour"]), legend=None)
    shape = alt.Shape("contender:N", scale=alt.Scale(domain=domain, range=scale["shape"]), legend=None)
    dots = drawn(points)
    label_x, label_y = alt.X("label_x:Q", scale=x_scale), alt.Y("label_y:Q", scale=y_scale)
    layers = [
        *(
            drawn(_line(roof, left, right)).mark_line(color=GREY, strokeWidth=2, clip=True).encode(x=x, y=y)
            for roof in roofs
        ),
        drawn(roofs).mark_text(align="right", dx=-4).encode(x=alt.value("width"), y=label_y, text="text:N"),
        dots.mark_rule(opacity=0.7).encode(x=x, x2="label_x:Q", y=y, y2="label_y:Q"),
        dots.mark_point(size=90, filled=True, opacity=1).encode(x=x, y=y, color=colour, shape=shape),
        *(
            drawn(some).mark_text(align=align, dx=dx).encode(x=label_x, y=label_y, text="text:N")
            for some, align, dx in ((on_left, "right", -4), (on_right, "left", 4))
            if some
        ),
    ]
    meaning = "line: what this machine has reached; caches may lift a point above its slope"
    title = alt.Title("Roofline", subtitle=meaning)
    return alt.layer(*layers).properties(width=width, height=HEIGHT, title=title)


def _turn(point: Mark, right: float, per_pixel: float) -> None:
    """Have a label stand on the left of its point where the right has no room for it."""
    length = 0.56 * FONT_SIZE * len(point["text"]) + 8
    if math.log(point["label_x"]) + length * per_pixel > math.log(right):
        point["label_x"] = point["x"] / _LABELS


def _points(outcome: Outcome) -> list[Mark]:
    """Return a dot for each contender whose share is known."""
    points = [_point(one, one.light) for one in ranked(outcome) if one.light]
    return sorted(points, key=lambda point: -float(point["y"]))


def _point(contender: ContenderOutcome, light: Light) -> Mark:
    """Return one contender's dot: how much it computes for each byte, and how fast."""
    x = light.macs / light.bytes
    return {
        "contender": contender.label,
        "x": x,
        "y": light.macs_per_s * GIGA,
        "label_x": x * _LABELS,
        "text": f"{contender.label}  {percent(light.macs_share)}",
    }


def _roofs(outcome: Outcome) -> list[Mark]:
    """Return each peak's flat part."""
    peaks = dict.fromkeys(one.light.peak for one in ranked(outcome) if one.light)
    highest_first = sorted(peaks, key=lambda peak: -peak.macs_per_s)
    return [_roof(peak, one_of_many=len(peaks) > 1) for peak in highest_first]


def _roof(peak: Peak, *, one_of_many: bool) -> Mark:
    """Return one peak with its label, which says where it holds if there are others; `x` is where it becomes flat."""
    where = f"{peak.device}, {peak.precision}, {peak.threads} thr.: " if one_of_many else ""
    products = peak.macs_per_s * GIGA
    mark = {"y": products, "text": f"{where}{rounded(products)} GMAC/s"}
    if not peak.bytes_per_s:
        return mark
    memory = peak.bytes_per_s * GIGA
    return {"y": products, "x": products / memory, "text": f"{mark['text']}, {rounded(memory)} GB/s"}


def _line(roof: Mark, left: float, right: float) -> list[Mark]:
    """Return a roof from end to end of the axis: along its slope, where that is known, and then flat."""
    ridge = roof.get("x", left)
    return [{"x": place, "y": roof["y"] * min(1.0, place / ridge)} for place in (left, ridge, right)]


def _domain(marks: Sequence[Mark], field: str) -> tuple[float, float]:
    """Return the ends of an axis, with room for what is drawn and said there."""
    values = [mark[field] for mark in marks if field in mark]
    return min(values) / _ROOM, max(values) * _ROOM


def _low(points: Sequence[Mark], roofs: Sequence[Mark], high: float) -> float:
    """Return the lower end of the rates' axis, with room for all labels below the highest point."""
    share = _APART * (len(points) + len(roofs)) / HEIGHT
    top = max(point["y"] for point in points)
    with_labels = math.exp((math.log(top) - share * math.log(high)) / (1 - share))
    return min(_domain([*points, *roofs], "y")[0], with_labels)


def _spread(roofs: Sequence[Mark], points: Sequence[Mark], per_pixel: float) -> None:
    """Place the labels of roofs above them and those of points beside them, none on another one or on a roof.

    `per_pixel` is how far the axis' logarithm goes in one pixel. A label that has no room goes further down.
    """
    taken = [(math.log(roof["y"]), _LIFTED * per_pixel) for roof in roofs]
    for mark, lifted in [*((roof, _LIFTED) for roof in roofs), *((point, 0.0) for point in points)]:
        place = math.log(mark["y"]) + lifted * per_pixel
        for other, apart in sorted(taken, reverse=True):
            if abs(place - other) < 0.99 * apart:
                place = other - apart
        taken.append((place, _APART * per_pixel))
        mark["label_y"] = math.exp(place)

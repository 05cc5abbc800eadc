"""Memory: each contender's peak as a bar, parted where the import of its framework had ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.pictures import WIDE, altair, drawn, looks
from bakeoff.report.pictures.colours import pale
from bakeoff.report.pictures.rows import rows
from bakeoff.report.standings import ranked
from bakeoff.report.units import BYTES, size, unit_for

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.report.pictures import Chart, Mark

_BAR = 14
"""Pixels from top to bottom of a bar."""
_TICK = 70
"""Pixels that a mark along the bottom needs."""


def peaks(outcome: Outcome) -> list[Mark]:
    """Return a bar for each contender whose peak is known, with what was there after its import where that is known."""
    held = [(one, one.memory) for one in ranked(outcome) if one.memory and one.memory.peak_bytes]
    return [
        {"contender": one.label, "peak": memory.peak_bytes, "text": size(memory.peak_bytes)}
        | ({"import": memory.baseline_bytes} if memory.baseline_bytes else {})
        for one, memory in held
    ]


def memory_chart(outcome: Outcome, width: int = WIDE) -> Chart:
    """Draw a bar for each contender: hollow as far as its import went, filled from there to the peak."""
    alt = altair()
    points = peaks(outcome)
    here = rows([(point["contender"], point["text"]) for point in points], width, _BAR)
    unit = unit_for([max(point["peak"] for point in points)], BYTES, least=1)
    scale = here.scale(0.0, max(point["peak"] for point in points) * unit.per_base * 1.02)
    axis = alt.Axis(title=unit.name, format=",~r", tickCount=min(8, int((here.right - here.left) / _TICK)))
    found = looks(outcome.contenders)
    labels = [point["contender"] for point in points]
    colours = [found[label].colour for label in labels]
    insides = [pale(one.plan.drawn_in, 0.12) for label in labels for one in ranked(outcome) if one.label == label]
    marks = [
        point
        | {"y": place, "from": point.get("import", 0) * unit.per_base, "to": point["peak"] * unit.per_base, "zero": 0}
        for point, place in zip(points, here.places, strict=True)
    ]
    bars = drawn(marks).encode(y=here.y())
    stroke = alt.Stroke("contender:N", scale=alt.Scale(domain=labels, range=colours), legend=None)
    layers = [
        bars.mark_bar(height=_BAR, strokeWidth=1.5).encode(
            x=alt.X(f"{start}:Q", scale=scale, axis=axis),
            x2=f"{end}:Q",
            stroke=stroke,
            fill=alt.Fill("contender:N", scale=alt.Scale(domain=labels, range=fills), legend=None),
        )
        for start, end, fills in (("zero", "from", insides), ("from", "to", colours))
    ]
    meaning = "the process's peak; the hollow part was there after the framework's import"
    return here.chart(layers, alt.Title("Memory", subtitle=meaning)).resolve_scale(fill="independent")

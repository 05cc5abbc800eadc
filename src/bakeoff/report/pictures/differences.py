"""Bars of differences between two contenders: each in the colour of the one that takes longer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.report.pictures import altair, drawn
from bakeoff.report.pictures.colours import pale, seen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.explanation import Explanation, Gap
    from bakeoff.report.pictures import Chart, Mark
    from bakeoff.report.pictures.rows import Rows

BAR = 14
"""Pixels from top to bottom of a bar."""
HOLLOW = 0.12
"""Of its colour in the inside of a bar that is not filled, as in the picture of memory."""
DIRECTIONS = "to the right: {second} takes longer for it, to the left: {first}"
_TICK = 60
"""Pixels that a mark along the bottom needs."""


def axis_of(title: str, here: Rows) -> Any:
    """Return the axis along the bottom with as many marks as it has room for."""
    return altair().Axis(title=title, format=",~r", tickCount=min(8, int((here.right - here.left) / _TICK)))


def difference_bars(explanation: Explanation, gap: Gap, marks: Sequence[Mark], here: Rows, x: Any) -> list[Chart]:
    """Draw a bar from `start` to `end` at `y` for each mark; `share` is how much of its colour is inside."""
    alt = altair()
    colours = {one.label: one.plan.drawn_in for one in explanation.outcome.contenders}
    filled = []
    for mark in marks:
        colour = colours[gap.second if mark["end"] >= mark["start"] else gap.first]
        filled.append(mark | {"stroke": seen(colour), "fill": pale(colour, mark["share"])})
    bars = drawn(filled).mark_bar(height=BAR, strokeWidth=1.5)
    inks = {name: getattr(alt, name.title())(f"{name}:N", scale=None, legend=None) for name in ("stroke", "fill")}
    return [bars.encode(x=x, x2="end:Q", y=here.y(), **inks)] if filled else []

"""Pictures, drawn by altair and rendered without a browser: what all of them share; one file an undertaking."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.judge.outcome import ContenderOutcome

Chart = Any
"""altair's classes share no useful base, and its annotations refuse scales and axes that it takes."""
Mark = dict[str, Any]
"""One mark of a picture: its fields by name."""

INK = "#1f2328"
"""Of text on white: 15.8 : 1."""
GREY = "#808080"
"""For what belongs to no framework; seen on white and on black."""
LONGEST_TEXT = 1000
"""In characters: the renderer takes minutes to measure 20,000."""
WIDTH = 560
"""Pixels."""
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first two have the widths of the font that the renderer measures with."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [7, 3], [2, 2], [10, 3, 2, 3], [4, 4], [1, 3])
"""The second, third, ... contender of one framework has the next shape and the next dash, as its colour is the same."""


class Look(NamedTuple):
    """How a contender is drawn."""

    label: str
    colour: str
    shape: str
    dash: list[int]


def looks(contenders: Iterable[ContenderOutcome]) -> dict[str, Look]:
    """Return each contender's look by its label: its framework's colour, and a shape and a dash among its kin."""
    seen: Counter[str] = Counter()
    found: dict[str, Look] = {}
    for contender in contenders:
        if contender.label in found:
            continue
        index = seen[contender.plan.contender.framework] % len(SHAPES)
        seen[contender.plan.contender.framework] += 1
        found[contender.label] = Look(contender.label, contender.plan.drawn_in, SHAPES[index], list(DASHES[index]))
    return found


def altair() -> Any:
    """Import altair when something is drawn: it takes longer than all else that a report needs."""
    import altair as alt

    return alt


def drawn(marks: list[Mark]) -> Chart:
    """Return a chart that has its data in it."""
    alt = altair()
    return alt.Chart(alt.Data(values=marks))


def themed(chart: Chart, ink: str, background: str) -> dict[str, Any]:
    """Return a chart's specification with one look for all text and lines."""
    words = {"labelColor": ink, "titleColor": ink, "labelFontSize": 12, "titleFontSize": 12, "labelLimit": 320}
    lines = {"gridColor": ink, "gridOpacity": 0.12, "domainColor": ink, "domainOpacity": 0.5, "tickColor": ink}
    spec: dict[str, Any] = _shown(chart.to_dict())
    spec["background"] = background
    spec["padding"] = 12
    spec["config"] = {
        "font": _FONT,
        "view": {"stroke": None},
        "axis": words | lines | {"tickOpacity": 0.5, "labelFlush": False, "titleFontWeight": "normal"},
        "legend": words | {"orient": "bottom", "offset": 6, "symbolStrokeWidth": 2},
        "title": {"color": ink, "subtitleColor": ink, "anchor": "start", "frame": "group", "fontSize": 15},
        "text": {"color": ink, "fontSize": 12},
        "rule": {"color": ink},
        "point": {"color": ink},
    }
    return spec


def _shown(part: Any) -> Any:
    """Return a specification whose texts are plain: the renderer ends the process for characters that XML lacks."""
    if isinstance(part, dict):
        return {_shown(name): _shown(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_shown(value) for value in part]
    if not isinstance(part, str):
        return part
    return plain(part if len(part) <= LONGEST_TEXT else f"{part[:LONGEST_TEXT]}...")


def ratio_ticks(low: float, high: float) -> list[float]:
    """Return places that a reader of ratios looks for."""
    familiar = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0)
    if high > familiar[-1]:
        return sorted({1.0, *ticks(low, high)})
    return [place for place in familiar if low <= place <= high]


def ticks(low: float, high: float) -> list[float]:
    """Return round places on a logarithmic axis, the more of them the fewer decades it spans."""
    decades = math.log10(high / low)
    if decades < _EVEN_BELOW:
        power = 10.0 ** math.floor(math.log10((high - low) / 2))
        return [place * power for place in range(math.ceil(low / power), math.floor(high / power) + 1)]
    leading = next(places for most, places in _LEADING if decades < most)
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [lead * 10.0**exponent for exponent in exponents for lead in leading if low <= lead * 10.0**exponent <= high]


_EVEN_BELOW = 0.3
"""Decades below which even steps read better: from 1 to 2."""
_LEADING = ((1.0, (1, 1.5, 2, 3, 4, 5, 7)), (3.0, (1, 2, 5)), (math.inf, (1,)))
"""For axes of less than so many decades: the leading digits that are marked."""

"""Pictures, drawn by altair and rendered without a browser: what all of them share; one file an undertaking."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from bakeoff.report.pictures.colours import INK, on_light, seen
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bakeoff.judge.outcome import ContenderOutcome
    from bakeoff.spec.comparison import ContenderPlan

Chart = Any
"""altair's classes share no useful base, and its annotations refuse scales and axes that it takes."""
Mark = dict[str, Any]
"""One mark of a picture: its fields by name."""

LONGEST_TEXT = 1000
"""In characters: the renderer takes minutes to measure 20,000."""
WIDE, NARROW = 720, 340
"""Pixels of the two layouts of each picture: on a page and in a file, and on a telephone."""
FONT_SIZE = 13
"""Pixels: at least 11 are left where a page shows the narrow layout on 320 pixels, and the wide one on 620."""
_NARROW_BELOW = 500
AXIS_PX = 46
"""For the labels of an upright axis: the same in all frames, which so begin on one line."""
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first two have the widths of the font that the renderer measures with."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [7, 3], [2, 2], [10, 3, 2, 3], [4, 4], [1, 3])
"""The second, third, ... contender has the next shape and the next dash: colour alone tells nobody apart."""


class Look(NamedTuple):
    """How a contender is drawn."""

    label: str
    colour: str
    """In CSS, for light and for dark paper."""
    shape: str
    dash: list[int]


def looks(contenders: Iterable[ContenderOutcome]) -> dict[str, Look]:
    """Return each contender's look by its label: its framework's colour, a shape and a dash of its own."""
    plans: dict[str, ContenderPlan] = {}
    for contender in contenders:
        plans.setdefault(contender.label, contender.plan)
    return {
        label: Look(label, seen(plan.drawn_in), SHAPES[index % len(SHAPES)], list(DASHES[index % len(DASHES)]))
        for index, (label, plan) in enumerate(plans.items())
    }


def is_narrow(width: int) -> bool:
    """Return whether names stand above their marks, not beside them."""
    return width < _NARROW_BELOW


def altair() -> Any:
    """Import altair when something is drawn: it takes longer than all else that a report needs."""
    import altair as alt

    return alt


def drawn(marks: list[Mark]) -> Chart:
    """Return a chart that has its data in it."""
    alt = altair()
    return alt.Chart(alt.Data(values=marks))


def themed(chart: Chart, *, is_on_page: bool) -> dict[str, Any]:
    """Return a chart's specification with one look for all text and lines: the page's, or that of light paper."""
    ink = "currentColor" if is_on_page else INK
    words = {"labelColor": ink, "titleColor": ink, "labelFontSize": FONT_SIZE, "titleFontSize": FONT_SIZE}
    lines = {"gridColor": ink, "gridOpacity": 0.12, "domainColor": ink, "domainOpacity": 0.5, "tickColor": ink}
    # Not held against the schema here, which takes as long as drawing: the tests do that once for every picture.
    spec: dict[str, Any] = _shown(chart.to_dict(validate=False), is_on_page=is_on_page)
    if "layer" in spec:
        spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    spec |= {"background": "transparent", "padding": {"left": 0, "right": 0, "top": 4, "bottom": 4}}
    spec["config"] = {
        "font": FONT,
        "view": {"stroke": None},
        "axis": words
        | lines
        | {"tickOpacity": 0.5, "labelFlush": False, "titleFontWeight": "normal", "labelLimit": 320},
        "axisYQuantitative": {"minExtent": AXIS_PX, "maxExtent": AXIS_PX} | _ABOVE,
        "legend": words | {"orient": "bottom", "offset": 6, "symbolStrokeWidth": 2, "labelLimit": 0},
        "title": {"color": ink, "subtitleColor": ink, "anchor": "start", "frame": "bounds", "fontSize": 15},
        "text": {"color": ink, "fontSize": FONT_SIZE},
        "rule": {"color": ink},
        "point": {"color": ink},
    }
    return spec


_ABOVE = {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleX": -AXIS_PX, "titleY": -12}
"""The title of an upright axis stands above it, and is read without turning one's head."""


def _shown(part: Any, *, is_on_page: bool) -> Any:
    """Return a specification whose texts are plain: the renderer ends the process for characters that XML lacks."""
    if isinstance(part, dict):
        return {
            plain(name): value if name == "labelExpr" else _shown(value, is_on_page=is_on_page)
            for name, value in part.items()
        }
    if isinstance(part, list):
        return [_shown(value, is_on_page=is_on_page) for value in part]
    if not isinstance(part, str):
        return part
    return shortened(part) if is_on_page else on_light(shortened(part))


def shortened(text: str) -> str:
    """Return a text as it is drawn: plain, and not too long for the renderer."""
    return plain(text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}...")


def ratio_ticks(low: float, high: float) -> list[float]:
    """Return places that a reader of ratios looks for."""
    familiar = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0)
    if high > familiar[-1]:
        return sorted({1.0, *ticks(low, high)})
    return [place for place in familiar if low <= place <= high]


def spaced(places: Sequence[float], domain: tuple[float, float], most: float) -> list[float]:
    """Return the places on a logarithmic axis that have room beside 1 and each other; about `most` fit in all of it."""
    apart = math.log(domain[1] / domain[0]) / most
    kept: list[float] = []
    for place in sorted(places, key=lambda place: abs(math.log(place))):
        if all(abs(math.log(place / other)) >= apart for other in kept):
            kept.append(place)
    return sorted(kept)


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

"""The waterfall: from one contender's step time to another's, by way of everything in which the two differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bakeoff.report.gaps import by_size, named, scale_of
from bakeoff.report.pictures import WIDE, altair, drawn, is_narrow, looks
from bakeoff.report.pictures.colours import GREY
from bakeoff.report.pictures.differences import BAR, DIRECTIONS, HOLLOW, axis_of, difference_bars
from bakeoff.report.pictures.rows import rows
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.explanation import Explanation, Gap
    from bakeoff.report.pictures import Chart, Mark
    from bakeoff.report.pictures.rows import Rows

MOST_BARS = 8
"""The differences that are drawn one by one; what is smaller is drawn together, so that the bars still end at the
second step time."""
_EMPTY = 0.5
"""An axis begins at 0 unless more than this share of it would then be empty."""
_ROOM = 0.04
"""Of what is drawn, left free at both ends of an axis that does not begin at 0."""


class Bar(NamedTuple):
    """One difference: it begins where the one before it has ended."""

    name: str
    start_s: float
    end_s: float
    is_known: bool
    """Whether it is told apart from chance."""


def bars(gap: Gap) -> list[Bar]:
    """Return the way from the first step time to the second: the largest differences, and all others as one."""
    found = by_size(gap.by_kind)
    shown = found if len(found) == MOST_BARS + 1 else found[:MOST_BARS]
    steps = [(named(row), row.gap_s, row.told_apart) for row in shown]
    end = gap.first_s + sum(step for _, step, _ in steps)
    rest = len(found) - len(shown)
    way, at = [], gap.first_s
    for name, step, is_known in steps:
        way.append(Bar(name, at, at + step, is_known))
        at += step
    return [*way, Bar(count(rest, "other"), end, gap.second_s, is_known=False)] if rest else way


def domain(gap: Gap) -> tuple[float, float]:
    """Return the ends of the axis, in seconds: from 0 unless most of it would be empty."""
    places = [gap.first_s, gap.second_s, *(bar.end_s for bar in bars(gap))]
    low, high = min(places), max(places)
    if low < _EMPTY * high:
        return min(0.0, low), high * (1 + _ROOM)
    room = _ROOM * (high - low) or _ROOM * high
    return low - room, high + room


def waterfall_chart(explanation: Explanation, gap: Gap, width: int = WIDE) -> Chart:
    """Draw a mark at each step time, and between them a bar for each difference."""
    alt = altair()
    scale, way = scale_of([gap]), bars(gap)
    first, second = ((label, f"{scale.text(time)} {scale.unit.name}") for label, time in _ends(gap))
    names = [first, *((bar.name, scale.difference(bar.end_s - bar.start_s)) for bar in way), second]
    here, per_base = rows(names, width, BAR), scale.unit.per_base
    low, high = (place * per_base for place in domain(gap))
    x = alt.X("start:Q", scale=here.scale(low, high), axis=axis_of(f"step time, {scale.unit.name}", here))
    marks = [
        {"y": y, "start": bar.start_s * per_base, "end": bar.end_s * per_base, "share": 1.0 if bar.is_known else HOLLOW}
        for bar, y in zip(way, here.places[1:-1], strict=True)
    ]
    found = looks(explanation.outcome.contenders)
    dots = [
        drawn([{"y": y, "start": time * per_base}])
        .mark_point(size=90, filled=True, opacity=1, color=found[label].colour, shape=found[label].shape)
        .encode(x=x, y=here.y())
        for (label, time), y in zip(_ends(gap), (here.places[0], here.places[-1]), strict=True)
    ]
    joints = [] if is_narrow(width) else _joints([gap.first_s, *(bar.end_s for bar in way)], here, per_base)
    lines = [drawn(joints).mark_rule(color=GREY).encode(x=x, y=here.y(), y2="below:Q")] if joints else []
    title = alt.Title(f"From {gap.first} to {gap.second}", subtitle=_meaning(gap))
    return here.chart([*lines, *difference_bars(explanation, gap, marks, here, x), *dots], title)


def _joints(places_s: Sequence[float], here: Rows, per_base: float) -> list[Mark]:
    """Return lines from where a bar ends down to where the next one begins; names that stand between have no room."""
    pairs = zip(here.places, here.places[1:], strict=False)
    return [{"y": y, "below": below, "start": at * per_base} for at, (y, below) in zip(places_s, pairs, strict=True)]


def _meaning(gap: Gap) -> list[str]:
    """Return how the bars are read."""
    begins = "" if domain(gap)[0] <= 0 else "; the axis does not begin at 0"
    return [f"{DIRECTIONS.format(first=gap.first, second=gap.second)}; filled: told apart, hollow: not{begins}"]


def _ends(gap: Gap) -> list[tuple[str, float]]:
    """Return both contenders with their step times."""
    return [(gap.first, gap.first_s), (gap.second, gap.second_s)]

"""A search's picture: every batch size that was tried, and whether it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.pictures import WIDE, altair, drawn, spaced, ticks
from bakeoff.report.pictures.colours import seen
from bakeoff.report.pictures.legends import legend
from bakeoff.report.pictures.rows import rows

if TYPE_CHECKING:
    from bakeoff.judge.search import SearchOutcome
    from bakeoff.report.pictures import Chart, Mark

_ROW = 18
"""Pixels for the marks of a contender."""
_TICK = 60
"""Pixels that a mark along the bottom needs."""
_ROOM = 1.3
"""Between the marks and the frame, on a logarithmic axis."""
_SHAPES = {"fits": "circle", "does not fit": "cross", "failed": "diamond"}


def attempts(outcome: SearchOutcome) -> list[Mark]:
    """Return one mark for each attempt, the contender with the largest batch first."""
    words = {True: "fits", False: "does not fit", None: "failed"}
    ordered = sorted(outcome.found, key=lambda one: -(one.largest or 0))
    return [
        {"contender": one.label, "batch": attempt.batch_size, "what": words[attempt.fits], "colour": one.plan.drawn_in}
        | ({"text": f"{attempt.batch_size:,}"} if attempt.batch_size == one.largest else {})
        for one in ordered
        for attempt in one.attempts
    ]


def attempts_chart(outcome: SearchOutcome, width: int = WIDE) -> Chart:
    """Draw each contender's attempts on a logarithmic axis of batch sizes; the largest that fits stands beside them."""
    alt = altair()
    marks = attempts(outcome)
    largest = {mark["contender"]: mark["text"] for mark in marks if "text" in mark}
    labels = list(dict.fromkeys(mark["contender"] for mark in marks))
    here = rows([(label, largest.get(label, "")) for label in labels], width, _ROW)
    places = dict(zip(labels, here.places, strict=True))
    sizes = [mark["batch"] for mark in marks]
    low, high = min(sizes) / _ROOM, max(sizes) * _ROOM
    scale, most = here.scale(low, high, logarithmic=True), (here.right - here.left) / _TICK
    values = [place for place in spaced(ticks(low, high), (low, high), most) if place >= 1]
    x = alt.X("batch:Q", scale=scale, axis=alt.Axis(title="batch size", format=",~r", values=values))
    kinds = [kind for kind in _SHAPES if any(mark["what"] == kind for mark in marks)]
    shapes = alt.Scale(domain=kinds, range=[_SHAPES[kind] for kind in kinds])
    names = legend(kinds, width, symbolOpacity=1, symbolSize=90)
    base = drawn([mark | {"y": places[mark["contender"]], "colour": seen(mark["colour"])} for mark in marks])
    points = base.mark_point(size=90, strokeWidth=2, opacity=1).encode(
        x=x,
        y=here.y(),
        color=alt.Color("colour:N", scale=None, legend=None),
        shape=alt.Shape("what:N", scale=shapes, legend=names),
    )
    meaning = "each mark is an attempt in a process of its own; the number is the largest batch that fits"
    return here.chart([points], alt.Title("Largest batch", subtitle=meaning))

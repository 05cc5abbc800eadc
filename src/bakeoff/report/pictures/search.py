"""A search's picture: every batch size that was tried, and whether it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.pictures import WIDTH, altair, drawn, ticks

if TYPE_CHECKING:
    from bakeoff.judge.search import SearchOutcome
    from bakeoff.report.pictures import Chart, Mark

_ROW = 40
"""Pixels a contender."""
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


def attempts_chart(outcome: SearchOutcome) -> Chart:
    """Draw each contender's attempts on a logarithmic axis of batch sizes; the largest that fits has its number."""
    alt = altair()
    marks = attempts(outcome)
    labels = list(dict.fromkeys(mark["contender"] for mark in marks))
    sizes = [mark["batch"] for mark in marks]
    low, high = min(sizes) / _ROOM, max(sizes) * _ROOM
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(title="batch size", format=",~r", values=[place for place in ticks(low, high) if place >= 1])
    x = alt.X("batch:Q", scale=scale, axis=axis)
    rows = alt.Y("contender:N", sort=labels, axis=alt.Axis(title=None, ticks=False, grid=True))
    kinds = [kind for kind in _SHAPES if any(mark["what"] == kind for mark in marks)]
    shapes = alt.Scale(domain=kinds, range=[_SHAPES[kind] for kind in kinds])
    shape = alt.Shape("what:N", scale=shapes, legend=alt.Legend(title=None, symbolOpacity=1, symbolSize=90))
    base = drawn(marks).encode(x=x, y=rows)
    layers = alt.layer(
        base.mark_point(size=90, strokeWidth=2, opacity=1).encode(
            color=alt.Color("colour:N", scale=None, legend=None), shape=shape
        ),
        base.transform_filter("isValid(datum.text)").mark_text(dy=-14).encode(text="text:N"),
    )
    meaning = "each mark is an attempt in a process of its own; the number is the largest batch that fits"
    title = alt.Title("Largest batch", subtitle=meaning)
    return layers.properties(width=WIDTH, height=alt.Step(_ROW), title=title)

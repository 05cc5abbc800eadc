"""A comparison's three pictures: step time, time against steps, ratio by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.report.coldruns import steps_text
from bakeoff.report.pictures import GREY, WIDTH, altair, comparison_marks, drawn, looks, ratio_ticks, ticks
from bakeoff.report.steps import ranked, step_unit

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.report.pictures import Chart, Look

_ROW = 46
"""Pixels a contender: a dot with its interval above, its strip of blocks below."""
_PAIR_ROW = 30
_ROOM = 1.1
"""Between the lines and the frame, on a logarithmic axis."""

# --- Step time ----------------------------------------------------------------------------------------------------


def step_time_chart(outcome: Outcome) -> Chart:
    """Draw a dot with its interval for each contender, and every raw block beneath."""
    alt = altair()
    low, high, logarithmic = comparison_marks.step_domain(outcome)
    scale = alt.Scale(domain=[low, high], type="log" if logarithmic else "linear", nice=False)
    marks = {"values": ticks(low, high)} if logarithmic else {"tickCount": 8}
    axis = alt.Axis(title=f"step time ({step_unit(outcome).name})", format=",~r", **marks)
    rows = alt.Y("contender:N", sort=[one.label for one in ranked(outcome)], axis=alt.Axis(title=None, ticks=False))
    x, colour = alt.X("step:Q", scale=scale, axis=axis), _by_contender(outcome, "Color", "colour").legend(None)
    dots = drawn(comparison_marks.step_times(outcome)).encode(y=rows)
    ranges = dots.transform_filter("isValid(datum.low)").encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    values = dots.transform_calculate(end="isValid(datum.high) ? datum.high : datum.step")
    strip = drawn(comparison_marks.blocks(outcome)).encode(y=rows, x=x, color=colour, shape=_block_shape(outcome))
    shape = _by_contender(outcome, "Shape", "shape").legend(None)
    layers = alt.layer(
        strip.mark_point(yOffset=9, opacity=0.55, size=60, strokeWidth=1.3),
        ranges.mark_rule(yOffset=-8, strokeWidth=2).encode(color=colour),
        dots.mark_point(yOffset=-8, size=90, filled=True, opacity=1).encode(x=x, color=colour, shape=shape),
        values.mark_text(yOffset=-8, dx=9, align="left").encode(x=alt.X("end:Q", scale=scale), text="text:N"),
    )
    title = alt.Title("Step time", subtitle="dot: median over rounds, with its 95 % interval; small marks: raw blocks")
    return layers.resolve_scale(shape="independent").properties(width=WIDTH, height=alt.Step(_ROW), title=title)


def _block_shape(outcome: Outcome) -> Any:
    """Return each kind of block its own shape, and a legend of those that there are."""
    alt = altair()
    shapes = {
        comparison_marks.BLOCK: "M0,-0.8V0.8",
        comparison_marks.FLAGGED: "diamond",
        comparison_marks.BEYOND: "triangle-right",
    }
    there = {point["kind"] for point in comparison_marks.blocks(outcome)}
    kinds = [kind for kind in shapes if kind in there]
    legend = alt.Legend(title=None, symbolOpacity=1, symbolStrokeColor=GREY)
    return alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=[shapes[kind] for kind in kinds]), legend=legend)


# --- Time against steps -------------------------------------------------------------------------------------------


def runs_chart(outcome: Outcome) -> Chart:
    """Draw the time of a run against its steps: start-up on the left, step time on the right, break-evens between."""
    alt = altair()
    points = comparison_marks.lines(outcome)
    least = min(point["low"] for point in points) / _ROOM
    most = max(point["high"] for point in points) * _ROOM
    last = max(point["steps"] for point in points)
    bands = [(look.colour, [one for one in points if one["contender"] == look.label]) for look in _looks(outcome)]
    x_scale, y_scale = alt.Scale(type="log", domain=[1, last]), alt.Scale(type="log", domain=[least, most])
    x_axis = alt.Axis(title="steps", format=",~r", values=ticks(1, last))
    y_axis = alt.Axis(title="seconds", format=",~r", values=ticks(least, most))
    x, y = alt.X("steps:Q", scale=x_scale, axis=x_axis), alt.Y("seconds:Q", scale=y_scale, axis=y_axis)
    line = (
        drawn(points)
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=y,
            color=_by_contender(outcome, "Color", "colour"),
            strokeDash=_by_contender(outcome, "StrokeDash", "dash"),
        )
    )
    low = alt.Y("low:Q", scale=y_scale, axis=y_axis)
    layers = [
        *(drawn(band).mark_area(opacity=0.15, color=colour).encode(x=x, y=low, y2="high:Q") for colour, band in bands),
        line,
        *_crossing_layers(outcome, x, y),
        *_epoch_layers(outcome, x_scale),
    ]
    title = alt.Title("Time against steps", subtitle="from a cold start; where lines cross is the break-even")
    return alt.layer(*layers).properties(width=WIDTH, height=260, title=title)


def _crossing_layers(outcome: Outcome, x: Any, y: Any) -> list[Chart]:
    """Mark where the lead changes."""
    points = [
        {"steps": one.steps, "seconds": one.seconds, "text": f"step {steps_text(one.steps)}"}
        for one in comparison_marks.overtakings(outcome)
    ]
    base = drawn(points).encode(x=x, y=y)
    ring = base.mark_point(size=110, strokeWidth=1.5, color=GREY, opacity=1)
    return [ring, base.mark_text(dy=16, dx=6, align="left").encode(text="text:N")] if points else []


def _epoch_layers(outcome: Outcome, x_scale: Any) -> list[Chart]:
    """Mark one pass over the data, where the data is real."""
    alt = altair()
    steps = comparison_marks.epoch_steps(outcome)
    if steps is None or steps <= 1:
        return []
    base = drawn([{"steps": steps}]).encode(x=alt.X("steps:Q", scale=x_scale))
    text = base.mark_text(align="left", dx=5, dy=8).encode(y=alt.value(0), text=alt.value("one pass over the data"))
    return [base.mark_rule(strokeDash=[3, 3], opacity=0.6), text]


# --- Ratio by pair ------------------------------------------------------------------------------------------------


def ratio_chart(outcome: Outcome) -> Chart:
    """Draw each pair's interval against the band of equality."""
    alt = altair()
    points = comparison_marks.ratios(outcome)
    low, high = comparison_marks.ratio_domain(outcome)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    rows = alt.Y("pair:N", sort=[point["pair"] for point in points], axis=alt.Axis(title=None, ticks=False))
    title = "ratio of step times, first over second"
    axis = alt.Axis(title=title, format=",~r", values=ratio_ticks(low, high))
    margin = 1.0 + outcome.comparison.procedure.margin
    band = drawn([{"low": 1.0 / margin, "high": margin, "one": 1.0}])
    pairs = drawn(points).encode(y=rows)
    ranges = pairs.transform_filter("isValid(datum.low)").encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    shapes = alt.Scale(
        domain=["slower", "equal", "undecided", "no verdict"],
        range=["triangle-right", "circle", "diamond", "cross"],
    )
    layers = alt.layer(
        band.mark_rect(opacity=0.25, color=GREY).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        band.mark_rule(opacity=0.7).encode(x=alt.X("one:Q", scale=scale)),
        ranges.mark_rule(strokeWidth=2),
        pairs.mark_point(size=90, filled=True, opacity=1).encode(
            x=alt.X("ratio:Q", scale=scale, axis=axis), shape=alt.Shape("verdict:N", scale=shapes, legend=None)
        ),
        pairs.mark_text(align="left", dx=10).encode(x=alt.value(WIDTH), text="text:N"),
    )
    meaning = "inside the grey band: equal; all on one side of 1: decided; else undecided"
    return layers.properties(
        width=WIDTH, height=alt.Step(_PAIR_ROW), title=alt.Title("Ratio by pair", subtitle=meaning)
    )


# --- Parts --------------------------------------------------------------------------------------------------------


def _looks(outcome: Outcome) -> list[Look]:
    """Return the looks of those that are ranked, in the order of the table."""
    found = looks(outcome.contenders)
    return [found[contender.label] for contender in ranked(outcome)]


def _by_contender(outcome: Outcome, channel: str, part: str) -> Any:
    """Return every contender's part of its look: one colour for its framework, a shape and a dash among its kin."""
    alt = altair()
    found = _looks(outcome)
    scale = alt.Scale(domain=[look.label for look in found], range=[getattr(look, part) for look in found])
    legend = alt.Legend(title=None, symbolType="stroke", symbolOpacity=1, symbolSize=400)
    return getattr(alt, channel)("contender:N", scale=scale, legend=legend)

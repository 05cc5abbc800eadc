"""A comparison's three pictures: step time, time against steps, ratio by pair."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bakeoff.report.coldruns import ColdRun, Crossing, crossings, longest, runs_of, steps_text
from bakeoff.report.pictures import GREY, WIDTH, altair, drawn, looks, ratio_ticks, ticks
from bakeoff.report.standings import kind, ranked, ratio_text, shown_interval, slower_first, step_parts, step_unit

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.report.pictures import Chart, Look, Mark

BLOCK, FLAGGED, BEYOND = "block", "block disturbed by other processes", "block beyond the scale"
_HEADROOM = 1.5
"""Blocks longer than this times the longest interval's end are drawn at the edge: they would squeeze all others."""
_LOG_FROM = 20.0
"""From this ratio of the longest step time to the shortest the axis is logarithmic: else the shortest stood at 0."""
_LINE_POINTS = 80
"""Enough for a smooth line on a logarithmic axis."""
_ROW = 46
"""Pixels a contender: a dot with its interval above, its strip of blocks below."""
_PAIR_ROW = 30
_ROOM = 1.1
"""Between the lines and the frame, on a logarithmic axis."""

# --- Step time ----------------------------------------------------------------------------------------------------


def step_time_chart(outcome: Outcome) -> Chart:
    """Draw a dot with its interval for each contender, and every raw block beneath."""
    alt = altair()
    low, high, logarithmic = step_domain(outcome)
    scale = alt.Scale(domain=[low, high], type="log" if logarithmic else "linear", nice=False)
    marks = {"values": ticks(low, high)} if logarithmic else {"tickCount": 8}
    axis = alt.Axis(title=f"step time ({step_unit(outcome).name})", format=",~r", **marks)
    rows = alt.Y("contender:N", sort=[one.label for one in ranked(outcome)], axis=alt.Axis(title=None, ticks=False))
    x, colour = alt.X("step:Q", scale=scale, axis=axis), _by_contender(outcome, "Color", "colour").legend(None)
    dots = drawn(step_times(outcome)).encode(y=rows)
    ranges = dots.transform_filter("isValid(datum.low)").encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    values = dots.transform_calculate(end="isValid(datum.high) ? datum.high : datum.step")
    strip = drawn(blocks(outcome)).encode(y=rows, x=x, color=colour, shape=_block_shape(outcome))
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
        BLOCK: "M0,-0.8V0.8",
        FLAGGED: "diamond",
        BEYOND: "triangle-right",
    }
    there = {point["kind"] for point in blocks(outcome)}
    kinds = [kind for kind in shapes if kind in there]
    legend = alt.Legend(title=None, symbolOpacity=1, symbolStrokeColor=GREY)
    return alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=[shapes[kind] for kind in kinds]), legend=legend)


# --- Time against steps -------------------------------------------------------------------------------------------


def runs_chart(outcome: Outcome) -> Chart:
    """Draw the time of a run against its steps: start-up on the left, step time on the right, break-evens between."""
    alt = altair()
    points = lines(outcome)
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
        for one in overtakings(outcome)
    ]
    base = drawn(points).encode(x=x, y=y)
    ring = base.mark_point(size=110, strokeWidth=1.5, color=GREY, opacity=1)
    return [ring, base.mark_text(dy=16, dx=6, align="left").encode(text="text:N")] if points else []


def _epoch_layers(outcome: Outcome, x_scale: Any) -> list[Chart]:
    """Mark one pass over the data, where the data is real."""
    alt = altair()
    steps = epoch_steps(outcome)
    if steps is None or steps <= 1:
        return []
    base = drawn([{"steps": steps}]).encode(x=alt.X("steps:Q", scale=x_scale))
    text = base.mark_text(align="left", dx=5, dy=8).encode(y=alt.value(0), text=alt.value("one pass over the data"))
    return [base.mark_rule(strokeDash=[3, 3], opacity=0.6), text]


# --- Ratio by pair ------------------------------------------------------------------------------------------------


def ratio_chart(outcome: Outcome) -> Chart:
    """Draw each pair's interval against the band of equality."""
    alt = altair()
    points = ratios(outcome)
    low, high = ratio_domain(outcome)
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


# --- What is drawn --------------------------------------------------------------------------------------------------


def step_times(outcome: Outcome) -> list[Mark]:
    """Return one dot for each contender; low and high only where there is an interval."""
    unit = step_unit(outcome)
    scale = unit.per_base
    points = []
    for one in ranked(outcome):
        if one.median_step_s is None:
            continue
        point: Mark = {"contender": one.label, "step": one.median_step_s * scale, "text": step_parts(one, unit)[0]}
        if (interval := shown_interval(one)) is not None:
            point |= {"low": interval.low * scale, "high": interval.high * scale}
        points.append(point)
    return points


def step_domain(outcome: Outcome) -> tuple[float, float, bool]:
    """Return the axis' ends, in the unit of step times, and whether it is logarithmic."""
    points = step_times(outcome)
    ends = [_end(point, "high", "step") for point in points]
    blocks = [block.step_s * step_unit(outcome).per_base for one in ranked(outcome) for block in one.blocks]
    top = min(max([*blocks, *ends], default=1.0), _HEADROOM * max(ends, default=1.0))
    shortest = min((_end(point, "step", "step") for point in points), default=top)
    if top > _LOG_FROM * shortest:
        least = min([*blocks, shortest])
        return least / 1.2, top * 1.2, True
    return 0.0, top * 1.04, False


def _end(point: Mark, name: str, otherwise: str) -> float:
    """Return an end of an interval; where there is none, its estimate."""
    return float(point[name] if name in point else point[otherwise])


def blocks(outcome: Outcome) -> list[Mark]:
    """Return every block of every ranked contender; one beyond the scale stands at its end."""
    top = step_domain(outcome)[1]
    points = []
    for one in ranked(outcome):
        for block in one.blocks:
            step = block.step_s * step_unit(outcome).per_base
            seen = BEYOND if step > top else FLAGGED if block.flagged else BLOCK
            points.append({"contender": one.label, "step": min(step, top), "kind": seen})
    return points


def lines(outcome: Outcome) -> list[Mark]:
    """Return the time of runs of every length, with its band, for each contender whose start is known."""
    runs = runs_of(ranked(outcome))
    last = longest(runs, outcome.verdicts, epoch_steps(outcome))
    lengths = [10 ** (math.log10(last) * index / (_LINE_POINTS - 1)) for index in range(_LINE_POINTS)]
    return [_line_point(run, steps) for run in runs for steps in lengths]


def _line_point(run: ColdRun, steps: float) -> Mark:
    """Return one point of a line."""
    return {
        "contender": run.label,
        "steps": steps,
        "seconds": run.seconds(steps),
        "low": run.seconds(steps, run.step.low),
        "high": run.seconds(steps, run.step.high),
    }


def overtakings(outcome: Outcome) -> list[Crossing]:
    """Return the break-evens at which the lead changes, which are the ones to draw: no third is ahead there."""
    runs = runs_of(ranked(outcome))
    return [
        crossing
        for crossing in crossings(runs, outcome.verdicts)
        if all(run.seconds(crossing.steps) >= 0.99 * crossing.seconds for run in runs)
    ]


def epoch_steps(outcome: Outcome) -> int | None:
    """Return the steps of one pass over the data; None for data that is made up."""
    data = outcome.comparison.data
    return data.batches if data.has_test else None


def ratios(outcome: Outcome) -> list[Mark]:
    """Return one row for each pair, turned so that its ratio is at least 1."""
    place = {one.label: index for index, one in enumerate(ranked(outcome))}
    pairs = [slower_first(verdict) for verdict in outcome.verdicts if verdict.ratio is not None]
    points = []
    for pair in sorted(pairs, key=lambda pair: (place.get(pair.first, 0), place.get(pair.second, 0))):
        point: Mark = {
            "pair": f"{pair.first} / {pair.second}",
            "ratio": pair.ratio,
            "verdict": kind(pair),
            "text": f"{ratio_text(pair, outcome.comparison.procedure.margin)}  {kind(pair)}",
        }
        if pair.low is not None and pair.high is not None:
            point |= {"low": pair.low, "high": pair.high}
        points.append(point)
    return points


def ratio_domain(outcome: Outcome) -> tuple[float, float]:
    """Return the ends of the ratios' axis: the band of equality and every interval, with a little room."""
    points, margin = ratios(outcome), 1.0 + outcome.comparison.procedure.margin
    low = min([1.0 / margin, *(_end(point, "low", "ratio") for point in points)])
    high = max([margin, *(_end(point, "high", "ratio") for point in points)])
    return low / 1.02, high * 1.02

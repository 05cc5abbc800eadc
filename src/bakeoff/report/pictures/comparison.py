"""A comparison's pictures: ratio by pair, step time, memory, time against steps."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from bakeoff.report.coldruns import ColdRun, Crossing, crossings, longest, runs_of, steps_text
from bakeoff.report.pictures import AXIS_PX, WIDE, altair, drawn, looks, spaced, ticks
from bakeoff.report.pictures.colours import GREY
from bakeoff.report.pictures.legends import legend
from bakeoff.report.pictures.ratios import meaning, ratio_rows
from bakeoff.report.pictures.rows import CHARACTER, rows
from bakeoff.report.standings import kind, ranked, ratio_text, shown_interval, slower_first, step_parts, step_unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.judge.outcome import Outcome
    from bakeoff.report.pictures import Chart, Look, Mark

BLOCK, FLAGGED, BEYOND = "block", "block disturbed by other processes", "block beyond the scale"
CHANGED = "block at another speed of the machine"
_BLOCK_SHAPES = {BLOCK: "M0,-0.8V0.8", FLAGGED: "diamond", CHANGED: "circle", BEYOND: "triangle-right"}
_HEADROOM = 1.5
"""Blocks longer than this times the longest interval's end are drawn at the edge: they would squeeze all others."""
_LOG_FROM = 20.0
"""From this ratio of the longest step time to the shortest the axis is logarithmic: else the shortest stood at 0."""
_LINE_POINTS = 80
"""Enough for a smooth line on a logarithmic axis."""
_ROW = 34
"""Pixels for a contender's marks: a dot with its interval above, its strip of blocks below."""
_STRIP = 9
"""Pixels from the middle of a row up to its dot, and down to its strip."""
_TALL = 260
"""Pixels, of the picture of runs."""
_ROOM = 1.1
"""Between the lines and the frame, on a logarithmic axis."""
_TICK = 60
"""Pixels that a mark along the bottom needs, so that no label is on another."""

# --- Ratio by pair ------------------------------------------------------------------------------------------------


def ratio_chart(outcome: Outcome, width: int = WIDE) -> Chart:
    """Draw each pair's interval against the band of equality."""
    levels = {verdict.level for verdict in outcome.verdicts if verdict.low is not None}
    title = altair().Title("Ratio by pair", subtitle=f"times as long, first over second; {meaning(levels)}")
    return ratio_rows(ratios(outcome), 1.0 + outcome.comparison.procedure.margin, width, title)


# --- Step time ----------------------------------------------------------------------------------------------------


def step_time_chart(outcome: Outcome, width: int = WIDE) -> Chart:
    """Draw a dot with its interval for each contender, and every raw block beneath."""
    alt = altair()
    points = step_times(outcome)
    here = rows([(point["contender"], point["text"]) for point in points], width, _ROW)
    places = {point["contender"]: place for point, place in zip(points, here.places, strict=True)}
    low, high, logarithmic = step_domain(outcome)
    scale, room = here.scale(low, high, logarithmic=logarithmic), (here.right - here.left) / _TICK
    marks = {"values": spaced(ticks(low, high), (low, high), room)} if logarithmic else {"tickCount": min(8, int(room))}
    axis = alt.Axis(title=f"step time ({step_unit(outcome).name})", format=",~r", **marks)
    x, colour = alt.X("step:Q", scale=scale, axis=axis), _by_contender(outcome, "Color", "colour")
    dots = drawn([point | {"y": places[point["contender"]] - _STRIP} for point in points]).encode(y=here.y())
    ranges = dots.transform_filter("isValid(datum.low)").encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q")
    strip = drawn([mark | {"y": places[mark["contender"]] + _STRIP} for mark in blocks(outcome)])
    layers = [
        strip.mark_point(opacity=1, size=60, strokeWidth=1).encode(
            x=x, y=here.y(), color=colour, shape=_block_shape(outcome, width)
        ),
        ranges.mark_rule(strokeWidth=2).encode(color=colour),
        dots.mark_point(size=90, filled=True, opacity=1).encode(
            x=x, color=colour, shape=_by_contender(outcome, "Shape", "shape")
        ),
    ]
    title = alt.Title("Step time", subtitle="dot: median over rounds, with its 95 % interval; small marks: raw blocks")
    return here.chart(layers, title).resolve_scale(shape="independent")


def _block_shape(outcome: Outcome, width: int) -> Any:
    """Return each kind of block its own shape, and a legend of those that there are, if they are several."""
    alt = altair()
    there = {point["kind"] for point in blocks(outcome)}
    kinds = [kind for kind in _BLOCK_SHAPES if kind in there]
    names = legend(kinds, width, symbolOpacity=1, symbolStrokeColor=GREY) if kinds[1:] else None
    shapes = alt.Scale(domain=kinds, range=[_BLOCK_SHAPES[kind] for kind in kinds])
    return alt.Shape("kind:N", scale=shapes, legend=names)


# --- Time against steps -------------------------------------------------------------------------------------------


def runs_chart(outcome: Outcome, width: int = WIDE) -> Chart:
    """Draw the time of a run against its steps: start-up on the left, step time on the right, break-evens between."""
    alt = altair()
    points = lines(outcome)
    least = min(point["low"] for point in points) / _ROOM
    most = max(point["high"] for point in points) * _ROOM
    last = max(point["steps"] for point in points)
    bands = [(look.colour, [one for one in points if one["contender"] == look.label]) for look in _looks(outcome)]
    x_scale, y_scale = alt.Scale(type="log", domain=[1, last]), alt.Scale(type="log", domain=[least, most])
    places = spaced(ticks(1, last), (1, last), width / _TICK)
    # The last mark is at the frame's end: flush, it is whole in fonts wider than the one that the renderer measures.
    x_axis = alt.Axis(title="steps", format=",~r", values=places, labelFlush=True)
    y_axis = alt.Axis(title="seconds", format=",~r", values=spaced(ticks(least, most), (least, most), _TALL / 20))
    x, y = alt.X("steps:Q", scale=x_scale, axis=x_axis), alt.Y("seconds:Q", scale=y_scale, axis=y_axis)
    labels = [look.label for look in _looks(outcome)]
    names = legend(labels, width, symbolType="stroke", symbolOpacity=1, symbolSize=700)
    line = drawn(points).mark_line(strokeWidth=2)
    line = line.encode(
        x=x,
        y=y,
        color=_by_contender(outcome, "Color", "colour", names),
        strokeDash=_by_contender(outcome, "StrokeDash", "dash", names),
    )
    low = alt.Y("low:Q", scale=y_scale, axis=y_axis)
    inwards = partial(_inwards, last, width)
    layers = [
        *(drawn(band).mark_area(opacity=0.15, color=colour).encode(x=x, y=low, y2="high:Q") for colour, band in bands),
        line,
        *_crossing_layers(outcome, x, y, inwards),
        *_epoch_layers(outcome, x_scale, inwards),
    ]
    title = alt.Title("Time against steps", subtitle="from a cold start; where lines cross is the break-even")
    return alt.layer(*layers).properties(width=width, height=_TALL, title=title)


def _crossing_layers(outcome: Outcome, x: Any, y: Any, inwards: Callable[[float, str], dict[str, Any]]) -> list[Chart]:
    """Mark where the lead changes; lines rise to the right, so that there is room below on that side, else above."""
    points: list[Mark] = [
        {"steps": one.steps, "seconds": one.seconds, "text": f"step {steps_text(one.steps)}"}
        for one in overtakings(outcome)
    ]
    ring = drawn(points).encode(x=x, y=y).mark_point(size=110, strokeWidth=1.5, color=GREY, opacity=1)
    texts = []
    for point in points:
        side = inwards(point["steps"], point["text"])
        text = drawn([point]).mark_text(dy=14 if side["align"] == "left" else -14, **side)
        texts.append(text.encode(x=x, y=y, text="text:N"))
    return [ring, *texts] if points else []


def _epoch_layers(outcome: Outcome, x_scale: Any, inwards: Callable[[float, str], dict[str, Any]]) -> list[Chart]:
    """Mark one pass over the data, where the data is real."""
    alt = altair()
    steps, text = epoch_steps(outcome), "one pass over the data"
    if steps is None or steps <= 1:
        return []
    base = drawn([{"steps": steps}]).encode(x=alt.X("steps:Q", scale=x_scale))
    words = base.mark_text(dy=8, **inwards(steps, text)).encode(y=alt.value(0), text=alt.value(text))
    return [base.mark_rule(strokeDash=[3, 3], opacity=0.7), words]


def _inwards(last: float, width: int, steps: float, text: str) -> dict[str, Any]:
    """Return how a text beside a place is set, so that it does not leave the frame."""
    room = (width - AXIS_PX) * (1 - math.log(max(1.0, steps)) / math.log(last))
    return {"align": "left", "dx": 8} if room > CHARACTER * len(text) + 8 else {"align": "right", "dx": -8}


# --- Parts --------------------------------------------------------------------------------------------------------


def _looks(outcome: Outcome) -> list[Look]:
    """Return the looks of those that are ranked, in the order of the table."""
    found = looks(outcome.contenders)
    return [found[contender.label] for contender in ranked(outcome)]


def _by_contender(outcome: Outcome, channel: str, part: str, names: Any = None) -> Any:
    """Return every contender's part of its look: its framework's colour, or a shape or a dash of its own."""
    alt = altair()
    found = _looks(outcome)
    scale = alt.Scale(domain=[look.label for look in found], range=[getattr(look, part) for look in found])
    return getattr(alt, channel)("contender:N", scale=scale, legend=names)


# --- What is drawn --------------------------------------------------------------------------------------------------


def step_times(outcome: Outcome) -> list[Mark]:
    """Return one dot for each contender; low and high only where there is an interval."""
    unit = step_unit(outcome)
    scale = unit.per_base
    points = []
    for one in ranked(outcome):
        if one.median_step_s is None:
            continue
        text, interval_text = step_parts(one, unit)
        text += f" ({interval_text})" if interval_text else ""
        point: Mark = {"contender": one.label, "step": one.median_step_s * scale, "text": text}
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
    changed = set(outcome.other_speeds.changed) if outcome.other_speeds else set()
    points = []
    for one in ranked(outcome):
        for block in one.blocks:
            calm = CHANGED if (block.round_number, block.turn) in changed else BLOCK
            step = block.step_s * step_unit(outcome).per_base
            seen = BEYOND if step > top else FLAGGED if block.flagged else calm
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
            "text": f"{ratio_text(pair, outcome.comparison.procedure.margin)} {kind(pair)}",
        }
        if pair.low is not None and pair.high is not None:
            point |= {"low": pair.low, "high": pair.high}
        points.append(point)
    return points

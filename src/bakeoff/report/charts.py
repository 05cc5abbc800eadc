"""The three pictures, drawn by altair and rendered without a browser: step time, time against steps, ratio by pair."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Literal

from bakeoff.judge.outcome import Outcome
from bakeoff.report import chartdata as data
from bakeoff.report.model import report_of
from bakeoff.report.runs import steps_text
from bakeoff.spec.errors import UsageError
from bakeoff.store.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bakeoff.report.model import Report

INK = "#1f2328"
"""Of text on white: 15.8 : 1."""
EXTENSIONS = (".png", ".svg")

_GREY = "#808080"
"""For what belongs to no framework; seen on white and on black."""
_WIDTH = 560
_ROW = 46
"""Pixels a contender: a dot with its interval above, its strip of blocks below."""
_PAIR_ROW = 30
_ROOM = 1.1
"""Between the lines and the frame, on a logarithmic axis."""
PNG_SCALE = 2.0
"""Pixels of the picture for each of the drawing: sharp on today's screens."""
# The first two have the widths of the font that the renderer measures with.
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

Chart = Any
"""altair's classes share no useful base, and its annotations refuse scales and axes that it takes."""


def altair() -> Any:
    """Import altair when something is drawn: it takes longer than all else that a report needs."""
    import altair as alt

    return alt


def save_chart(outcomes: Outcome | Sequence[Outcome], path: Path) -> None:
    """Write one picture with all charts of one or more outcomes; its form follows from the path's extension."""
    form = path.suffix.lower()
    if form not in EXTENSIONS:
        msg = f"cannot draw {path}: its extension is {form or 'missing'}; a chart is {' or '.join(EXTENSIONS)}"
        raise UsageError(msg)
    each = [outcomes] if isinstance(outcomes, Outcome) else outcomes
    write_atomically(path, render([report_of(outcome) for outcome in each], "png" if form == ".png" else "svg"))


def render(reports: Sequence[Report], form: Literal["png", "svg"]) -> bytes:
    """Give one picture with all charts of these reports, on white."""
    import vl_convert

    spec = themed(_stacked(reports), INK, "white")
    if form == "png":
        return vl_convert.vegalite_to_png(spec, scale=PNG_SCALE)
    findings = " ".join(finding for report in reports for _, finding, _ in figures(report))
    return titled(vl_convert.vegalite_to_svg(spec), findings).encode()


def inline_svg(chart: Chart) -> str:
    """Give a chart as SVG for a page, in the page's own text colour."""
    import vl_convert

    return vl_convert.vegalite_to_svg(themed(chart, "currentColor", "transparent"))


def figures(report: Report) -> list[tuple[str, str, Callable[[Report], Chart]]]:
    """Give name, finding and drawing of each picture that there is something to draw for."""
    found: list[tuple[str, str, Callable[[Report], Chart]]] = []
    if data.step_times(report):
        found.append(("Step time", _step_finding(report), step_time_chart))
    if report.runs:
        found.append(("Time against steps", _run_finding(report), runs_chart))
    if data.ratios(report):
        found.append(("Ratio by pair", " ".join(report.sentences), ratio_chart))
    return found


def themed(chart: Chart, ink: str, background: str) -> dict[str, Any]:
    """Give a chart's specification with one look for all text and lines."""
    words = {"labelColor": ink, "titleColor": ink, "labelFontSize": 12, "titleFontSize": 12, "labelLimit": 320}
    lines = {"gridColor": ink, "gridOpacity": 0.12, "domainColor": ink, "domainOpacity": 0.5, "tickColor": ink}
    spec: dict[str, Any] = chart.to_dict()
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


# --- Step time ----------------------------------------------------------------------------------------------------


def step_time_chart(report: Report) -> Chart:
    """Draw a dot with its interval for each contender, and every raw block beneath."""
    alt = altair()
    low, high, logarithmic = data.step_domain(report)
    scale = alt.Scale(domain=[low, high], type="log" if logarithmic else "linear", nice=False)
    ticks = {"values": data.ticks(low, high)} if logarithmic else {"tickCount": 8}
    axis = alt.Axis(title=f"step time ({report.unit.name})", format=",~r", **ticks)
    rows = alt.Y("contender:N", sort=[row.label for row in report.rows], axis=alt.Axis(title=None, ticks=False))
    x, colour = alt.X("step:Q", scale=scale, axis=axis), _by_contender(report, "Color", 1).legend(None)
    dots = drawn(data.step_times(report)).encode(y=rows)
    ranges = dots.transform_filter("isValid(datum.low)").encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    values = dots.transform_calculate(end="isValid(datum.high) ? datum.high : datum.step")
    strip = drawn(data.blocks(report)).encode(y=rows, x=x, color=colour, shape=_block_shape(report))
    shape = _by_contender(report, "Shape", 2).legend(None)
    layers = alt.layer(
        strip.mark_point(yOffset=9, opacity=0.55, size=60, strokeWidth=1.3),
        ranges.mark_rule(yOffset=-8, strokeWidth=2).encode(color=colour),
        dots.mark_point(yOffset=-8, size=90, filled=True, opacity=1).encode(x=x, color=colour, shape=shape),
        values.mark_text(yOffset=-8, dx=9, align="left").encode(x=alt.X("end:Q", scale=scale), text="text:N"),
    )
    title = alt.Title("Step time", subtitle="dot: median over rounds, with its 95 % interval; small marks: raw blocks")
    return layers.resolve_scale(shape="independent").properties(width=_WIDTH, height=alt.Step(_ROW), title=title)


def _block_shape(report: Report) -> Any:
    """Give each kind of block its own shape, and a legend of those that there are."""
    alt = altair()
    shapes = {data.BLOCK: "M0,-0.8V0.8", data.FLAGGED: "diamond", data.BEYOND: "triangle-right"}
    there = {point["kind"] for point in data.blocks(report)}
    kinds = [kind for kind in shapes if kind in there]
    legend = alt.Legend(title=None, symbolOpacity=1, symbolStrokeColor=_GREY)
    return alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=[shapes[kind] for kind in kinds]), legend=legend)


def _step_finding(report: Report) -> str:
    """Say what the first picture shows."""
    parts = [f"{row.label} {row.step}" + (f" ({row.low} to {row.high})" if row.high else "") for row in report.rows]
    return f"Step time, median and 95 % interval: {', '.join(parts)}."


# --- Time against steps -------------------------------------------------------------------------------------------


def runs_chart(report: Report) -> Chart:
    """Draw the time of a run against its steps: start-up on the left, step time on the right, break-evens between."""
    alt = altair()
    points = data.lines(report)
    least = min(point["low"] for point in points) / _ROOM
    most = max(point["high"] for point in points) * _ROOM
    last = max(point["steps"] for point in points)
    bands = [(look[1], [point for point in points if point["contender"] == look[0]]) for look in data.looks(report)]
    x_scale, y_scale = alt.Scale(type="log", domain=[1, last]), alt.Scale(type="log", domain=[least, most])
    x_axis = alt.Axis(title="steps", format=",~r", values=data.ticks(1, last))
    y_axis = alt.Axis(title="seconds", format=",~r", values=data.ticks(least, most))
    x, y = alt.X("steps:Q", scale=x_scale, axis=x_axis), alt.Y("seconds:Q", scale=y_scale, axis=y_axis)
    line = (
        drawn(points)
        .mark_line(strokeWidth=2)
        .encode(x=x, y=y, color=_by_contender(report, "Color", 1), strokeDash=_by_contender(report, "StrokeDash", 3))
    )
    low = alt.Y("low:Q", scale=y_scale, axis=y_axis)
    layers = [
        *(drawn(band).mark_area(opacity=0.15, color=colour).encode(x=x, y=low, y2="high:Q") for colour, band in bands),
        line,
        *_crossing_layers(report, x, y),
        *_epoch_layers(report, x_scale),
    ]
    title = alt.Title("Time against steps", subtitle="from a cold start; where lines cross is the break-even")
    return alt.layer(*layers).properties(width=_WIDTH, height=260, title=title)


def _crossing_layers(report: Report, x: Any, y: Any) -> list[Chart]:
    """Mark where the lead changes."""
    points = [
        {"steps": one.steps, "seconds": one.seconds, "text": f"step {steps_text(one.steps)}"}
        for one in data.overtakings(report)
    ]
    base = drawn(points).encode(x=x, y=y)
    ring = base.mark_point(size=110, strokeWidth=1.5, color=_GREY, opacity=1)
    return [ring, base.mark_text(dy=16, dx=6, align="left").encode(text="text:N")] if points else []


def _epoch_layers(report: Report, x_scale: Any) -> list[Chart]:
    """Mark one pass over the data, where the data is real."""
    alt = altair()
    steps = data.epoch_steps(report)
    if steps is None or steps <= 1:
        return []
    base = drawn([{"steps": steps}]).encode(x=alt.X("steps:Q", scale=x_scale))
    text = base.mark_text(align="left", dx=5, dy=8).encode(y=alt.value(0), text=alt.value("one pass over the data"))
    return [base.mark_rule(strokeDash=[3, 3], opacity=0.6), text]


def _run_finding(report: Report) -> str:
    """Say what the second picture shows."""
    return report.short_runs or f"Time of a run of {report.runs[0].label} against its number of steps."


# --- Ratio by pair ------------------------------------------------------------------------------------------------


def ratio_chart(report: Report) -> Chart:
    """Draw each pair's interval against the band of equality."""
    alt = altair()
    points = data.ratios(report)
    low, high = data.ratio_domain(report)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    rows = alt.Y("pair:N", sort=[point["pair"] for point in points], axis=alt.Axis(title=None, ticks=False))
    title = "ratio of step times, first over second"
    axis = alt.Axis(title=title, format=",~r", values=data.ratio_ticks(low, high))
    margin = 1.0 + report.margin
    band = drawn([{"low": 1.0 / margin, "high": margin, "one": 1.0}])
    pairs = drawn(points).encode(y=rows)
    ranges = pairs.transform_filter("isValid(datum.low)").encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    shapes = alt.Scale(
        domain=["slower", "equal", "undecided", "no verdict"],
        range=["triangle-right", "circle", "diamond", "cross"],
    )
    layers = alt.layer(
        band.mark_rect(opacity=0.25, color=_GREY).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        band.mark_rule(opacity=0.7).encode(x=alt.X("one:Q", scale=scale)),
        ranges.mark_rule(strokeWidth=2),
        pairs.mark_point(size=90, filled=True, opacity=1).encode(
            x=alt.X("ratio:Q", scale=scale, axis=axis), shape=alt.Shape("verdict:N", scale=shapes, legend=None)
        ),
        pairs.mark_text(align="left", dx=10).encode(x=alt.value(_WIDTH), text="text:N"),
    )
    meaning = "inside the grey band: equal; all on one side of 1: decided; else undecided"
    return layers.properties(
        width=_WIDTH, height=alt.Step(_PAIR_ROW), title=alt.Title("Ratio by pair", subtitle=meaning)
    )


# --- Parts --------------------------------------------------------------------------------------------------------


def drawn(rows: list[data.Point]) -> Chart:
    """Start a chart with its data in it."""
    alt = altair()
    return alt.Chart(alt.Data(values=rows))


def _by_contender(report: Report, channel: str, part: int) -> Any:
    """Map every contender to a part of its look: one colour for its framework, a shape and a dash among its kin."""
    alt = altair()
    found = data.looks(report)
    scale = alt.Scale(domain=[look[0] for look in found], range=[look[part] for look in found])
    legend = alt.Legend(title=None, symbolType="stroke", symbolOpacity=1, symbolSize=400)
    return getattr(alt, channel)("contender:N", scale=scale, legend=legend)


def _stacked(reports: Sequence[Report]) -> Chart:
    """Stack all charts of all reports, each report under its own title."""
    alt = altair()
    apart = {"color": "independent", "shape": "independent", "strokeDash": "independent"}
    parts = []
    for report in reports:
        charts = [draw(report) for _, _, draw in figures(report)] or [_nothing()]
        subtitle = [report.headline, report.machine]
        title = alt.Title(report.work, subtitle=subtitle, fontSize=18, offset=14, frame="bounds")
        parts.append(alt.vconcat(*charts, spacing=28, title=title).resolve_scale(**apart))
    return parts[0] if len(parts) == 1 else alt.vconcat(*parts, spacing=48).resolve_scale(**apart)


def _nothing() -> Chart:
    """Say that there is nothing to draw."""
    alt = altair()
    return drawn([{}]).mark_text().encode(text=alt.value("nothing was timed")).properties(width=_WIDTH)


def titled(svg: str, finding: str) -> str:
    """Give a drawing that stands alone its text for readers who do not see it."""
    text = html.escape(finding)
    opening, _, rest = svg.partition(">")
    return f'{opening} role="img" aria-label="{text}"><title>{text}</title>{rest}'

"""A study's pictures: samples/s over what was varied, with intervals; and the ratio of each pair with its verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.report.pictures import WIDE, altair, drawn, ratio_ticks, spaced, ticks
from bakeoff.report.pictures.legends import legend
from bakeoff.report.pictures.ratios import BAND, meaning, ratio_rows
from bakeoff.report.pictures.rows import rows
from bakeoff.report.points import ends, frame, holes, is_logarithmic, rates, ratio_domain, ratios

if TYPE_CHECKING:
    from bakeoff.report.pictures import Chart, Mark
    from bakeoff.report.points import ChartFrame, Panel, Points

_HEIGHT = 300
_RATIO_HEIGHT = 130
_ROW = 18
"""Pixels a contender, where the points have no numbers to stand along an axis."""
_BESIDE = 54
"""Pixels of a frame that its upright axis takes, with a little room on the right for the last label of the other."""
_ROOM = 1.12
"""Between the marks and the frame, on a logarithmic axis: room for a mark's own size."""
MOST_PAIRS = 6
"""Pairs with a picture of their own: those of four contenders; of more there is the table."""
_TICK = 16
"""Pixels that a mark on an upright axis needs, so that no label is on another."""

_VERDICTS = {
    "slower": ("first takes longer", "triangle-up", "currentColor"),
    "faster": ("first is faster", "triangle-down", "currentColor"),
    "equal": ("equal", "circle", "currentColor"),
    "undecided": ("undecided", "diamond", "transparent"),
    "no verdict": ("too few rounds", "cross", "transparent"),
}
"""For each verdict its word in the legend, its shape, and its inside: what is open is hollow."""


# --- Samples/s ----------------------------------------------------------------------------------------------------


def rate_chart(study: Points, width: int = WIDE) -> Chart:
    """Draw each contender's samples/s with its interval over what was varied."""
    alt = altair()
    here = frame(study)
    draw = _curves if here.numeric and len(here.values) > 1 else _dots
    charts = [draw(study, here, panel, width) for panel in here.panels]
    subtitle = "dot: by the median step time, with its 95 % interval at each point"
    if any(holes(study, here, panel) for panel in here.panels):
        subtitle += "; cross: no figure there"
    title = alt.Title("Samples/s", subtitle=subtitle)
    return alt.vconcat(*charts, spacing=16, title=title).resolve_legend(color="shared", shape="shared")


def _curves(study: Points, here: ChartFrame, panel: Panel, width: int) -> Chart:
    """Draw one frame whose bottom is a scale of numbers."""
    alt = altair()
    points, gaps = rates(study, here, panel), holes(study, here, panel)
    y, foot = _rate_axis(study, here)
    x = _bottom(here, here.axis)
    base = drawn(points).encode(x=x, color=_by_contender(study, "Color", width))
    known = base.transform_filter("isValid(datum.low)")
    dashes, shapes = (_by_contender(study, channel, width) for channel in ("StrokeDash", "Shape"))
    layers = [
        known.mark_area(opacity=0.15, line=False).encode(y=_y(y, "low"), y2="high:Q"),
        base.mark_line(strokeWidth=2).encode(y=_y(y, "rate"), strokeDash=dashes),
        known.mark_rule(strokeWidth=2).encode(y=_y(y, "low"), y2="high:Q"),
        base.mark_point(size=70, filled=True, opacity=1).encode(y=_y(y, "rate"), shape=shapes),
    ]
    if gaps:
        marks = drawn([hole | {"rate": foot} for hole in gaps]).encode(x=x, y=_y(y, "rate"))
        layers.append(_crosses(marks, study, width))
        # What stands at the right end is written to the left of it, all else to the right.
        last = max(hole["x"] for hole in gaps) == max(float(value) for value in here.values)
        side = {"align": "right", "dx": -9} if last else {"align": "left", "dx": 9}
        layers.append(
            drawn(_by_place(gaps, foot)).mark_text(baseline="bottom", **side).encode(x=x, y=_y(y, "rate"), text="why:N")
        )
    return alt.layer(*layers).properties(width=width - _BESIDE, height=_HEIGHT, title=_frame_title(panel))


def _rate_axis(study: Points, here: ChartFrame) -> tuple[Any, float]:
    """Return the axis of samples/s, the same in all frames, and its lower end."""
    alt = altair()
    points = [point for panel in here.panels for point in rates(study, here, panel)]
    low, high = ends(points, "rate", "low", "high") or (0.0, 1.0)
    logarithmic = is_logarithmic(low, high)
    bottom, top = (low / _ROOM, high * _ROOM) if logarithmic else (0.0, high * 1.04)
    axis = alt.Axis(title="samples/s", format=",~r", **({"values": ticks(bottom, top)} if logarithmic else {}))
    scale = alt.Scale(type="log" if logarithmic else "linear", domain=[bottom, top], nice=False)
    return {"scale": scale, "axis": axis}, bottom


def _bottom(here: ChartFrame, title: str | None) -> Any:
    """Return the bottom's axis, marked at the values that were raced."""
    alt = altair()
    if not here.numeric:
        return alt.X("x:N", sort=here.values, axis=alt.Axis(title=title, labelAngle=0))
    values = sorted(float(value) for value in here.values)
    logarithmic = is_logarithmic(values[0], values[-1])
    room = _ROOM if logarithmic else 1.0
    margin = 0.0 if logarithmic else 0.04 * (values[-1] - values[0])
    domain = [values[0] / room - margin, values[-1] * room + margin]
    scale = alt.Scale(type="log" if logarithmic else "linear", domain=domain, nice=False)
    return alt.X("x:Q", scale=scale, axis=alt.Axis(title=title, values=values, format=",~r", labelOverlap=True))


def _y(axis: dict[str, Any], field: str) -> Any:
    """Encode a field on an axis that several layers share."""
    return altair().Y(f"{field}:Q", **axis)


def _dots(study: Points, here: ChartFrame, panel: Panel, width: int) -> Chart:
    """Draw one frame whose points have names: a row for each, and in it a dot for each contender."""
    alt = altair()
    everywhere = [point for one in here.panels for point in rates(study, here, one)]
    _, high = ends(everywhere, "rate", "high") or (0.0, 0.0)
    layout = rows([(f"{here.axis} {value}", "") for value in here.values], width, _ROW * len(study.labels))
    middle = (len(study.labels) - 1) / 2
    places = {
        (value, label): place + _ROW * (index - middle)
        for value, place in zip(here.values, layout.places, strict=True)
        for index, label in enumerate(study.labels)
    }

    def placed(marks: list[Mark]) -> Chart:
        rowed = [
            mark | {"y": places[str(here.values[0] if here.numeric else mark["x"]), mark["contender"]]}
            for mark in marks
        ]
        return drawn(rowed).encode(y=layout.y(), color=_by_contender(study, "Color", width))

    scale = layout.scale(0.0, high * 1.04)
    axis = alt.Axis(title="samples/s", format=",~r", tickCount=min(8, int((layout.right - layout.left) / 70)))
    low, x = alt.X("low:Q", scale=scale, axis=axis), alt.X("rate:Q", scale=scale, axis=axis)
    base = placed(rates(study, here, panel))
    layers = [
        base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2).encode(x=low, x2="high:Q"),
        base.mark_point(size=80, filled=True, opacity=1).encode(x=x, shape=_by_contender(study, "Shape", width)),
    ]
    if gaps := holes(study, here, panel):
        marks = placed([hole | {"rate": 0.0} for hole in gaps]).encode(x=x)
        words = marks.mark_text(align="left", dx=9).encode(text="why:N", color=alt.value("currentColor"))
        layers += [_crosses(marks, study, width), words]
    return layout.chart(layers, _frame_title(panel))


def _crosses(marks: Chart, study: Points, width: int) -> Chart:
    """Mark where there is no figure."""
    cross = marks.mark_point(shape="cross", angle=45, size=90, filled=True, opacity=1)
    return cross.encode(color=_by_contender(study, "Color", width))


def _by_place(holes: list[Mark], foot: float) -> list[Mark]:
    """Return one text for each place along the bottom, with a line for each contender that is missing there."""
    places = dict.fromkeys(hole["x"] for hole in holes)
    return [{"x": x, "rate": foot, "why": [hole["why"] for hole in holes if hole["x"] == x]} for x in places]


def _frame_title(panel: Panel) -> Any:
    """Return a frame its title, which is empty where there is one frame only."""
    return altair().Title(panel.title, fontSize=13, fontWeight="normal")


# --- Ratios -------------------------------------------------------------------------------------------------------


def ratio_chart(study: Points, width: int = WIDE) -> Chart:
    """Draw the ratio of each pair at each point against the band of equality, with the verdict's shape."""
    alt = altair()
    here = frame(study)
    pairs = study.pairs[:MOST_PAIRS]
    outcomes = [row.outcome for row in study.rows if row.outcome is not None]
    levels = {verdict.level for outcome in outcomes for verdict in outcome.verdicts if verdict.low is not None}
    title = alt.Title("Ratio of step times", subtitle=meaning(levels))
    if not (here.numeric and len(here.values) > 1):
        return ratio_rows(_named_ratios(study, pairs), 1.0 + study.margin, width, title)
    there = {point["verdict"] for panel in here.panels for pair in pairs for point in ratios(here, panel, pair)}
    shown = [verdict for verdict in _VERDICTS if verdict in there]
    look = _verdict_look(shown, width)
    frames = [(pair, panel) for pair in pairs for panel in here.panels if ratios(here, panel, pair)]
    charts = [
        _ratio_frame(study, here, panel, pair, look, is_last=index == len(frames) - 1)
        for index, (pair, panel) in enumerate(frames)
    ]
    sized = [chart.properties(width=width - _BESIDE) for chart in charts]
    return alt.vconcat(*sized, spacing=12, title=title).resolve_legend(shape="shared")


def _named_ratios(study: Points, pairs: list[tuple[str, str]]) -> list[Mark]:
    """Return a row for each pair at each point."""
    found = []
    for pair in pairs:
        for line in study.rows:
            known = line.ratios.get(pair)
            if known is None or known.ratio is None:
                continue
            point: Mark = {"pair": f"{' / '.join(pair)}, {line.title}", "ratio": known.ratio, "verdict": known.verdict}
            point["text"] = f"{known.text} {known.verdict}"
            if known.low is not None and known.high is not None:
                point |= {"low": known.low, "high": known.high}
            found.append(point)
    return found


def _ratio_frame(
    study: Points, here: ChartFrame, panel: Panel, pair: tuple[str, str], look: dict[str, Any], *, is_last: bool
) -> Chart:
    """Draw one pair; the last frame names what goes along the bottom of all."""
    alt = altair()
    points = ratios(here, panel, pair)
    x = _bottom(here, here.axis if is_last else None)
    margin = 1.0 + study.margin
    low, high = ratio_domain(study, here, pair)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    places = spaced(ratio_ticks(low, high), (low, high), _RATIO_HEIGHT / _TICK)
    axis = alt.Axis(title=None, format=",~r", values=places)
    band = drawn([{"low": 1.0 / margin, "high": margin, "one": 1.0}])
    base = drawn(points).encode(x=x)
    layers = [
        band.mark_rect(**BAND).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"),
        band.mark_rule(opacity=0.7).encode(y=alt.Y("one:Q", scale=scale)),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2)
        .encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"),
        base.mark_point(size=90, opacity=1, strokeWidth=2).encode(y=alt.Y("ratio:Q", scale=scale, axis=axis), **look),
    ]
    name = " / ".join(pair) + (f", {panel.title}" if panel.title else "")
    title = alt.Title(name, fontSize=13, fontWeight="normal")
    return alt.layer(*layers).properties(height=_RATIO_HEIGHT, title=title)


# --- Parts --------------------------------------------------------------------------------------------------------


def _verdict_look(there: list[str], width: int) -> dict[str, Any]:
    """Return each verdict its own shape, filled where it is decided, and a legend of those that there are."""
    alt = altair()
    words = " : ".join(f"datum.value == '{verdict}' ? '{_VERDICTS[verdict][0]}'" for verdict in there)
    names = legend([_VERDICTS[verdict][0] for verdict in there], width, labelExpr=f"{words} : ''", symbolSize=90)
    shapes, filled = ([_VERDICTS[verdict][part] for verdict in there] for part in (1, 2))
    return {
        "shape": alt.Shape("verdict:N", scale=alt.Scale(domain=there, range=shapes), legend=names),
        "fill": alt.Fill("verdict:N", scale=alt.Scale(domain=there, range=filled), legend=names),
    }


def _by_contender(study: Points, channel: str, width: int) -> Any:
    """Map every contender to a part of its look, with one legend for all parts."""
    alt = altair()
    part = {"Color": "colour", "Shape": "shape", "StrokeDash": "dash"}[channel]
    scale = alt.Scale(domain=study.labels, range=[getattr(look, part) for look in study.looks.values()])
    names = legend(study.labels, width, symbolOpacity=1, symbolSize=120)
    return getattr(alt, channel)("contender:N", scale=scale, legend=names)

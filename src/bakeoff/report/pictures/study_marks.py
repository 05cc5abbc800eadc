"""The points of a study's pictures, as plain rows: what is drawn, before how."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from bakeoff.report.points import PointRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bakeoff.report.pictures import Mark
    from bakeoff.report.points import Points

LOG_FROM = 4.0
"""From this ratio of an axis' largest value to its smallest it is logarithmic: equal factors are equal distances."""


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """The points that share a frame: all whose values agree on every axis but the one along the bottom."""

    title: str
    """Empty where there is one frame only."""
    lines: list[PointRow]


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """What goes along the bottom, and how the points are parted into frames."""

    axis: str
    numeric: bool
    values: list[str]
    panels: list[Panel]
    index: int
    """Of the axis among a line's places."""

    def x(self, line: PointRow) -> float | str:
        """Return a line's place along the bottom."""
        value = line.place[self.index]
        return float(value) if self.numeric else value


def frame(study: Points) -> Frame:
    """Put the longest axis of numbers along the bottom; where there is none, the longest of words."""
    columns = list(zip(*(line.place for line in study.rows), strict=True))
    sizes = [(_is_numeric(column), len(set(column))) for column in columns]
    # An axis with one value only is no axis, however numeric.
    index = max(range(len(columns)), key=lambda one: (sizes[one][0] and sizes[one][1] > 1, sizes[one][1], -one))
    parted: dict[tuple[str, ...], list[PointRow]] = {}
    for line in study.rows:
        others = tuple(value for place, value in enumerate(line.place) if place != index)
        parted.setdefault(others, []).append(line)
    names = [axis for place, axis in enumerate(study.axes) if place != index]
    panels = [
        Panel(title=", ".join(f"{name} {value}" for name, value in zip(names, others, strict=True)), lines=lines)
        for others, lines in parted.items()
    ]
    values = list(dict.fromkeys(columns[index]))
    return Frame(axis=study.axes[index], numeric=sizes[index][0], values=values, panels=panels, index=index)


def _is_numeric(values: Sequence[str]) -> bool:
    """Return whether all values are numbers above 0."""
    try:
        return all(math.isfinite(float(value)) and float(value) > 0 for value in values)
    except ValueError:
        return False


def rates(study: Points, here: Frame, panel: Panel) -> list[Mark]:
    """Return one dot for each contender at each point; low and high only where there is an interval."""
    points = []
    for label in study.labels:
        for line in panel.lines:
            cell = line.cells[label]
            if cell.value is None:
                continue
            point: Mark = {"contender": label, "x": here.x(line), "rate": cell.value}
            if cell.low is not None and cell.high is not None:
                point |= {"low": cell.low, "high": cell.high}
            points.append(point)
    return points


def holes(study: Points, here: Frame, panel: Panel) -> list[Mark]:
    """Return one mark for each contender at each point where it was to race and has no figure."""
    return [
        {"contender": label, "x": here.x(line), "why": f"{label} {line.cells[label].hole}"}
        for label in study.labels
        for line in panel.lines
        if line.cells[label].hole
    ]


def ratios(here: Frame, panel: Panel, pair: tuple[str, str]) -> list[Mark]:
    """Return one mark for each point of a pair."""
    points = []
    for line in panel.lines:
        known = line.ratios.get(pair)
        if known is None or known.ratio is None:
            continue
        point: Mark = {"x": here.x(line), "ratio": known.ratio, "verdict": known.verdict}
        if known.low is not None and known.high is not None:
            point |= {"low": known.low, "high": known.high}
        points.append(point)
    return points


def ratio_domain(study: Points, here: Frame, pair: tuple[str, str]) -> tuple[float, float]:
    """Return the ends of a pair's axis, the same in all frames: the band of equality and every interval."""
    points = [point for panel in here.panels for point in ratios(here, panel, pair)]
    margin = 1.0 + study.margin
    low, high = ends(points, "ratio", "low", "high") or (1.0, 1.0)
    return min(low, 1.0 / margin) / 1.02, max(high, margin) * 1.02


def spaced(places: Sequence[float], domain: tuple[float, float], most: float) -> list[float]:
    """Return the places on a logarithmic axis that have room beside 1 and each other; about `most` fit in all of it."""
    apart = math.log(domain[1] / domain[0]) / most
    kept: list[float] = []
    for place in sorted(places, key=lambda place: abs(math.log(place))):
        if all(abs(math.log(place / other)) >= apart for other in kept):
            kept.append(place)
    return sorted(kept)


def ends(points: Iterable[Mark], *names: str) -> tuple[float, float] | None:
    """Return the smallest and the largest of these fields over all points; None where there is none."""
    values = [point[name] for point in points for name in names if name in point]
    return (min(values), max(values)) if values else None


def is_logarithmic(low: float, high: float) -> bool:
    """Return whether an axis between these is to be logarithmic."""
    return low > 0 and high / low >= LOG_FROM

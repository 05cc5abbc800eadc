"""A study as it is declared: comparisons to run, each with its place among the others."""

from __future__ import annotations

import msgspec

from bakeoff.spec.published import Reproduces
from bakeoff.spec.request import Request


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison of a study."""

    title: str
    """The point's name in tables; unique within a study."""
    coordinates: dict[str, str] = {}
    """The point's place on the axes of a sweep: {"batch size": "32"}; all points have the same axes, or none."""
    request: Request
    left_out: dict[str, str] = {}
    """Contenders that cannot race at this point, each with the reason, such as an option that a framework lacks."""
    rows: dict[str, str] = {}
    """In a reproduction, the contender that stands for each row of the document, by the row's name."""


class Study(msgspec.Struct, frozen=True, kw_only=True):
    """A declared list of comparisons."""

    name: str
    """The start of its folder's name: letters, digits and dashes."""
    title: str
    points: list[Point]
    budget_s: float | None = None
    """Time for all points together; None: no limit beside that of each point's request."""
    command: str = ""
    """The command line that repeats it."""
    reproduces: Reproduces | None = None
    """The published figures that it is held against; None: it is no reproduction."""

    def axes(self) -> dict[str, list[str]]:
        """Return the values of each axis, in the order of the points; empty where points have titles only."""
        axes: dict[str, list[str]] = {}
        for point in self.points:
            for axis, value in point.coordinates.items():
                values = axes.setdefault(axis, [])
                if value not in values:
                    values.append(value)
        return axes

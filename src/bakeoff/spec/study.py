"""A study as it is declared: comparisons to run, each with its place among the others."""

from __future__ import annotations

import msgspec

from bakeoff.spec.published import Reproduces
from bakeoff.spec.request import Request


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison of a study."""

    title: str
    """Its name in tables; unique within a study."""
    coordinates: dict[str, str] = {}
    """Its place on the axes of a sweep: {"batch size": "32"}; the same axes in all points, or none."""
    request: Request
    left_out: dict[str, str] = {}
    """Contenders that cannot race at this point, each with the reason: their framework lacks the option's value."""
    rows: dict[str, str] = {}
    """The contender that stands for each row of the document that the study reproduces, by the row's name."""


class Study(msgspec.Struct, frozen=True, kw_only=True):
    """A declared list of comparisons."""

    name: str
    """Folders begin with it: letters, digits and dashes."""
    title: str
    points: list[Point]
    budget_s: float | None = None
    """Of all points together; None: no limit, or what each point's request says."""
    command: str = ""
    """What repeats it."""
    reproduces: Reproduces | None = None
    """The published figures that it is held against, where it has any."""

    def axes(self) -> dict[str, list[str]]:
        """Give the axes with their values, both in the order of the points; empty where points have titles only."""
        found: dict[str, list[str]] = {}
        for point in self.points:
            for axis, value in point.coordinates.items():
                values = found.setdefault(axis, [])
                if value not in values:
                    values.append(value)
        return found

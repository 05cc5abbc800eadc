"""The events of a study while it runs, beside those of each comparison."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from bakeoff.race import progress
from bakeoff.spec.study import Point, Study


class StudyStarted(msgspec.Struct, frozen=True):
    """The study is on disk; `done` points are finished already and are not run again."""

    study: Study
    path: str
    done: int


class PointStarted(msgspec.Struct, frozen=True):
    """A point's comparison begins; `number` counts from 1."""

    number: int
    of: int
    point: Point
    budget_s: float | None
    """Its share of the time that is left; None: no limit."""


class PointEnded(msgspec.Struct, frozen=True):
    """A point's comparison has ended, or could not be had: then `reason` says why."""

    number: int
    of: int
    point: Point
    reason: str


StudyEvent = StudyStarted | PointStarted | PointEnded
Event = StudyEvent | progress.Event
StudyObserver = Callable[[Event], None]

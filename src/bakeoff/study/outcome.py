"""What a study's records amount to, and all that a report of it reads."""

from __future__ import annotations

import msgspec

from bakeoff.race.outcome import Outcome
from bakeoff.study.declared import Point, Study


class PointOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One point, judged."""

    point: Point
    outcome: Outcome | None = None
    """None where no comparison was begun."""
    reason: str = ""
    """Why there is no outcome, or why it is not finished, in a sentence; empty where all is well."""


class StudyOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """A study, judged."""

    study: Study
    id: str
    path: str
    """The study's folder."""
    created_at: str
    bakeoff: str
    """The version of bakeoff that began it."""
    points: list[PointOutcome]
    """In the order in which they were declared."""

    @property
    def outcomes(self) -> list[Outcome]:
        """Every comparison that was begun."""
        return [point.outcome for point in self.points if point.outcome is not None]

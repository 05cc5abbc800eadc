"""A study as one JSON object: what was varied, and at each point the object of its comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.report import jsonform
from bakeoff.report.study.model import report_of

if TYPE_CHECKING:
    from bakeoff.judge.study import PointOutcome, StudyOutcome

VERSION = 1
"""Raised when a key changes its meaning or goes away; new keys may come without."""


def to_json(study: StudyOutcome) -> dict[str, Any]:
    """Give the object; every documented key is there, and null is not known."""
    report = report_of(study)
    return {
        "version": VERSION,
        "bakeoff": study.bakeoff,
        "study": {
            "id": study.id,
            "path": study.path,
            "created_at": study.created_at,
            "title": study.study.title,
            "command": study.study.command,
            "budget_s": study.study.budget_s,
            "axes": study.study.axes(),
            "headline": report.headline,
            "error_rate": report.error_rate,
        },
        "points": [_point(point) for point in study.points],
        "warnings": report.cautions,
    }


def _point(point: PointOutcome) -> dict[str, Any]:
    """Give one point."""
    return {
        "title": point.point.title,
        "coordinates": point.point.coordinates,
        "left_out": point.point.left_out,
        "reason": point.reason,
        "comparison": jsonform.to_json(point.outcome) if point.outcome else None,
    }

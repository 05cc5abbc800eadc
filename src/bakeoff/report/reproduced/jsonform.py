"""Published beside measured as one JSON object; docs/json.md documents every key. SI units: seconds, bytes, shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.judge import reproduction
from bakeoff.report import jsonform as comparison_form
from bakeoff.report.reproduced.model import headline

if TYPE_CHECKING:
    from bakeoff.judge.reproduction import Held, PublishedLine, PublishedPair
    from bakeoff.judge.study import StudyOutcome

VERSION = 1
"""Raised when a key changes its meaning or goes away; new keys may come without."""


def to_json(study: StudyOutcome) -> dict[str, Any]:
    """Give the object; every documented key is there, and null is not known."""
    here = study.study.reproduces
    assert here is not None
    document: dict[str, Any] = {
        "version": VERSION,
        "bakeoff": study.bakeoff,
        "id": study.id,
        "path": study.path,
        "created_at": study.created_at,
        "command": study.study.command,
        "scaled": here.scaled,
        "device": here.device,
        "headline": headline(study),
        "published": msgspec.to_builtins(here.published),
        "lines": [_line(line) for line in reproduction.lines(study, here.published)],
        "pairs": [_pair(pair) for pair in reproduction.pairs(study, here.published)],
        "claims": [_held(held) for held in reproduction.held(study, here.published)],
        "comparisons": {
            point.point.title: comparison_form.to_json(point.outcome) if point.outcome else {"reason": point.reason}
            for point in study.points
        },
    }
    return document


def _line(line: PublishedLine) -> dict[str, Any]:
    """Give one row on one machine."""
    known = line.measured
    return {
        "comparison": line.comparison,
        "row": line.row,
        "machine": line.machine or None,
        "values": list(line.figure.values) if line.figure else None,
        "disturbed": list(line.figure.disturbed) if line.figure else None,
        "published_step_s": line.published_step_s,
        "contender": known.label if known else None,
        "step_s": known.median_step_s if known else None,
        "step_interval_s": [known.step_s.low, known.step_s.high] if known and known.step_s else None,
        "hole": line.hole or None,
    }


def _pair(pair: PublishedPair) -> dict[str, Any]:
    """Give one pair."""
    verdict = pair.verdict
    return {
        "comparison": pair.comparison,
        "machine": pair.machine,
        "first": pair.first,
        "second": pair.second,
        "published_ratio": pair.published,
        "published_range": list(pair.published_range) if pair.published_range else None,
        "ratio": verdict.ratio if verdict else None,
        "interval": [verdict.low, verdict.high] if verdict else None,
        "verdict": verdict.verdict if verdict else None,
        "order": pair.order,
        "ranking": pair.ranking,
        "reason": pair.reason or None,
    }


def _held(held: Held) -> dict[str, Any]:
    """Give one statement of the document."""
    return {
        "text": held.claim.text,
        "published_percent": held.claim.percent,
        "percent": held.percent,
        "verdicts": [verdict.verdict for verdict in held.verdicts],
        "reason": held.reason or None,
    }

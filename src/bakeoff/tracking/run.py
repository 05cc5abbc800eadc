"""What a tracker is sent, in no tracker's form: one run for each contender of a comparison."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

Scalar = str | int | float | bool

RunState = Literal["running", "finished", "failed", "interrupted"]
"""running: the comparison goes on.  finished: it is over, and the contender has its figures.  failed: it is over, and
the contender has none.  interrupted: nobody goes on with the comparison now, and it is not over."""

ID_DIGITS = 32
"""Hexadecimal digits of a run's id, 128 bits: as many as the ids that MLflow draws, and trackers take as many."""


class TrackedBlock(msgspec.Struct, frozen=True, kw_only=True):
    """One timed block."""

    step: int
    """Blocks of this contender before it, in all rounds."""
    at_ms: int
    """When its trial began: milliseconds since 1970."""
    values: dict[str, float]
    """By name; what is unknown is not there."""


class TrackedRun(msgspec.Struct, frozen=True, kw_only=True):
    """All that a tracker is sent of one contender."""

    id: str
    """The same whenever the same comparison is tracked: a tracker that has it already gets no second run."""
    name: str
    """The contender's label."""
    group: str
    """The comparison's name."""
    created_ms: int
    """When the comparison began: milliseconds since 1970."""
    state: RunState
    config: dict[str, Scalar]
    """What was asked for and in force, and where; keys of keys are joined by dots, as in docs/json.md."""
    metrics: dict[str, float]
    """Figures with their intervals, by the names of docs/json.md; of each pair `verdict.<other>.ratio`."""
    words: dict[str, str]
    """The answer in a sentence, the contender's status, and its verdict beside each other contender."""
    points: list[TrackedBlock]
    records: int
    """Trials behind these figures: they grow while the comparison runs."""
    note: str = ""
    """The report as Markdown."""
    files: dict[str, bytes] = {}
    """By name; empty while the comparison runs."""


def run_id(comparison_id: str, created_at: str, label: str) -> str:
    """Return the id of a contender's run; `created_at` tells comparisons of one name apart."""
    text = f"{comparison_id}\n{created_at}\n{label}"
    return hashlib.sha256(text.encode()).hexdigest()[:ID_DIGITS]

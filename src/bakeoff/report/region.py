"""The timed region of an outcome, in the words of the clock that keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.machine_words import timed_region

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome


def region(outcome: Outcome) -> str:
    """Say what one timed step is, for the ways of input that these contenders have."""
    return timed_region({one.label: one.plan.contender.options.get("input", "resident") for one in outcome.contenders})

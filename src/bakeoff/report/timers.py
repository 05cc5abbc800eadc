"""The timers' self-tests in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.units import listed

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.selftest import TimerOutcome

TIMER_WORDS: dict[TimerOutcome, str] = {
    "passed": "passed",
    "failed": "failed",
    "untold": "could not be told",
    "unavailable": "not available",
}


def timers_line(outcome: Outcome) -> str:
    """Say how the self-tests have ended, and where they were made before this comparison."""
    tested = [one for one in outcome.contenders if one.timer is not None]
    if not tested:
        return "The timers' self-test was not made."
    ended = [f"{one.label} {TIMER_WORDS[one.timer.outcome]}" for one in tested if one.timer]
    before = [
        f"{one.label}'s in comparison {one.timer.comparison}"
        for one in tested
        if one.timer and one.timer.comparison != outcome.comparison.id
    ]
    where = f" It was made before: {listed(before)}." if before else ""
    return f"The timers' self-test: {listed(ended)}.{where}"


def timer_cautions(outcome: Outcome) -> list[str]:
    """Warn of ranked contenders whose timer could not be told to be right."""
    return [
        f"{one.label}: the self-test of its timer could not be told here: {one.timer.reason}."
        for one in outcome.contenders
        if one.status == "ranked" and one.timer is not None and one.timer.outcome == "untold"
    ]

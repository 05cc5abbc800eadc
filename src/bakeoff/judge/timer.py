"""Whether the clock can be trusted with one contender, from a trial of the timer's self-test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.selftest import TimerVerdict
from bakeoff.stats.selftest import judge_timer

if TYPE_CHECKING:
    from bakeoff.spec.record import Record


def timer_verdict(record: Record) -> TimerVerdict:
    """Return the verdict on a timer, from its self-test; an unfinished test proves nothing."""
    label = record.trial.contender.label
    verdict = judge_timer(label, record.timer)
    if record.outcome != "done":
        verdict = TimerVerdict(contender=label, outcome="untold", reason=record.reason)
    return msgspec.structs.replace(verdict, tested_at=record.started_at, comparison=record.trial.comparison)

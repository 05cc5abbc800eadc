"""Whether the clock can be trusted with one contender: by the timer's self-test, and by the counters around blocks."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.selftest import TimerVerdict
from bakeoff.stats.selftest import judge_timer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.spec.record import Record

SHARE = 0.05
"""How much of a timed part may be missing: the default margin of equality, as for `stats.selftest.LIMITS`. Found on
honest frameworks: 0.005 at most (docs/records, all blocks)."""

SLACK_NS = 2_000_000
"""And at least so much, so that what lies between two readings is no finding in a short block."""

FEWEST_BLOCKS = 5
"""A process that is suspended between two readings makes one block look short, and not the median of five."""


def timer_verdict(record: Record) -> TimerVerdict:
    """Return the verdict on a timer, from its self-test; an unfinished test proves nothing."""
    label = record.trial.contender.label
    verdict = judge_timer(label, record.timer)
    if record.outcome != "done":
        verdict = TimerVerdict(contender=label, outcome="untold", reason=record.reason)
    return msgspec.structs.replace(verdict, tested_at=record.started_at, comparison=record.trial.comparison)


def why_short(timed: Iterable[Record]) -> str:
    """Return that the clock counts less, or more, than has passed, in a sentence; empty where it does not.

    The counters of `measure.contention` are read before a block's lead-in and after its timed part, by a call of their
    own. A scripted clock counts no real time.
    """
    blocks = [block for record in timed if record.clock == "monotonic" for block in record.blocks]
    if len(blocks) < FEWEST_BLOCKS:
        return ""
    missing = [block.signals.wall_ns - block.lead_ns - block.elapsed_ns for block in blocks]
    share = statistics.median(gap / max(block.elapsed_ns, 1) for gap, block in zip(missing, blocks, strict=True))
    if abs(share) <= SHARE or abs(statistics.median(missing)) <= SLACK_NS:
        return ""
    amount = "less" if share > 0 else "more"
    return f"its clock counts {abs(share):.1%} {amount} than passes in a block by the counters around it"

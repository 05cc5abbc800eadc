"""Whether the clock can be trusted with one contender: by the timer's self-test, and by the counters around blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.selftest import TimerVerdict
from bakeoff.stats.selftest import judge_timer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.record import Block, Record

SHARE = 0.05
"""How much of a timed part may be missing: the default margin of equality, as for `stats.selftest.LIMITS`. Found on
honest frameworks: 0.005 at most (docs/records, all blocks)."""

SLACK_NS = 2_000_000
"""And at least so much, so that what lies between two readings is no finding in a short block."""

FEWEST_BLOCKS = 5
"""Fewer show nothing: a process that is suspended between two readings makes a block look short."""

BEST = 4
"""The quarter of the blocks that agree best with the counters is judged. On a loaded machine a process is suspended
between two readings in most blocks: an honest one had a median of 9 % missing at a load of 10 on 2 cores. A clock that
is wrong is wrong in all blocks."""


def timer_verdict(record: Record) -> TimerVerdict:
    """Return the verdict on a timer, from its self-test; an unfinished test proves nothing."""
    label = record.trial.contender.label
    verdict = judge_timer(label, record.timer)
    if record.outcome != "done":
        verdict = TimerVerdict(contender=label, outcome="untold", reason=record.reason)
    return msgspec.structs.replace(verdict, tested_at=record.started_at, comparison=record.trial.comparison)


def why_own_clock(plan: ContenderPlan, timed: Iterable[Record]) -> str:
    """Return that a framework was timed by a clock that its engine brings, in a sentence; empty where it was not.

    A script has one, and a script alone: it is held against no counter, and may count what it likes.
    """
    if plan.scripted or all(record.clock == "monotonic" for record in timed):
        return ""
    return "its engine brings a clock of its own (virtual_clock), by which nothing but a script can be timed"


def why_short(timed: Iterable[Record]) -> str:
    """Return that the clock counts less, or more, than has passed, in a sentence; empty where it does not.

    The counters of `measure.contention` are read before a block's lead-in and after its timed part, by a call of their
    own. A scripted clock counts no real time.
    """
    blocks = [block for record in timed if record.clock == "monotonic" for block in record.blocks]
    if len(blocks) < FEWEST_BLOCKS:
        return ""
    missing = [(_missing_ns(block), block.elapsed_ns) for block in blocks]
    gap_ns, elapsed_ns = sorted(missing, key=lambda one: abs(one[0]) / max(one[1], 1))[len(missing) // BEST]
    share = gap_ns / max(elapsed_ns, 1)
    if abs(share) <= SHARE or abs(gap_ns) <= SLACK_NS:
        return ""
    amount = "less" if share > 0 else "more"
    return f"its clock counts {abs(share):.1%} {amount} than passes in a block by the counters around it"


def _missing_ns(block: Block) -> int:
    """Return how long the counters ran around a block beyond all of its parts."""
    parts_ns = block.lead_ns + (block.restore_ns or 0) + block.asked_ns + block.elapsed_ns
    return block.signals.wall_ns - parts_ns

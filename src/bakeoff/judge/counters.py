"""What counters and other processes amount to: a new counter that is read around blocks is a field and a line here."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import msgspec

from bakeoff.measure.contention import is_flagged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.record import Block, Record

MOST_FAULTS_PER_STEP = 1.0
"""Above this the step time holds the kernel's work of handing out memory (docs/timing.md)."""

GIVES_BACK = frozenset(("settled", "fresh"))
"""States of glibc's malloc in which it gives some of what is freed back."""


class BlockCounters(msgspec.Struct, frozen=True, kw_only=True):
    """One contender's counters over all of its blocks; None is unknown here."""

    cores_used: float | None = None
    """Processor time over wall time."""
    minor_faults_per_step: float | None = None
    major_faults: int | None = None
    """Page faults that had to wait for a disk."""


def block_counters(blocks: Sequence[Block]) -> BlockCounters:
    """Return the counters of these blocks, lead-ins and timed parts together; unknown where any block lacks one."""
    if not blocks:
        return BlockCounters()
    steps = sum(len(block.steps_ns) + block.lead_steps for block in blocks)
    minor = _total([block.signals.minor_faults for block in blocks])
    return BlockCounters(
        cores_used=sum(block.signals.cpu_ns for block in blocks) / sum(block.signals.wall_ns for block in blocks),
        minor_faults_per_step=None if minor is None else minor / steps,
        major_faults=_total([block.signals.major_faults for block in blocks]),
    )


def _total(counts: Sequence[int | None]) -> int | None:
    """Return the sum; None where one is unknown."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def flagged_share(timed: Sequence[Record]) -> tuple[float | None, int]:
    """Return the median share of other processes over all blocks, and the number of rounds that they disturbed."""
    shares = [b.signals.foreign_share for r in timed for b in r.blocks if b.signals.foreign_share is not None]
    rounds = {r.trial.round_number for r in timed if r.blocks and is_flagged(*(block.signals for block in r.blocks))}
    return (statistics.median(shares) if shares else None), len(rounds)


def clock_range_mhz(timed: Sequence[Record]) -> tuple[float, float] | None:
    """Return the lowest and the highest clock of the processors at the ends of these trials."""
    seen = [clock for record in timed if isinstance(clock := record.weather.get("clock_mhz"), int | float)]
    return (min(seen), max(seen)) if seen else None

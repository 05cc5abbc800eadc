"""What else the machine did while contenders were timed."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from bakeoff.measure.contention import is_flagged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.record import Record


def flagged_share(timed: Sequence[Record]) -> tuple[float | None, int]:
    """Return the median share of other processes over all blocks, and the number of rounds that they disturbed."""
    shares = [b.signals.foreign_share for r in timed for b in r.blocks if b.signals.foreign_share is not None]
    rounds = {r.trial.round_number for r in timed if r.blocks and is_flagged(*(block.signals for block in r.blocks))}
    return (statistics.median(shares) if shares else None), len(rounds)


def clock_range_mhz(timed: Sequence[Record]) -> tuple[float, float] | None:
    """Return the lowest and the highest clock of the processors at the ends of these trials."""
    seen = [clock for record in timed if isinstance(clock := record.weather.get("clock_mhz"), int | float)]
    return (min(seen), max(seen)) if seen else None

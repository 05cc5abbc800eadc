"""What training does to the cost of a step, from blocks early and late in one process: pure."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.record import NS, DenormalCount
from bakeoff.spec.verdict import Interval
from bakeoff.stats.intervals import fixed_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.record import LateReading, Record

LATE_STEPS = (1000, 300, 100)
"""The late step is the first of these that the contender reaches in time: Adam's first moment of a weight whose
gradient has become zero is denormal after some 800 steps (0.9 to the 830th is 1e-38)."""

LONGEST_S = 10.0
"""How long a contender may train for it: about as long as a process takes for the rest of the trial."""

MANY = 0.01
"""Share of an array's elements from which on it is said to hold denormal numbers."""


class Late(msgspec.Struct, frozen=True, kw_only=True):
    """A step late in training beside the same contender's early one; of one process."""

    early_step: int
    late_step: int
    ratio: Interval | None
    """Late over early: the median over pairs of blocks, with 95 % of their centre by signed ranks; None below 6."""
    pairs: int
    early_s: float
    """Median over blocks of the time of a step, as `late_s`."""
    late_s: float
    early: dict[str, DenormalCount] = {}
    late: dict[str, DenormalCount] = {}
    measured_at: str = ""
    """UTC, in ISO 8601."""
    comparison: str = ""
    """The identifier of the comparison that it was measured in: this one, or an earlier one."""

    def differs(self, margin: float) -> bool:
        """Return whether training has changed the cost: the interval excludes 1, and the ratio is beyond the margin."""
        ratio = self.ratio
        if ratio is None or ratio.low <= 1.0 <= ratio.high:
            return False
        return not 1.0 / (1.0 + margin) <= ratio.estimate <= 1.0 + margin

    def denormal(self) -> dict[str, float]:
        """Return the groups of arrays that hold denormal numbers late in training, and more than early; with shares."""
        return {
            name: count.share
            for name, count in self.late.items()
            if count.share >= MANY and (name not in self.early or count.share > self.early[name].share)
        }


def late_step(step_s: float) -> int | None:
    """Return the late step of a contender with this step time; None where its steps are too long."""
    return next((steps for steps in LATE_STEPS if steps * step_s <= LONGEST_S), None)


def late(records: Sequence[Record]) -> Late | None:
    """Return what a contender's trial of late steps has found; None where there is none that came to its end."""
    known = [(record, record.late) for record in records if record.late is not None and record.outcome == "done"]
    return _judged(*known[-1]) if known and known[-1][1].blocks else None


def _judged(record: Record, reading: LateReading) -> Late:
    """Return what the pairs of one process say."""
    times: dict[int, dict[int, float]] = {}
    for block in reading.blocks:
        times.setdefault(block.turn, {})[block.first_step] = max(1, block.elapsed_ns) * NS / len(block.steps_ns)
    early, late = ([pair[step] for pair in times.values()] for step in (reading.early_step, reading.late_step))
    logs = [math.log(after / before) for before, after in zip(early, late, strict=True)]
    middle, ends = statistics.median(logs), fixed_interval(logs, 0.95) if len(logs) >= _FEWEST_PAIRS else None
    ratio = None
    if ends is not None:
        # The median may lie just outside of the signed ranks' interval of the centre, which then includes it.
        low, high = min(ends.low, middle), max(ends.high, middle)
        ratio = Interval(estimate=math.exp(middle), low=math.exp(low), high=math.exp(high))
    return Late(
        early_step=reading.early_step,
        late_step=reading.late_step,
        ratio=ratio,
        pairs=len(logs),
        early_s=statistics.median(early),
        late_s=statistics.median(late),
        early=reading.early,
        late=reading.late,
        measured_at=record.started_at,
        comparison=record.trial.comparison,
    )


_FEWEST_PAIRS = 6
"""With fewer, signed ranks have no interval at 95 %."""

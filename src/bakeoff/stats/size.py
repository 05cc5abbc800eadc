"""How large a difference is: an interval for one pair alone, from all of its rounds, whatever decided its direction.

It is reported as 95 %, and computed at 97 %: a race that goes on until the interval is narrow ends a little more
readily where it is narrow by chance. docs/verdicts.md has the coverage after that, from simulation.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bakeoff.spec.verdict import Interval
from bakeoff.stats.boundaries import FROM_SIGN
from bakeoff.stats.intervals import MIN_VALUES, largest_index, pseudo_median, signed_rank_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.verdict import VerdictKind

LEVEL = 0.95
"""The coverage that is told."""
COMPUTED = 0.97
"""The coverage of a number of rounds that was fixed beforehand."""

MULTIPLIERS = {3: 5.647, 4: 3.940, 5: 3.342, 6: 3.054, 7: 2.888, 8: 2.772, 9: 2.693}
"""By number of rounds, the half-width of the interval around the pseudo-median in standard errors: Student's t with a
slightly less efficient centre. From benchmarks/boundaries.py, 4,000,000 draws."""


class Narrow(NamedTuple):
    """When a size is known: the half-width of its interval, as a logarithm, is at most one of two limits.

    half_width  5 % of the ratio
    share       a quarter of the difference: of a ratio of 2 nobody asks for the third digit
    """

    half_width: float = math.log1p(0.05)
    share: float = 0.25


NARROW = Narrow()


def size_interval(values: Sequence[float], verdict: VerdictKind = "undecided") -> Interval | None:
    """Return the pseudo-median of a pair's log-ratios with its interval, cut at 0 in the verdict's direction.

    None below 3 rounds. By t below 10 rounds, by signed ranks from there on, which wild rounds hardly widen.
    """
    count = len(values)
    if count < MIN_VALUES:
        return None
    if count < FROM_SIGN:
        middle = pseudo_median(values)
        half = MULTIPLIERS[count] * float(np.std(values, ddof=1)) / math.sqrt(count)
        interval = Interval(estimate=middle, low=middle - half, high=middle + half)
    else:
        index = largest_index(count, 1.0 - COMPUTED)
        assert index is not None  # from 7 rounds on there is one at 97 %
        interval = signed_rank_interval(values, index)
    return _cut(interval, verdict)


def is_narrow(interval: Interval) -> bool:
    """Return whether the size is known as narrowly as a comparison goes on for by default."""
    half = (interval.high - interval.low) / 2.0
    return half <= max(NARROW.half_width, NARROW.share * abs(interval.estimate))


def _cut(interval: Interval, verdict: VerdictKind) -> Interval:
    """Return the part of an interval that agrees with the direction that was found, and the estimate within it."""
    low = max(interval.low, 0.0) if verdict == "slower" else interval.low
    high = min(interval.high, 0.0) if verdict == "faster" else interval.high
    if low > high:
        # Rounds after the decision point the other way; the direction stands, and all that is left of it is its edge.
        return Interval(estimate=0.0, low=0.0, high=0.0)
    return Interval(estimate=min(high, max(low, interval.estimate)), low=low, high=high)

"""The exact null distribution of Wilcoxon's signed-rank statistic, without ties."""

from __future__ import annotations

from functools import cache

import numpy as np


@cache
def two_sided_levels(count: int) -> tuple[float, ...]:
    """Give the probability, for k = 0, 1, ..., that either rank sum of `count` differences is at most k.

    Each rank 1...count carries a plus or a minus with equal chance when the differences are symmetric about zero.
    """
    ways = np.zeros(count * (count + 1) // 2 + 1)
    ways[0] = 1.0
    for rank in range(1, count + 1):
        ways[rank:] += ways[:-rank].copy()
    levels = 2.0 * np.cumsum(ways) / 2.0**count
    return tuple(np.minimum(levels, 1.0).tolist())


def largest_index(count: int, level: float) -> int | None:
    """Give the largest k whose two-sided level is at most `level`; None where `count` is too small for any."""
    index = sum(reached <= level for reached in two_sided_levels(count)) - 1
    return None if index < 0 else index

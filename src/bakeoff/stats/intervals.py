"""Confidence intervals for the centre of a few numbers: by Student's t, and by Wilcoxon's signed-rank test.

The signed-rank interval and the Hodges-Lehmann estimate need a symmetric distribution, not a normal one. The contenders
of a round run in random order, so that a log-ratio is symmetric about zero where both are equally fast, however heavy
the tails of the noise are. Source: Hodges and Lehmann, "Estimates of location based on rank tests", Annals of
Mathematical Statistics 34, 1963; Hollander, Wolfe and Chicken, "Nonparametric statistical methods", section 3.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit  # and not scipy.stats, which takes half a second to import

from bakeoff.spec.verdict import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MIN_VALUES = 3
"""The fewest values of an interval: two hardly show their spread, and by t at 95 % their interval would reach 9
standard deviations to each side."""


def t_interval(values: Sequence[float], multiplier: float) -> Interval:
    """Return the mean with an interval of `multiplier` standard errors to each side."""
    array = np.asarray(values, dtype=float)
    mean = float(array.mean())
    half = multiplier * float(array.std(ddof=1)) / math.sqrt(len(array))
    return Interval(estimate=mean, low=mean - half, high=mean + half)


@cache
def two_sided_levels(count: int) -> tuple[float, ...]:
    """Return, for k = 0, 1, ..., the probability that either rank sum of `count` differences is at most k.

    This is the exact null distribution of Wilcoxon's statistic without ties: where the differences are symmetric about
    zero, each rank 1...count has a plus or a minus sign with equal probability.
    """
    ways = np.zeros(count * (count + 1) // 2 + 1)
    ways[0] = 1.0
    # ways[s]: in how many ways ranks sum up to s; each further rank is in the sum or not.
    for rank in range(1, count + 1):
        ways[rank:] += ways[:-rank].copy()
    levels = 2.0 * np.cumsum(ways) / 2.0**count
    return tuple(np.minimum(levels, 1.0).tolist())


def largest_index(count: int, level: float) -> int | None:
    """Return the largest k whose two-sided level is at most `level`; None where `count` is too small for any."""
    index = sum(reached <= level for reached in two_sided_levels(count)) - 1
    return None if index < 0 else index


def signed_rank_interval(values: Sequence[float], index: int) -> Interval:
    """Return the Hodges-Lehmann estimate with the Walsh averages at `index` from either end as its interval."""
    averages = walsh_averages(values)
    last = len(averages) - 1
    return Interval(estimate=_middle(averages), low=float(averages[index]), high=float(averages[last - index]))


def pseudo_median(values: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the estimate of every pair: the median of all averages of two rounds (Hodges and Lehmann)."""
    return _middle(walsh_averages(values))


def fixed_interval(values: Sequence[float], confidence: float) -> Interval | None:
    """Return the interval for a single look that was planned beforehand; None below 3 values.

    By signed ranks where there are enough values for this confidence (at 95 %, from 6 on), else by t.
    """
    count = len(values)
    if count < MIN_VALUES:
        return None
    index = largest_index(count, 1.0 - confidence)
    if index is None:
        return t_interval(values, float(stdtrit(count - 1, 0.5 + confidence / 2.0)))
    return signed_rank_interval(values, index)


def absolute_interval(values: Sequence[float]) -> Interval | None:
    """Return the median of positive values, one a round, with the 95 % interval of their centre; None below 3.

    The interval is computed on logarithms, because times vary in proportion. Disturbances make times asymmetric, so
    that the median may lie just outside of the signed-rank interval, which is then widened to include it.
    """
    interval = fixed_interval([math.log(value) for value in values], 0.95)
    if interval is None:
        return None
    median = float(np.median(values))
    return Interval(estimate=median, low=min(median, math.exp(interval.low)), high=max(median, math.exp(interval.high)))


def walsh_averages(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the averages of every value with itself and with every other value, sorted."""
    array = np.asarray(values, dtype=float)
    rows, columns = np.triu_indices(len(array))
    return np.sort((array[rows] + array[columns]) / 2.0)


def _middle(ordered: NDArray[np.float64]) -> float:
    """Return the median of sorted numbers."""
    last = len(ordered) - 1
    return float((ordered[last // 2] + ordered[last - last // 2]) / 2.0)

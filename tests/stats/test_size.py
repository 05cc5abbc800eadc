"""The size: an interval of one pair alone, at the level that it tells."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bakeoff.stats.intervals import pseudo_median, two_sided_levels
from bakeoff.stats.size import LEVEL, MULTIPLIERS, is_narrow, size_interval


def test_few_rounds_by_t_around_the_pseudo_median() -> None:
    """Five rounds: 3.342 standard errors around the median of averages, not around the mean."""
    values = [0.1, 0.2, 0.15, 0.12, 0.9]
    interval = size_interval(values)
    assert interval is not None
    half = 3.342 * float(np.std(values, ddof=1)) / math.sqrt(5)
    middle = pseudo_median(values)
    assert (interval.estimate, interval.low, interval.high) == pytest.approx((middle, middle - half, middle + half))
    assert size_interval(values[:2]) is None


def test_ten_rounds_by_signed_ranks_at_97_percent() -> None:
    """Of 55 averages the sixth from either end: 0.0273 is the largest level up to 3 %."""
    values = np.random.default_rng(1).normal(size=10)
    averages = sorted((values[i] + values[j]) / 2 for i in range(10) for j in range(i, 10))
    interval = size_interval(values.tolist())
    assert interval is not None
    level = [index for index, one in enumerate(two_sided_levels(10)) if one <= 0.03][-1]
    assert (interval.low, interval.high) == pytest.approx((averages[level], averages[-1 - level]))


@pytest.mark.parametrize("count", [*MULTIPLIERS, 10, 13, 20])
def test_a_fixed_number_of_rounds_is_covered_at_97_percent(count: int) -> None:
    """From either side: neither fewer than 96.2 %, nor more than the discreteness of ranks makes of it."""
    random = np.random.default_rng(40 + count).normal(size=(4000, count))
    found = [size_interval(row) for row in random.tolist()]
    covered = np.mean([one is not None and one.low <= 0.0 <= one.high for one in found])
    assert 0.962 <= covered <= 0.981
    assert LEVEL == 0.95


def test_the_direction_that_was_found_cuts_the_interval() -> None:
    """Below 1 nothing is told of a contender that is slower; where rounds turned, the edge is what is left."""
    values = [0.05, -0.02, 0.06, 0.03, 0.04]
    uncut, slower, faster = (size_interval(values, kind) for kind in ("undecided", "slower", "faster"))
    assert uncut is not None
    assert slower is not None
    assert faster is not None
    assert uncut.low < 0.0 < uncut.high
    assert (slower.low, slower.high, slower.estimate) == (0.0, uncut.high, uncut.estimate)
    assert (faster.high, faster.estimate) == (0.0, 0.0)
    turned = size_interval([-0.5, -0.51, -0.5, -0.49, -0.5], "slower")
    assert turned is not None
    assert (turned.low, turned.estimate, turned.high) == (0.0, 0.0, 0.0)


def test_narrow_is_five_percent_or_a_quarter() -> None:
    """Of a small difference 5 % of the ratio, of a large one a quarter of it."""
    from bakeoff.spec.verdict import Interval

    assert is_narrow(Interval(estimate=0.1, low=0.1 - 0.048, high=0.1 + 0.048))
    assert not is_narrow(Interval(estimate=0.1, low=0.05, high=0.15))
    assert is_narrow(Interval(estimate=1.0, low=0.76, high=1.24))
    assert not is_narrow(Interval(estimate=1.0, low=0.74, high=1.26))

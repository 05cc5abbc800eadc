"""Intervals that hold at every round: against the definition of their likelihood ratio, and about both centres."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import nct, norm, t

from bakeoff.stats.anytime import LEVEL, PRIOR_VARIANCE, anytime_decision, anytime_interval, anytime_multiplier
from bakeoff.stats.intervals import pseudo_median


@pytest.mark.parametrize("count", [5, 10, 40])
@pytest.mark.parametrize("pairs", [1, 3])
def test_at_its_end_the_likelihood_ratio_is_what_the_level_allows(count: int, pairs: int) -> None:
    """That of the t statistic, mixed over effects of a normal prior: 20 for a pair alone, so often more for several."""
    multiplier = anytime_multiplier(count, pairs)
    assert multiplier is not None
    deviation = math.sqrt(PRIOR_VARIANCE * count)
    shifts, width = np.linspace(-4.0 * deviation, 4.0 * deviation, 401, retstep=True)
    mixed = width * float(norm.pdf(shifts, scale=deviation) @ nct.pdf(multiplier, count - 1, shifts))
    assert mixed / float(t.pdf(multiplier, count - 1)) == pytest.approx(pairs / LEVEL, rel=1e-2)


def test_few_rounds_exclude_nothing() -> None:
    """With two or three there is no interval, however close they are."""
    assert anytime_multiplier(2, 1) is None
    assert anytime_interval([0.5, 0.5, 0.5], 100) is None


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_direction_needs_mean_and_pseudo_median_clear_of_zero(sign: float) -> None:
    """A burst moves the mean alone: the interval reaches from the lower of both centres to the higher."""
    values = [sign * one for one in (0.01, 0.0, -0.01, 0.005, 0.02, 0.015, 0.4)]
    mean, middle = float(np.mean(values)), pseudo_median(values)
    assert abs(mean - middle) > 0.04
    multiplier, found = anytime_multiplier(7, 1), anytime_decision(values, 1)
    assert found is not None
    assert multiplier is not None
    half = multiplier * float(np.std(values, ddof=1)) / math.sqrt(7)
    assert found.estimate == pytest.approx(middle)
    assert (found.low, found.high) == pytest.approx((min(mean, middle) - half, max(mean, middle) + half))

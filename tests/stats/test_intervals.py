from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from bakeoff.stats.first.boundaries import LOOKS, RANK_LOOKS
from bakeoff.stats.first.intervals import centre, pair_interval
from bakeoff.stats.intervals import (
    absolute_interval,
    fixed_interval,
    signed_rank_interval,
    t_interval,
)

differences = st.floats(-2.0, 2.0, allow_nan=False)


def test_t_interval_by_hand() -> None:
    """Mean 2, standard deviation 1, standard error 1 / sqrt(3)."""
    interval = t_interval([1.0, 2.0, 3.0], 15.87)
    half = 15.87 / math.sqrt(3)
    assert (interval.estimate, interval.low, interval.high) == pytest.approx((2.0, 2.0 - half, 2.0 + half))


def test_signed_rank_interval_by_hand() -> None:
    """Of 1, 2, 10 the Walsh averages are 1, 1.5, 2, 5.5, 6, 10; their median is 3.75."""
    interval = signed_rank_interval([10.0, 1.0, 2.0], 1)
    assert (interval.estimate, interval.low, interval.high) == (3.75, 1.5, 6.0)
    widest = signed_rank_interval([10.0, 1.0, 2.0], 0)
    assert (widest.low, widest.high) == (1.0, 10.0)


def test_pair_interval_changes_its_kind_at_seven_rounds() -> None:
    """Five rounds take t, seven the range of the Walsh averages, six nothing: it is no look."""
    values = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.9]
    five, seven = pair_interval(values[:5], 1), pair_interval(values, 1)
    assert five == t_interval(values[:5], 5.97)
    assert seven is not None
    assert (seven.low, seven.high) == (0.0, 0.9)
    assert pair_interval(values[:6], 1) is None


def test_no_interval_where_a_look_is_too_early() -> None:
    """Seven rounds cannot convince in a family of two pairs, nor ten in one of nine."""
    assert pair_interval([1.0] * 7, 2) is None
    assert pair_interval([1.0] * 10, 9) is None
    assert pair_interval([1.0] * 10, 8) is not None


@pytest.mark.parametrize("look", RANK_LOOKS)
def test_one_wild_round_does_not_undo_a_signed_rank_look(look: int) -> None:
    """An outlier among many equal differences leaves the interval on its side of zero from 14 rounds on."""
    interval = pair_interval([0.1] * (look - 1) + [-5.0], 1)
    assert interval is not None
    assert (interval.low > 0.0) == (look >= 14)


@given(st.sampled_from(LOOKS), st.integers(1, 36), st.data())
def test_intervals_mirror(look: int, family: int, data: st.DataObject) -> None:
    """Exchanging the two sides changes the sign of everything, exactly."""
    values = data.draw(st.lists(differences, min_size=look, max_size=look))
    interval, mirror = pair_interval(values, family), pair_interval([-value for value in values], family)
    assert (interval is None) == (mirror is None)
    if interval and mirror:
        assert (interval.low, interval.high) == (-mirror.high, -mirror.low)
        assert interval.estimate == -mirror.estimate
        assert interval.low <= interval.estimate <= interval.high


def test_absolute_interval_by_hand() -> None:
    """Five values take t at 95 % on logarithms; the estimate is their median."""
    values = [1.0, 2.0, 4.0, 8.0, 16.0]
    interval = absolute_interval(values)
    half = student.ppf(0.975, 4) * math.log(2) * np.std([0, 1, 2, 3, 4], ddof=1) / math.sqrt(5)
    assert interval is not None
    assert interval.estimate == 4.0
    assert (interval.low, interval.high) == pytest.approx((4 * math.exp(-half), 4 * math.exp(half)))


def test_absolute_interval_takes_signed_ranks_from_six_on() -> None:
    """Six values are covered from the smallest to the largest."""
    interval = absolute_interval([6.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((1.0, 6.0))
    assert interval.estimate == 3.5


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 1.1]])
def test_too_few_values_have_no_interval(values: list[float]) -> None:
    """Below three values nothing is known of the spread."""
    assert absolute_interval(values) is None
    assert fixed_interval(values, 0.95) is None


@given(st.lists(st.floats(1e-6, 1e3), min_size=3, max_size=20), st.floats(1e-3, 1e3))
def test_absolute_interval_scales(values: list[float], factor: float) -> None:
    """In another unit the same times have the same interval, and it holds their median."""
    interval, scaled = absolute_interval(values), absolute_interval([factor * value for value in values])
    assert interval is not None
    assert scaled is not None
    assert (scaled.estimate, scaled.low, scaled.high) == pytest.approx(
        (factor * interval.estimate, factor * interval.low, factor * interval.high), rel=1e-9
    )
    assert interval.low <= np.median(values) <= interval.high


def test_a_lopsided_series_keeps_its_median_inside() -> None:
    """Where the signed-rank interval misses the median, it is widened to hold it."""
    values = [1.0] * 11 + [3.0 + 0.1 * index for index in range(9)]
    interval = absolute_interval(values)
    assert interval is not None
    assert interval.low <= 1.0 == interval.estimate


@pytest.mark.parametrize(("values", "expected"), [([1.0, 5.0], 3.0), ([0.0, 0.0, 9.0], 3.0), ([0.0] * 6 + [9.0], 0.0)])
def test_centre_is_the_estimate_of_the_looks(values: list[float], expected: float) -> None:
    """Median of two, mean of three, Hodges-Lehmann of seven."""
    assert centre(values) == expected


def test_interval_covers_as_often_as_it_says() -> None:
    """Of simulated heavy-tailed samples the 95 % interval covers the centre in 95 %."""
    generator = np.random.default_rng(1)
    samples = generator.standard_t(2, (2000, 10)).tolist()
    intervals = [fixed_interval(sample, 0.95) for sample in samples]
    covered = np.mean([interval.low <= 0.0 <= interval.high for interval in intervals if interval])
    assert 0.94 <= covered <= 0.97

"""A change between two comparisons is found as often as the test promises."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from scipy.stats import t

from bakeoff.judge.change import ratio_change
from bakeoff.spec.verdict import Verdict
from bakeoff.stats.size import MULTIPLIERS, size_interval


def verdict(values: np.ndarray) -> Verdict:
    """Give a pair's verdict with the interval of its size."""
    size = size_interval(values.tolist())
    low, ratio, high = np.exp([size.low, size.estimate, size.high])
    shown = {"ratio": ratio, "low": low, "high": high}
    return Verdict(first="a", second="b", verdict="undecided", level=0.95, rounds=len(values), **shown)


@pytest.mark.parametrize(("before", "after"), [(5, 5), (7, 12), (20, 20)])
def test_where_nothing_changed_a_change_is_rarely_told(before: int, after: int) -> None:
    """Of pairs of comparisons with the same ratio and unlike noise, at most some 2 in a hundred are told to differ."""
    draw = np.random.default_rng(5)
    pairs = [(draw.normal(0.3, 0.02, before), draw.normal(0.3, 0.05, after)) for _ in range(1500)]
    found = [ratio_change(verdict(one), verdict(other)) for one, other in pairs]
    assert np.mean([one.is_sure for one in found]) < 0.025
    assert np.mean([one.factor.low <= 1 <= one.factor.high for one in found]) > 0.975


def test_a_change_of_many_errors_is_told() -> None:
    """A ratio that moved by five times its spread is found in nearly all pairs of comparisons."""
    draw = np.random.default_rng(6)
    pairs = [(draw.normal(0.3, 0.02, 10), draw.normal(0.4, 0.02, 10)) for _ in range(300)]
    assert np.mean([ratio_change(verdict(one), verdict(other)).is_sure for one, other in pairs]) > 0.95


def test_without_an_interval_there_is_no_change() -> None:
    """Two rounds have no interval, and so nothing is told."""
    few = Verdict(first="a", second="b", verdict="undecided", ratio=1.2, low=None, high=None, rounds=2)
    assert ratio_change(few, few) is None


def moved(ratio: float, error: float) -> Verdict:
    """Give a pair's verdict after five rounds whose log-ratios have a mean of this standard error."""
    ends = [ratio * math.exp(sign * MULTIPLIERS[5] * error) for sign in (-1.0, 1.0)]
    return Verdict(
        first="a", second="b", verdict="undecided", level=0.95, rounds=5, ratio=ratio, low=ends[0], high=ends[1]
    )


def test_a_change_by_hand() -> None:
    """From 1.2 to 1.5 is a factor of 1.25, of Welch's interval at 99 % and a probability of both sides."""
    found = ratio_change(moved(1.2, 0.03), moved(1.5, 0.04))
    assert found is not None
    error, freedom = 0.05, 0.05**4 / ((0.03**4 + 0.04**4) / 4)
    half = float(t.ppf(0.995, freedom)) * error
    factor = (found.factor.estimate, found.factor.low, found.factor.high)
    assert factor == pytest.approx((1.25, 1.25 * math.exp(-half), 1.25 * math.exp(half)))
    assert found.p == pytest.approx(2.0 * float(t.sf(math.log(1.25) / error, freedom)))
    assert found.is_sure == (half < math.log(1.25))


@pytest.mark.parametrize("after", [1.0, 1.5])
def test_intervals_with_nothing_in_common_are_told_on_either_side(after: float) -> None:
    """A ratio may have fallen, or risen; a change back is the change turned."""
    there, back = (
        ratio_change(*pair) for pair in ((moved(1.2, 0.01), moved(after, 0.01)), (moved(after, 0.01), moved(1.2, 0.01)))
    )
    assert there is not None
    assert back is not None
    assert there.is_apart
    assert back.is_apart
    assert there.factor.estimate == pytest.approx(1.0 / back.factor.estimate)
    near = ratio_change(moved(1.2, 0.03), moved(1.21, 0.03))
    assert near is not None
    assert not near.is_apart


def test_an_interval_that_was_cut_at_one_is_as_sure_as_its_other_side() -> None:
    """Where a decided direction has cut a side off, the side that is left tells how sure the ratio is."""
    whole, after = moved(1.05, 0.03), moved(1.5, 0.04)
    cut = msgspec.structs.replace(whole, low=1.0)
    assert whole.low is not None
    assert whole.low < 1.0
    found, expected = ratio_change(cut, after), ratio_change(whole, after)
    assert found is not None
    assert expected is not None
    assert found.factor == expected.factor

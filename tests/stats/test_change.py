"""A change between two comparisons is found as often as the test promises."""

from __future__ import annotations

import numpy as np
import pytest

from bakeoff.judge.change import ratio_change
from bakeoff.spec.verdict import Verdict
from bakeoff.stats.size import size_interval


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

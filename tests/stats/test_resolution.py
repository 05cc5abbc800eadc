from __future__ import annotations

import math

import numpy as np
import pytest

from bakeoff.stats.intervals import pair_interval
from bakeoff.stats.resolution import resolution


def test_it_is_the_half_width_to_come() -> None:
    """From many rounds, what is projected to round 20 is the mean half-width of the shipped interval there."""
    random = np.random.default_rng(11)
    spread = 0.03
    halves = []
    for _ in range(300):
        interval = pair_interval(random.normal(0.0, spread, 20).tolist(), 1)
        assert interval is not None
        halves.append((interval.high - interval.low) / 2)
    projected = resolution(random.normal(0.0, spread, 400).tolist())
    assert projected is not None
    assert math.log1p(projected) == pytest.approx(float(np.mean(halves)), rel=0.1)


def test_more_noise_shows_less() -> None:
    """Three times the spread shows three times as large differences only."""
    values = [0.01, -0.02, 0.015, 0.0, -0.01, 0.005, 0.012]
    low, high = resolution(values), resolution([3 * value for value in values])
    assert low is not None
    assert high is not None
    assert math.log1p(high) == pytest.approx(3 * math.log1p(low))


def test_two_rounds_tell_nothing() -> None:
    """Below 3 rounds the spread is not known."""
    assert resolution([0.01, -0.01]) is None

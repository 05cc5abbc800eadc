from __future__ import annotations

import math

import pytest

from bakeoff.stats.first.futility import hopeless, power

RHO = math.log(1.05)


def test_calm_and_equal_is_worth_going_on() -> None:
    """Small differences about zero will be shown to be equal."""
    assert power([0.01, -0.01, 0.005, -0.005, 0.0], 20, 1, RHO) > 0.99


def test_a_clear_difference_is_worth_going_on() -> None:
    """A centre far from zero will be clear of it."""
    assert power([0.2, 0.5, 0.3, 0.1, 0.4], 20, 1, RHO) > 0.9


def test_equal_and_very_noisy_is_not() -> None:
    """Where the interval at the last look will be far wider than the margin, and lies about zero, rounds are wasted."""
    assert hopeless([0.5, -0.5, 0.4, -0.4, 0.0, 0.3, -0.3], 20, 1, RHO)


def test_one_disturbed_round_does_not_make_it_hopeless() -> None:
    """A single outlier is not taken for the spread of all rounds."""
    assert not hopeless([0.01, -0.02, 0.005, -0.01, 0.015, -0.005, 0.25], 20, 1, RHO)
    assert hopeless([0.1, -0.1, 0.1, -0.1, 0.1, -0.1, 0.0], 20, 1, RHO)


def test_identical_rounds_are_never_hopeless() -> None:
    """Without any spread the next look decides."""
    assert power([0.0] * 5, 20, 1, RHO) == 1.0


def test_power_by_hand_at_a_t_look() -> None:
    """Four rounds with mean 0.05 and standard deviation s, the last look at 5: the normal tails of 5.97 s / sqrt(5)."""
    values = [0.02, 0.04, 0.06, 0.08]
    mean_deviation = 0.02 * math.sqrt(4 / 3)
    s = min(math.sqrt(0.002 / 3), math.sqrt(math.pi / 2) * mean_deviation)
    half, wander = 5.97 * s / math.sqrt(5), s * math.sqrt(1 / 4 - 1 / 5)
    above = 0.5 * math.erfc((half - 0.05) / wander / math.sqrt(2))
    assert power(values, 5, 1, RHO) == pytest.approx(above, rel=1e-6, abs=1e-12)


def test_nothing_is_given_up_before_a_look_without_boundary() -> None:
    """Seven rounds have no boundary for two pairs; the family may still shrink until then."""
    assert not hopeless([0.5, -0.5, 0.4, -0.4, 0.0], 7, 2, RHO)

"""What coming looks can show."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bakeoff.stats.anytime import anytime_multiplier
from bakeoff.stats.boundaries import multiplier
from bakeoff.stats.coming import more_rounds, size_half_width
from bakeoff.stats.futility import hopeless, power, prospect, resolution, spread_of
from bakeoff.stats.intervals import pseudo_median
from bakeoff.stats.size import NARROW, size_interval

RHO = math.log(1.05)
WILD = [0.5, -0.5, 0.4, -0.4, 0.0, 0.3, -0.3]


def ask(values: list[float], look: int = 20) -> float:
    """Give the power of a pair of two contenders."""
    return power(values, look, 1, RHO, moderated=False)


def test_small_and_clear_differences_are_worth_going_on() -> None:
    """Calm rounds about zero will be shown to be equal, a centre far from zero will be clear of it."""
    assert ask([0.01, -0.01, 0.005, -0.005, 0.0]) > 0.99
    assert ask([0.2, 0.5, 0.3, 0.1, 0.4]) > 0.9


def test_equal_and_very_noisy_is_not() -> None:
    """Where the interval at the last look will be far wider than the margin, and lies about zero, rounds are wasted."""
    assert hopeless(WILD, 20, 1, RHO, moderated=False)
    assert prospect(WILD, 1, RHO, moderated=False) is None


def test_one_disturbed_round_does_not_make_it_hopeless() -> None:
    """A single outlier is not taken for the spread of all rounds."""
    assert not hopeless([0.01, -0.02, 0.005, -0.01, 0.015, -0.005, 0.25], 20, 1, RHO, moderated=False)


def test_power_is_a_probability() -> None:
    """Between 0 and 1, also where being equal and being slower cover all that can come; 1 without any spread."""
    random = np.random.default_rng(1)
    for spread in (0.001, 0.01, 0.03, 0.1, 1.0):
        for centre in (0.0, 0.02, 0.0488, 0.2):
            values = (centre + random.normal(0.0, spread, 7)).tolist()
            assert all(0.0 <= ask(values, look) <= 1.0 for look in (10, 14, 20))
    assert ask([0.0] * 5) == 1.0


def test_power_by_hand() -> None:
    """Five rounds with mean 0.06 and standard deviation s, the look at 7: the normal tails of 3.83 s / sqrt(7)."""
    values = [0.02, 0.04, 0.06, 0.08, 0.10]
    mean_deviation = 0.024 * math.sqrt(5 / 4)
    s = min(math.sqrt(0.001), math.sqrt(math.pi / 2) * mean_deviation)
    half, wander = 3.83 * s / math.sqrt(7), s * math.sqrt(1 / 5 - 1 / 7)
    below = [0.5 * math.erfc(-x / wander / math.sqrt(2)) for x in (0.06 - half, -0.06 - half, RHO - half - 0.06)]
    inside = below[2] - 0.5 * math.erfc(-(half - RHO - 0.06) / wander / math.sqrt(2))
    assert ask(values, 7) == pytest.approx(below[0] + below[1] + max(0.0, inside))


def test_either_side_counts_alike() -> None:
    """A pair may yet turn out faster or slower: with the signs the other way round the power is the same."""
    values = [0.12, -0.15, 0.1, -0.07, 0.11, -0.06, 0.2]
    assert 0.05 < ask(values) < 0.95
    assert ask(values) == pytest.approx(ask([-value for value in values]))


def test_resolution_by_hand() -> None:
    """Half the interval of two contenders after 20 rounds, as a share."""
    values = [-0.04, 0.04, -0.04, 0.04]
    deviation = min(0.04 * math.sqrt(4 / 3), 0.04 * math.sqrt(4 / 3) * math.sqrt(math.pi / 2))
    assert resolution(values) == pytest.approx(
        math.expm1(multiplier(20, 1, moderated=False) * deviation / math.sqrt(20))
    )


def test_the_rounds_that_are_told_are_the_first_that_will_do() -> None:
    """So many more, beside those that are there: with one fewer the interval would not decide, or not be narrow."""
    values = [0.02, 0.09, 0.05, -0.01, 0.06, 0.03, 0.08, 0.0]
    spread, centre = spread_of(values), pseudo_median(values)
    needed = more_rounds(values, "undecided", 1, RHO, goal="until-sure", moderated=False)
    assert needed is not None
    halves = [(anytime_multiplier(n, 1) or math.inf) * spread / math.sqrt(n) for n in range(len(values), 200)]
    assert needed.rounds == next(i for i, half in enumerate(halves) if i and half < max(centre, RHO - centre))
    known = more_rounds(values, "faster", 1, RHO, goal="size", moderated=False)
    assert known is not None
    widths = [size_half_width(n) * spread for n in range(len(values), 40)]
    narrow = max(NARROW.half_width, NARROW.share * centre)
    assert known.rounds == next(i for i, half in enumerate(widths) if i and half <= narrow)


def test_the_first_look_that_will_do_is_told() -> None:
    """Of coming looks the first with an even chance; the last alone is told with less."""
    likely = prospect([0.05, 0.01, 0.06, -0.01, 0.04, 0.02, 0.03], 1, RHO, moderated=False)
    assert likely is not None
    assert likely.chance >= 0.5
    assert likely.look in (10, 14, 20)
    unlikely = prospect([0.12, -0.07, 0.10, -0.05, 0.11, -0.06, 0.05, 0.02, 0.0, 0.06], 1, RHO, moderated=False)
    assert unlikely is not None
    assert unlikely.look == 20
    assert 0.15 <= unlikely.chance < 0.5


@pytest.mark.parametrize("count", [5, 9, 10, 20])
def test_the_half_width_to_come_is_that_of_the_interval(count: int) -> None:
    """What is expected of the size after so many rounds is its mean over many comparisons."""
    random = np.random.default_rng(11)
    found = [size_interval(random.normal(0.0, 0.03, count).tolist()) for _ in range(400)]
    mean = np.mean([(one.high - one.low) / 2 for one in found if one is not None])
    assert 0.03 * size_half_width(count) == pytest.approx(float(mean), rel=0.15)


def test_a_wide_size_is_told_the_rounds_that_narrow_it() -> None:
    """Decided at five rounds and wide: the rounds after which the present spread would be narrow."""
    values = [0.3 + 0.06 * one for one in (1.0, -1.0, 0.5, -0.5, 0.0)]
    needed = more_rounds(values, "slower", 1, RHO, goal="size", moderated=False)
    assert needed is not None
    assert needed.chance is None
    spread = min(float(np.std(values, ddof=1)), 10.0)
    limit = max(RHO, 0.25 * 0.3)
    assert size_half_width(5 + needed.rounds) * spread <= limit * 1.05
    assert size_half_width(5 + needed.rounds - 1) * spread > limit * 0.85
    assert more_rounds([0.5, 4.0, -3.0, 2.0, 1.0], "slower", 1, RHO, goal="size", moderated=False) is None


def test_until_sure_is_told_any_number_of_rounds() -> None:
    """Without a last look the number is that at which the boundary would be passed, however large."""
    random = np.random.default_rng(5)
    values = (0.02 + random.normal(0.0, 0.2, 20)).tolist()
    needed = more_rounds(values, "undecided", 1, RHO, goal="until-sure", moderated=False)
    assert needed is not None
    assert needed.rounds > 20


def test_more_noise_shows_less() -> None:
    """Three times the spread shows three times as large differences only; two rounds show nothing."""
    values = [0.01, -0.02, 0.015, 0.0, -0.01, 0.005, 0.012]
    low, high = resolution(values), resolution([3 * value for value in values])
    assert low is not None
    assert high is not None
    assert math.log1p(high) == pytest.approx(3 * math.log1p(low))
    assert resolution(values[:2]) is None

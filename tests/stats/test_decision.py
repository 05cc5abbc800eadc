"""What decides a pair at a look: two centres, a moderated spread, signs."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from bakeoff.stats.boundaries import FROM_SIGN, LOOKS, multiplier, sign_index
from bakeoff.stats.decision import decision_interval, prior_variance
from bakeoff.stats.intervals import pseudo_median
from bakeoff.stats.pairs import Pair

FIVE = [0.10, 0.12, 0.11, 0.13, 0.09]


def pairs_of(logs: list[list[float | None]]) -> list[Pair]:
    """Give the pairs of contenders a, b, ... with these log times."""

    def ratio(one: float | None, other: float | None) -> float | None:
        return None if one is None or other is None else one - other

    return [
        Pair(
            first="abcdefghi"[i],
            second="abcdefghi"[j],
            differences=[ratio(one, other) for one, other in zip(logs[i], logs[j], strict=True)],
        )
        for i, j in combinations(range(len(logs)), 2)
    ]


def test_five_rounds_by_hand() -> None:
    """Mean and pseudo-median 0.11, standard deviation 0.0158: 5.33 standard errors to each side."""
    interval = decision_interval(FIVE, 1, None)
    half = 5.33 * math.sqrt(0.00025 / 5)
    assert (interval.estimate, interval.low, interval.high) == pytest.approx((0.11, 0.11 - half, 0.11 + half))


def test_the_prior_moderates_by_four_degrees_of_freedom() -> None:
    """Prior and own variance count alike at five rounds; the multiplier is that of a moderated pair."""
    interval = decision_interval(FIVE, 3, 0.00075)
    half = multiplier(5, 3, moderated=True) * math.sqrt(0.0005 / 5)
    assert interval.high - interval.estimate == pytest.approx(half)


def test_the_prior_weighs_as_much_whatever_is_known() -> None:
    """At seven rounds the pair's own variance has six degrees of freedom, and the prior still four."""
    seven = [*FIVE, 0.15, 0.07]
    half = multiplier(7, 3, moderated=True) * math.sqrt((4 * 0.005 + 6 * np.var(seven, ddof=1)) / 10 / 7)
    interval = decision_interval(seven, 3, 0.005)
    assert (interval.low, interval.high) == pytest.approx((0.11 - half, 0.11 + half))


def test_a_direction_needs_mean_and_pseudo_median() -> None:
    """One burst moves the mean alone: the interval reaches from the lower of both centres to the higher."""
    values = [0.01, 0.0, -0.01, 0.005, 0.4]
    interval = decision_interval(values, 1, None)
    mean, middle = float(np.mean(values)), pseudo_median(values)
    half = 5.33 * float(np.std(values, ddof=1)) / math.sqrt(5)
    assert mean > middle + 0.05
    assert (interval.low, interval.high) == pytest.approx((middle - half, mean + half))


def test_nearly_all_rounds_on_one_side_decide_where_bursts_hide_it() -> None:
    """Ten of ten rounds above zero are a direction, however wild two of them are; nine of ten are not."""
    values = [0.05, 0.06, 0.04, 0.05, 0.07, 0.06, 0.05, 0.04, 2.0, 3.0]
    assert decision_interval(values, 1, None).low == pytest.approx(0.04)
    assert decision_interval([*values[:9], -3.0], 1, None).low < 0.0
    assert decision_interval(values, 3, 0.1).low < 0.0  # three open pairs: no signs at ten rounds


@pytest.mark.parametrize("look", [look for look in LOOKS if look >= FROM_SIGN])
@pytest.mark.parametrize("wild", [-100.0, 100.0])
def test_bursts_and_signs_never_contradict_each_other(look: int, wild: float) -> None:
    """However wild the rounds are that signs leave out, the interval holds the pseudo-median."""
    index = sign_index(look, 1, moderated=False)
    assert index is not None
    values = [wild + one for one in range(index)] + [1e-3 * one for one in range(look - index)]
    interval = decision_interval(values, 1, None)
    assert interval.low <= interval.estimate <= interval.high


def test_signs_need_one_round_less_at_fourteen() -> None:
    """Thirteen of fourteen are enough for one pair, twelve are not."""
    wild = [0.05] * 10 + [4.0, 5.0, 6.0]
    assert decision_interval([*wild, -3.0], 1, None).low > 0.0
    assert decision_interval([*wild[1:], -3.0, -3.0], 1, None).low < 0.0


def test_the_prior_is_the_spread_of_the_pair_and_of_its_sum() -> None:
    """Half the variance of a - b, half that of a + b - 2 c by 3, over the first five rounds alone."""
    random = np.random.default_rng(2).normal(size=(3, 8))
    pairs = pairs_of(random.tolist())
    a, b, c = random[:, :5]
    expected = ((a - b).var(ddof=1) + (a + b - 2 * c).var(ddof=1) / 3) / 2
    assert prior_variance(pairs[0], pairs) == pytest.approx(expected)


def test_calm_contenders_lend_a_noisy_pair_nothing() -> None:
    """Two that are ten times as noisy as seven others have a prior near their own variance, not near the pool's."""
    random = np.random.default_rng(4).normal(size=(200, 9, 5)) * np.array([10, 10, *[1] * 7])[None, :, None]
    noisy = [prior_variance(pairs[0], pairs) for pairs in (pairs_of(one.tolist()) for one in random)]
    assert np.mean([one for one in noisy if one is not None]) > 0.8 * 200
    pooled = 2 * (2 * 100 + 7) / 9
    assert np.mean([one for one in noisy if one is not None]) > 3 * pooled


def test_there_is_no_prior_without_company() -> None:
    """Two contenders have none, nor has a pair beside which no other ran in its first five rounds; nor four rounds."""
    two = pairs_of([[0.0, 0.1, 0.2, 0.3, 0.1], [0.0] * 5])
    assert prior_variance(two[0], two) is None
    absent = pairs_of([[0.0, 0.1, 0.2, 0.3, 0.1], [0.0] * 5, [1.0, 1.0, None, 1.0, 1.0]])
    assert prior_variance(absent[0], absent) is None
    early = pairs_of([[0.0, 0.1, 0.2, 0.3], [0.0] * 4, [1.0, 1.1, 1.0, 1.2]])
    assert prior_variance(early[0], early) is None


def test_another_side_mirrors() -> None:
    """Exchanged contenders have the mirrored interval and the same prior."""
    values = [0.1, -0.02, 0.3, 0.05, 0.02, 0.01, 0.2]
    forward, backward = decision_interval(values, 2, 0.01), decision_interval([-value for value in values], 2, 0.01)
    assert (forward.low, forward.high) == pytest.approx((-backward.high, -backward.low))


def test_an_interval_has_its_estimate_whatever_the_signs_leave_out() -> None:
    """At every look so few rounds are left out on a side that the pseudo-median lies between those that are not."""
    for look in LOOKS:
        for family in range(1, 30):
            index = sign_index(look, family, moderated=False)
            assert index is None or index / look < 1.0 - math.sqrt(0.5)
            count = index or 0
            for wild in (-1e6, 1e6):
                values = [wild] * count + [0.001 * n for n in range(look - count)]
                found = decision_interval(values, family, None)
                assert found.low <= found.estimate <= found.high

"""The table of the present procedure: what is written down, and that it spends what it says."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from bakeoff.stats.boundaries import (
    FROM_SIGN,
    LOOKS,
    MAX_FAMILY,
    SPENT,
    check_family,
    multiplier,
    sign_index,
    sign_levels,
)
from bakeoff.stats.intervals import largest_index, two_sided_levels
from bakeoff.stats.pairs import Pair
from bakeoff.stats.sequential import decide

PUBLISHED = {
    (False, 1): (5.33, 3.83, 3.10, 2.70, 2.41, 0, 1, 3),
    (True, 1): (3.83, 3.32, 2.91, 2.62, 2.37, 0, 1, 3),
    (True, 2): (4.40, 3.78, 3.31, 2.97, 2.70, None, 0, 2),
    (True, 3): (4.76, 4.06, 3.54, 3.18, 2.89, None, 0, 2),
    (True, 6): (5.40, 4.58, 3.96, 3.54, 3.22, None, 0, 2),
}
LATE = tuple(look for look in LOOKS if look >= FROM_SIGN)


@pytest.mark.parametrize(("moderated", "family"), PUBLISHED)
def test_the_table_is_the_published_one(moderated: bool, family: int) -> None:  # noqa: FBT001
    """The shipped numbers are those of docs/verdicts.md."""
    row = [multiplier(look, family, moderated=moderated) for look in LOOKS]
    late = [sign_index(look, family, moderated=moderated) for look in LATE]
    assert (*row, *late) == PUBLISHED[moderated, family]


def test_looks_are_fixed() -> None:
    """Pairs are looked at after these rounds and no others; before ten, no signs decide."""
    assert LOOKS == (5, 7, 10, 14, 20)
    assert [sign_index(look, 1, moderated=True) for look in (5, 7)] == [None, None]


@pytest.mark.parametrize("moderated", [False, True])
def test_larger_families_need_more(moderated: bool) -> None:  # noqa: FBT001
    """Every boundary is at least as strict for one pair more, and later looks are less strict."""
    for smaller, larger in pairwise(range(1, MAX_FAMILY + 1)):
        for look in LOOKS:
            few, many = (multiplier(look, family, moderated=moderated) for family in (smaller, larger))
            assert few <= many
        for look in LATE:
            few, many = (sign_index(look, family, moderated=moderated) for family in (smaller, larger))
            assert many is None or (few is not None and many <= few)
        assert sorted((multiplier(look, smaller, moderated=moderated) for look in LOOKS), reverse=True) == [
            multiplier(look, smaller, moderated=moderated) for look in LOOKS
        ]


def test_the_prior_is_worth_most_where_least_is_known() -> None:
    """Moderated boundaries are lower than those of a pair alone, by most at five rounds."""
    gains = [multiplier(look, 3, moderated=False) / multiplier(look, 3, moderated=True) for look in LOOKS]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 1.4
    assert gains[-1] > 1.0


@pytest.mark.parametrize("contenders", [2, 3])
def test_equals_are_told_apart_as_often_as_the_table_says(contenders: int) -> None:
    """Where only chance speaks and equality cannot be found, SPENT is spent on one pair: neither more nor far fewer.

    The third contender is far away, so that its pairs leave the family at once.
    """
    trials = 4000
    logs = np.random.default_rng(6).normal(size=(trials, contenders, LOOKS[-1]))
    logs[:, 2:] += 100.0
    found = 0
    for one in logs:
        pairs = [
            Pair(first=str(a), second=str(b), differences=(one[a] - one[b]).tolist())
            for a in range(contenders)
            for b in range(a + 1, contenders)
        ]
        found += decide(pairs, margin=0.0, max_rounds=20, aim="direction")[0].verdict != "undecided"
    error = 3 * math.sqrt(SPENT / trials)
    assert abs(found / trials - SPENT) <= error


def test_signs_are_counted_exactly() -> None:
    """All ten on one side: 2 in 1,024; at most one of fourteen on the other: 30 in 16,384."""
    assert sign_levels(10)[0] == 2 / 1024
    assert sign_levels(14)[1] == pytest.approx(2 * 15 / 2**14)
    assert sign_levels(20)[-1] == 1.0


@pytest.mark.parametrize("pairs", [0, -1, 37, 1000])
def test_no_boundaries_beyond_nine_contenders(pairs: int) -> None:
    """A family without calibrated boundaries is an error that tells the limit."""
    for ask in (check_family, lambda family: multiplier(5, family, moderated=True)):
        with pytest.raises(ValueError, match="from 1 to 36"):
            ask(pairs)


def test_signed_rank_levels_of_three() -> None:
    """With three differences the rank sums 0, 1, ..., 6 occur in 1, 1, 1, 2, 1, 1, 1 of 8 ways."""
    assert two_sided_levels(3) == pytest.approx((0.25, 0.5, 0.75, 1.0, 1.0, 1.0, 1.0))


@pytest.mark.parametrize(("count", "index"), [(6, 0), (10, 8), (20, 52), (5, None)])
def test_critical_values_of_textbooks(count: int, index: int | None) -> None:
    """The two-sided 5 % points of Wilcoxon's test are those that are printed everywhere."""
    assert largest_index(count, 0.05) == index

from __future__ import annotations

from itertools import pairwise

import pytest

from bakeoff.stats.first.boundaries import (
    LOOKS,
    MAX_FAMILY,
    RANK_LOOKS,
    T_LOOKS,
    check_family,
    rank_index,
    t_multiplier,
)
from bakeoff.stats.intervals import largest_index, two_sided_levels

PUBLISHED = {
    1: (15.87, 8.09, 5.97, 0, 4, 14, 41),
    2: (23.05, 10.44, 7.30, None, 2, 12, 37),
    3: (28.94, 12.18, 8.22, None, 2, 10, 33),
    4: (33.83, 13.53, 8.92, None, 1, 9, 31),
    5: (37.74, 14.57, 9.44, None, 0, 8, 30),
    6: (41.60, 15.55, 9.93, None, 0, 8, 28),
}


@pytest.mark.parametrize("family", PUBLISHED)
def test_the_table_is_the_published_one(family: int) -> None:
    """For up to six pairs the shipped numbers are those of docs/verdicts.md."""
    row = [t_multiplier(look, family) for look in T_LOOKS] + [rank_index(look, family) for look in RANK_LOOKS]
    assert tuple(row) == PUBLISHED[family]


def test_looks_are_fixed() -> None:
    """Pairs are looked at after these rounds and no others."""
    assert LOOKS == (3, 4, 5, 7, 10, 14, 20)


def test_larger_families_have_wider_intervals() -> None:
    """Every boundary is at least as strict for one pair more."""
    for smaller, larger in pairwise(range(1, MAX_FAMILY + 1)):
        for look in T_LOOKS:
            assert t_multiplier(look, larger) > t_multiplier(look, smaller)
        for look in RANK_LOOKS:
            before, after = rank_index(look, smaller), rank_index(look, larger)
            assert after is None or (before is not None and after <= before)


@pytest.mark.parametrize("family", [*range(1, MAX_FAMILY + 1)])
def test_no_signed_rank_look_spends_more_than_its_share(family: int) -> None:
    """A single look never spends the whole error that the family's pair has over all looks."""
    for look in RANK_LOOKS:
        index = rank_index(look, family)
        if index is not None:
            assert two_sided_levels(look)[index] < 0.05 / family


@pytest.mark.parametrize("pairs", [0, -1, 37, 1000])
def test_no_boundaries_beyond_nine_contenders(pairs: int) -> None:
    """A family without calibrated boundaries is an error that tells the limit."""
    with pytest.raises(ValueError, match="from 1 to 36"):
        check_family(pairs)
    with pytest.raises(ValueError, match="from 1 to 36"):
        t_multiplier(3, pairs)


def test_signed_rank_levels_of_three() -> None:
    """With three differences the rank sums 0, 1, ..., 6 occur in 1, 1, 1, 2, 1, 1, 1 of 8 ways."""
    assert two_sided_levels(3) == pytest.approx((0.25, 0.5, 0.75, 1.0, 1.0, 1.0, 1.0))


def test_seven_rounds_reach_one_in_64() -> None:
    """The look at seven rounds stands on the exact level 1/64; a level rounded below it would lose the look."""
    assert two_sided_levels(7)[0] == 1 / 64
    assert largest_index(7, 1 / 64) == 0
    assert largest_index(7, 0.0156) is None


@pytest.mark.parametrize(("count", "index"), [(6, 0), (10, 8), (20, 52), (5, None)])
def test_critical_values_of_textbooks(count: int, index: int | None) -> None:
    """The two-sided 5 % points of Wilcoxon's test are those that are printed everywhere."""
    assert largest_index(count, 0.05) == index

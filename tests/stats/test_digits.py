from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bakeoff.stats.digits import digits, significant


@pytest.mark.parametrize(
    ("numbers", "printed"),
    [
        ((2.213, 2.104, 2.318), ("2.2", "2.1", "2.3")),
        ((1.0412, 0.9931, 1.0874), ("1.04", "0.99", "1.09")),
        ((0.9834, 0.9587, 1.0088), ("0.98", "0.96", "1.01")),
        ((118.4, 109.0, 131.2), ("120", "110", "130")),
        ((1234.0, 1080.0, 1380.0), ("1200", "1100", "1400")),
        ((0.00042, 0.00040, 0.00045), ("0.00042", "0.00040", "0.00045")),
        ((1.0, 0.9999, 1.0001), ("1.000", "1.000", "1.000")),
        ((1.0, 0.90041, 1.0996), ("1.0", "0.9", "1.1")),
    ],
)
def test_digits_stop_where_the_interval_does(
    numbers: tuple[float, float, float], printed: tuple[str, str, str]
) -> None:
    """The last digit is the first of the half-width, the same for all three."""
    assert digits(*numbers) == printed


def test_an_interval_without_width_has_four_digits() -> None:
    """Identical measurements are told with as many digits as anybody can use."""
    assert digits(2.0, 2.0, 2.0) == ("2.000", "2.000", "2.000")
    assert digits(0.0, 0.0, 0.0) == ("0.000", "0.000", "0.000")


def test_rounding_carries_no_bound_across_a_mark() -> None:
    """A ratio that lies above 1 is also printed above 1, if it takes another digit."""
    assert digits(1.15, 1.04, 1.26) == ("1.1", "1.0", "1.3")
    assert digits(1.15, 1.04, 1.26, apart_from=(1.0,)) == ("1.15", "1.04", "1.26")
    assert digits(1.01, 0.97, 1.046, apart_from=(1.05, 1 / 1.05)) == ("1.010", "0.970", "1.046")


def test_a_bound_on_a_mark_stays_there() -> None:
    """A bound of exactly 1 does not ask for more digits."""
    assert digits(1.2, 1.0, 1.4, apart_from=(1.0,)) == ("1.2", "1.0", "1.4")


@pytest.mark.parametrize(
    ("value", "count", "printed"),
    [(118.4, 2, "120"), (0.12345, 3, "0.123"), (0.0, 3, "0.00"), (9.996, 3, "10.0"), (-0.0001, 1, "-0.0001")],
)
def test_a_number_without_interval_has_fixed_digits(value: float, count: int, printed: str) -> None:
    """What has no interval is rounded to the digits asked for."""
    assert significant(value, count) == printed


@given(st.floats(1e-6, 1e6), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_printed_numbers_keep_their_order(estimate: float, below: float, above: float) -> None:
    """Rounding moves nothing by more than the half-width, and never swaps low and high."""
    low, high = estimate * (1.0 - below), estimate * (1.0 + above)
    printed = digits(estimate, low, high)
    values = [float(text) for text in printed]
    assert values[1] <= values[0] <= values[2]
    slack = max((high - low) / 2.0, 1e-3 * high)
    assert values == pytest.approx([estimate, low, high], abs=slack)

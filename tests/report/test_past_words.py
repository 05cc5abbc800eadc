"""What is said of a size that went from one comparison to another."""

from __future__ import annotations

import pytest

from bakeoff.judge.change import Change
from bakeoff.report.past import change_text
from bakeoff.spec.verdict import Interval


@pytest.mark.parametrize(
    ("ends", "is_sure", "expected"),
    [
        ((1.122, 1.061, 1.187), True, "changed: x1.12 (99 % CI 1.06 to 1.19), p 0.003"),
        ((1.004, 1.001, 1.007), True, "changed: x1.004 (99 % CI 1.001 to 1.007), p 0.003"),
        ((1.3, 1.002, 1.7), True, "changed: x1.300 (99 % CI 1.002 to 1.700), p 0.003"),
        ((0.97, 0.94, 1.002), False, "no change shown: x0.970 (99 % CI 0.940 to 1.002), p 0.003"),
    ],
)
def test_no_end_of_a_change_is_rounded_onto_1(
    ends: tuple[float, float, float], *, is_sure: bool, expected: str
) -> None:
    """That an interval leaves 1 out is what "changed" says: its ends are on the sides of 1 that they were on."""
    estimate, low, high = ends
    factor = Interval(estimate=estimate, low=low, high=high)
    assert change_text(Change(factor=factor, p=0.003, is_sure=is_sure, is_apart=False)).startswith(expected)

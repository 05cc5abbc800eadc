from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bakeoff.judge.search import LARGEST, bracket, next_batch


def search(start: int, largest: int, precision: float) -> tuple[dict[int, bool], list[int]]:
    """Search to the end where batches up to `largest` fit."""
    tried: dict[int, bool] = {}
    order = []
    while (batch := next_batch(start, tried, precision)) is not None:
        assert batch not in tried
        order.append(batch)
        tried[batch] = batch <= largest
    return tried, order


@given(start=st.integers(1, 5000), largest=st.integers(0, 100_000), precision=st.sampled_from([0.0, 0.02, 0.5]))
def test_the_largest_is_found_within_the_precision_and_soon(start: int, largest: int, precision: float) -> None:
    """No size is tried twice, what is found fits, and the next that does not is within the precision or one sample."""
    tried, order = search(start, largest, precision)
    low, high = bracket(tried)
    assert low <= largest < high
    assert low == 0 or high - low <= max(1, precision * low)
    assert (low == 0) == (largest == 0)
    # Doublings or halvings to the bracket, and halvings of the bracket.
    assert len(order) <= 2 * 18 + 2


def test_doubling_comes_first_and_then_bisection() -> None:
    """From the first size on it doubles while batches fit; one that does not fit at the start is halved."""
    assert search(32, 200, 0.02)[1] == [32, 64, 128, 256, 192, 224, 208, 200, 204]
    assert search(32, 9, 0.02)[1] == [32, 16, 8, 12, 10, 9]
    assert search(4, 0, 0.02)[1] == [4, 2, 1]


def test_work_that_takes_no_memory_ends_the_doubling() -> None:
    """Beyond the largest that bakeoff tries there is no next."""
    tried, order = search(1000, 10 * LARGEST, 0.02)
    assert order[-1] == LARGEST
    assert bracket(tried) == (LARGEST, None)


@pytest.mark.parametrize("tried", [{64: False, 128: True}, {64: False, 128: True, 32: True}])
def test_a_larger_one_that_fits_by_chance_does_not_count(tried: dict[int, bool]) -> None:
    """What is found lies below every size that did not fit."""
    low, high = bracket(tried)
    assert high == 64
    assert low < 64

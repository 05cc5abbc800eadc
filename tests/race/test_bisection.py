from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bakeoff.judge.batches import LARGEST, bracket, guessed_end, next_batch


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


MB = 1_000_000


def aimed(per_sample_bytes: float, limit_bytes: int, bend: float = 0.0, noise_bytes: int = 0) -> tuple[int, list[int]]:
    """Search from 32 on, where memory grows with the batch, and with a bend faster; return the end and what is tried.

    Peaks are off by the noise, above and below in turn.
    """

    def peak_bytes(batch: int) -> int:
        off = noise_bytes * (1 if batch % 2 else -1)
        return int(30 * MB + per_sample_bytes * batch * (1 + bend * batch)) + off

    tried: dict[int, bool] = {}
    peaks: dict[int, int] = {}
    while (batch := next_batch(32, tried, 0.02, guessed_end(peaks, limit_bytes, 3136))) is not None:
        assert batch not in tried
        tried[batch] = peak_bytes(batch) <= limit_bytes
        if tried[batch]:
            peaks[batch] = peak_bytes(batch)
    low, high = bracket(tried)
    assert high is not None
    assert peak_bytes(low) <= limit_bytes < peak_bytes(high)
    assert high - low <= max(1, 0.02 * low)
    return low, list(tried)


def test_two_attempts_tell_where_memory_ends() -> None:
    """The third attempt is where memory should end, so that 5 are enough where doubling and bisecting took 14."""
    low, tried = aimed(250_000, 2_000 * MB)
    assert len(tried) <= 5
    assert low == pytest.approx(7880, rel=0.02)
    assert len(search(32, 7880, 0.02)[1]) == 14


@pytest.mark.parametrize(
    ("bend", "noise_bytes", "most"), [(0.0, 2 * MB, 10), (1e-5, 0, 9), (1e-5, 2 * MB, 10), (1e-4, 2 * MB, 13)]
)
def test_memory_that_is_no_line_costs_few_more(bend: float, noise_bytes: int, most: int) -> None:
    """Noisy peaks, a bend of some per cent and one of half as much again lead to the same precision, later."""
    assert len(aimed(250_000, 2_000 * MB, bend, noise_bytes)[1]) <= most


def test_what_is_no_memory_of_samples_is_no_guess() -> None:
    """Without a line between two peaks all of the largest is taken for its samples'; small peaks tell nothing."""
    assert guessed_end({}, 1000 * MB, 3136) is None
    assert guessed_end({32: 9 * MB}, 1000 * MB, 3136) is None
    assert guessed_end({32: 90 * MB}, 1000 * MB, 3136) == pytest.approx(32 * 1000 / 90)
    assert guessed_end({32: 90 * MB, 64: 91 * MB}, 1000 * MB, 3136) == pytest.approx(64 * 1000 / 91)
    assert guessed_end({32: 90 * MB, 64_000: 95 * MB}, 1000 * MB, 3136) == pytest.approx(64_000 * 1000 / 95)
    assert guessed_end({32: 90 * MB, 64: 110 * MB}, 1000 * MB, 3136) == pytest.approx(64 + 890 / (20 / 32))


def test_a_peak_that_falls_misleads_nobody() -> None:
    """Of neighbours whose peaks fall, as allocators have them, the line goes to one that is far enough away."""
    peaks = {32: 30 * MB, 533: 36 * MB, 13_884: 300 * MB, 23_991: 270 * MB}
    assert guessed_end(peaks, 500 * MB, 3136) == pytest.approx(23_991 + 230 * (23_991 - 533) / 234)


@given(
    per_sample_bytes=st.integers(4_000, 3_000_000),
    limit_mb=st.integers(35, 4000),
    bend=st.sampled_from([0.0, 1e-5, 1e-3]),
    noise_bytes=st.sampled_from([0, 300_000, 3 * MB]),
)
def test_every_search_ends_soon_with_its_precision(
    per_sample_bytes: int, limit_mb: int, bend: float, noise_bytes: int
) -> None:
    """Whatever memory does, a search ends with a bracket within the precision, and never takes 30 attempts."""
    try:
        _, tried = aimed(per_sample_bytes, limit_mb * MB, bend, noise_bytes)
    except AssertionError:
        # Nothing fits, or all that bakeoff tries does: there is no bracket.
        is_none = 30 * MB + per_sample_bytes * (1 + bend) - noise_bytes > limit_mb * MB
        is_all = 30 * MB + per_sample_bytes * LARGEST * 0.9 < limit_mb * MB + noise_bytes
        assert is_none or is_all or noise_bytes  # noise may have a larger one fit where a smaller did not
    else:
        assert len(tried) < 30

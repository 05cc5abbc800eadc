from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bakeoff.stats.differences import break_even, ping_pong_difference, process_median, sequential_difference

times = st.floats(1e-6, 1e2)
run_times = st.floats(1e-3, 1e3)
turns = st.dictionaries(st.integers(0, 23), times, min_size=1)


def test_ping_pong_takes_the_median_over_turns() -> None:
    """Ratios of 2, 2 and, in a disturbed turn, 9 give log 2."""
    assert ping_pong_difference({0: 2.0, 1: 4.0, 2: 9.0}, {0: 1.0, 1: 2.0, 2: 1.0}) == pytest.approx(math.log(2))


def test_ping_pong_compares_the_same_turn_only() -> None:
    """A turn that one of them misses does not count, and without a common turn there is no number."""
    assert ping_pong_difference({0: 3.0, 1: 100.0}, {0: 1.0, 2: 1.0}) == pytest.approx(math.log(3))
    assert ping_pong_difference({0: 1.0}, {1: 1.0}) is None
    assert ping_pong_difference({}, {0: 1.0}) is None


def test_a_burst_over_a_whole_turn_cancels() -> None:
    """Foreign load that slows both blocks of a turn leaves the ratio as it is."""
    calm = ping_pong_difference({0: 1.1, 1: 1.1, 2: 1.1}, {0: 1.0, 1: 1.0, 2: 1.0})
    burst = ping_pong_difference({0: 1.1, 1: 4.4, 2: 1.1}, {0: 1.0, 1: 4.0, 2: 1.0})
    assert burst == pytest.approx(calm)


def test_sequential_takes_medians_of_processes() -> None:
    """The medians 2 and 1 give log 2, whatever the number of blocks; without a block there is no number."""
    assert sequential_difference([1.0, 2.0, 50.0], [1.0]) == pytest.approx(math.log(2))
    assert sequential_difference([], [1.0]) is None
    assert sequential_difference([1.0], []) is None


def test_process_median_of_an_even_number() -> None:
    """Between two middle blocks stands their mean."""
    assert process_median([4.0, 1.0, 2.0, 3.0]) == 2.5


@given(turns, turns)
def test_ping_pong_mirrors(first: dict[int, float], second: dict[int, float]) -> None:
    """Exchanging the sides changes the sign."""
    forward, backward = ping_pong_difference(first, second), ping_pong_difference(second, first)
    assert (forward is None) == (backward is None)
    if forward is not None and backward is not None:
        assert forward == pytest.approx(-backward, abs=1e-12)


@given(turns, turns, st.floats(1e-3, 1e3))
def test_the_unit_of_time_does_not_matter(first: dict[int, float], second: dict[int, float], factor: float) -> None:
    """Scaling all times leaves the ratio as it is."""
    scaled = ping_pong_difference(
        {turn: factor * time for turn, time in first.items()}, {turn: factor * time for turn, time in second.items()}
    )
    assert scaled == pytest.approx(ping_pong_difference(first, second), abs=1e-9)


def test_a_slower_start_pays_after_some_steps() -> None:
    """Ten seconds more at the start, 0.2 s less each step: paid after 50 steps."""
    assert break_even(12.0, 0.5, 2.0, 0.7) == 50
    assert break_even(2.0, 0.7, 12.0, 0.5) == 50


def test_a_part_of_a_step_counts_whole() -> None:
    """Between two steps the later one has paid."""
    assert break_even(1.0, 1.0, 0.0, 3.0) == 1
    assert break_even(5.0, 1.0, 0.0, 3.0) == 3


@pytest.mark.parametrize(
    ("start_a", "step_a", "start_b", "step_b"), [(1.0, 1.0, 2.0, 2.0), (1.0, 1.0, 2.0, 1.0), (3.0, 1.0, 3.0, 2.0)]
)
def test_it_may_never_pay(start_a: float, step_a: float, start_b: float, step_b: float) -> None:
    """Slower at the start and not faster afterwards never pays; equal starts have nothing to pay."""
    assert break_even(start_a, step_a, start_b, step_b) is None


@given(run_times, run_times, run_times, run_times)
def test_after_it_the_slower_start_is_ahead(start_a: float, step_a: float, start_b: float, step_b: float) -> None:
    """At the break-even the totals have crossed, and one step before they had not."""
    steps = break_even(start_a, step_a, start_b, step_b)
    assume(steps is not None and steps < 1e6)
    assert steps is not None
    late = (start_a, step_a) if start_a > start_b else (start_b, step_b)
    early = (start_b, step_b) if start_a > start_b else (start_a, step_a)
    slack = 1e-9 * (start_a + start_b + steps * (step_a + step_b))
    assert late[0] + steps * late[1] <= early[0] + steps * early[1] + slack
    assert late[0] + (steps - 1) * late[1] >= early[0] + (steps - 1) * early[1] - slack

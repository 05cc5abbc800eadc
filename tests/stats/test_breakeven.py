from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bakeoff.stats.breakeven import break_even

times = st.floats(1e-3, 1e3)


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


@given(times, times, times, times)
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

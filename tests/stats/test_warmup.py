from __future__ import annotations

import numpy as np
import pytest

from bakeoff.stats.warmup import Cut, mser5


def steady(count: int, *, level: int = 1000, seed: int = 0) -> list[int]:
    """Give steady steps with 5 % of noise."""
    generator = np.random.default_rng(seed)
    return [round(level * share) for share in generator.uniform(0.95, 1.05, count)]


def test_slow_first_steps_are_cut() -> None:
    """A compile spike ends up before the cut, and what follows is steady."""
    cut = mser5([90_000, 20_000, 20_000, 20_000, *steady(200)])
    assert cut.steady
    assert 5 <= cut.steps <= 60


def test_a_step_down_is_cut_where_it_happens() -> None:
    """Where speed changes once, the cut stands at the change."""
    assert mser5([1300] * 40 + [1000] * 80) == Cut(steps=40, steady=True)


def test_a_constant_series_is_not_cut() -> None:
    """Without any warm-up nothing is thrown away."""
    assert mser5([1000] * 120) == Cut(steps=0, steady=True)


def test_a_late_change_is_no_steady_state() -> None:
    """A process that changes speed in its middle is reported, not averaged over."""
    assert mser5(steady(60) + steady(60, level=1100, seed=1)).steady is False


def test_a_series_that_never_settles_is_no_steady_state() -> None:
    """A process that becomes steadily slower is reported."""
    assert mser5([1000 + 10 * step for step in range(200)]).steady is False


def test_one_slow_step_moves_no_cut() -> None:
    """A single disturbed step is no warm-up: batches are medians."""
    series = [1000] * 120
    series[33] = 50_000
    assert mser5(series) == Cut(steps=0, steady=True)


@pytest.mark.parametrize("count", range(10))
def test_of_a_short_series_half_is_cut(count: int) -> None:
    """Too few steps for two batches lose their first half, and nothing is claimed of them."""
    assert mser5(list(range(count))) == Cut(steps=count // 2, steady=True)


@pytest.mark.parametrize("count", [10, 15, 20, 37, 99])
def test_a_series_too_short_to_tell_is_not_called_unsteady(count: int) -> None:
    """Under 100 steps no process is accused of having no steady state, and at most half is cut."""
    cut = mser5([1000 + 10 * step for step in range(count)])
    assert cut.steady
    assert cut.steps <= count / 2


def test_the_cut_does_not_depend_on_the_unit() -> None:
    """Scaling all times scales nothing in the cut."""
    series = [5000] * 7 + steady(150)
    assert mser5([7 * step for step in series]) == mser5(series)

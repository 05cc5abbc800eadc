"""Where a series steps: found where there is a step, and hardly ever where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from bakeoff.stats.steps import FEWEST, LEVEL, PERMUTATIONS, steps

SERIES = 120
"""Simulated for each rate."""
CHANCE = 6
"""Of so many series, more than this have a step with a probability of 0.02 % where it is LEVEL of them: binomial."""


def drawn(kind: str, size: int, random: np.random.Generator) -> np.ndarray:
    """Return independent values without a step."""
    if kind == "normal":
        return random.normal(size=size)
    # With one value in ten that is far off, as of a machine that was busy.
    return random.normal(size=size) + 8.0 * (random.random(size) < 0.1)


@pytest.mark.parametrize("kind", ["normal", "wild"])
def test_a_step_is_hardly_ever_found_where_there_is_none(kind: str) -> None:
    """At most LEVEL of all series without a step have one that is found, also where values are far off at times."""
    random = np.random.default_rng(1)
    found = sum(bool(steps(drawn(kind, 12, random))) for _ in range(SERIES))
    assert found <= CHANCE


def test_a_step_of_four_spreads_is_found_where_it_is() -> None:
    """In 16 values a step of four standard deviations is found nearly always, and mostly in its very place."""
    random = np.random.default_rng(2)
    found = [steps(random.normal(size=16) + 4.0 * (np.arange(16) >= 9)) for _ in range(40)]
    assert sum(len(one) >= 1 for one in found) >= 38
    assert sum(any(step.place == 9 for step in one) for one in found) >= 32


def test_two_steps_are_told_with_their_sides() -> None:
    """Up and down again are two steps, each with the medians of the parts beside it."""
    random = np.random.default_rng(3)
    values = 0.01 * random.normal(size=30) + np.repeat([1.0, 2.0, 1.5], 10)
    first, second = steps(values)
    assert (first.place, second.place) == (10, 20)
    assert (first.before, first.after) == pytest.approx((1.0, 2.0), abs=0.02)
    assert (second.before, second.after) == pytest.approx((2.0, 1.5), abs=0.02)
    assert max(first.p, second.p) <= LEVEL
    # The order that is counts as one of those: no step is surer than they can tell.
    assert min(first.p, second.p) >= 1 / (1 + PERMUTATIONS)
    assert steps(values) == [first, second]


def test_few_values_and_one_that_is_far_off_are_no_step() -> None:
    """Nothing is found in fewer values than the level allows for, in a constant, and for the sake of a single value."""
    assert steps([0.0] * 4 + [1.0] * (FEWEST - 5)) == []
    assert steps([1.0] * 40) == []
    assert steps([*np.random.default_rng(4).normal(size=20), 50.0]) == []
    halves = [*np.linspace(0.0, 0.1, FEWEST // 2), *np.linspace(1.0, 1.1, FEWEST // 2)]
    assert [step.place for step in steps(halves)] == [FEWEST // 2]

from __future__ import annotations

import math

import numpy as np
import pytest

from bakeoff.frameworks import schedules
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.schedule import (
    Constant,
    Cosine,
    CosineRestarts,
    Cyclic,
    Exponential,
    InverseSquareRoot,
    Linear,
    OneCycle,
    Polynomial,
    Schedule,
    StepDecay,
    WarmupStableDecay,
)
from bakeoff.workloads.schedules import factor, rate

BY_HAND: list[tuple[Schedule, dict[int, float]]] = [
    (Constant(), {1: 1.0, 1000: 1.0}),
    (Constant(warmup_steps=4), {1: 0.25, 3: 0.75, 4: 1.0, 5: 1.0}),
    (Linear(steps=10), {1: 0.9, 5: 0.5, 10: 0.0, 11: 0.0}),
    (Linear(steps=6, warmup_steps=2, final=0.5), {1: 0.5, 2: 1.0, 4: 0.75, 6: 0.5, 60: 0.5}),
    (Polynomial(steps=10, power=0.5), {1: math.sqrt(0.9), 6: math.sqrt(0.4), 10: 0.0, 11: 0.0}),
    (Polynomial(steps=6, power=2.0, warmup_steps=2, final=0.5), {1: 0.5, 2: 1.0, 4: 0.625, 6: 0.5, 60: 0.5}),
    (Cosine(steps=4), {2: 0.5, 3: (1 - math.sqrt(0.5)) / 2, 4: 0.0, 9: 0.0}),
    (Cosine(steps=6, warmup_steps=2, final=0.2), {1: 0.5, 2: 1.0, 4: 0.6, 6: 0.2, 7: 0.2}),
    (InverseSquareRoot(), {1: 1.0, 4: 0.5, 100: 0.1}),
    (InverseSquareRoot(warmup_steps=4), {1: 0.25, 4: 1.0, 16: 0.5}),
    (StepDecay(boundaries=(3, 5), factor=0.1), {1: 1.0, 3: 1.0, 4: 0.1, 5: 0.1, 6: 0.01}),
    (StepDecay(boundaries=(3,), factor=0.5, warmup_steps=2), {1: 0.5, 2: 1.0, 3: 1.0, 4: 0.5}),
    (Exponential(every=2, factor=0.25), {1: 1.0, 2: 0.5, 3: 0.25, 5: 0.0625}),
    (Exponential(every=2, factor=0.25, warmup_steps=2), {1: 0.5, 2: 1.0, 3: 1.0, 4: 0.5, 5: 0.25}),
    (Exponential(every=3, factor=0.1, staircase=True), {1: 1.0, 3: 1.0, 4: 0.1, 6: 0.1, 7: 0.01}),
    (Exponential(every=3, factor=0.5, staircase=True, warmup_steps=2), {1: 0.5, 2: 1.0, 5: 1.0, 6: 0.5, 9: 0.25}),
    # PyTorch 2.13's CosineAnnealingWarmRestarts(T_0=5, T_mult=2), CyclicLR(0.1, 1.0, 4, 3), OneCycleLR(1.0, 10) give:
    (
        CosineRestarts(every=5, growth=2),
        {1: 1.0, 2: 0.904508497187, 5: 0.095491502813, 6: 1.0, 11: 0.5, 16: 1.0, 26: 0.5},
    ),
    (CosineRestarts(every=2, final=0.2, warmup_steps=2), {1: 0.5, 2: 1.0, 3: 1.0, 4: 0.6, 5: 1.0, 28: 0.6}),
    (Cyclic(up_steps=4, down_steps=3, low=0.1), {1: 0.1, 2: 0.325, 5: 1.0, 6: 0.7, 8: 0.1, 12: 1.0, 29: 0.1}),
    (Cyclic(up_steps=1, down_steps=2, low=0.0, warmup_steps=2), {1: 0.5, 2: 1.0, 3: 0.0, 4: 1.0, 5: 0.5, 6: 0.0}),
    (OneCycle(steps=10, rise_steps=3), {1: 0.04, 2: 0.52, 3: 1.0, 4: 0.950484632013, 10: 4e-6, 11: 4e-6, 29: 4e-6}),
    (OneCycle(steps=10, rise_steps=5, first=0.2), {1: 0.2, 2: 0.317157287525, 3: 0.6, 5: 1.0, 10: 4e-6}),
    (OneCycle(steps=4, rise_steps=2, first=0.5, final=0.0), {1: 0.5, 2: 1.0, 3: 0.5, 4: 0.0, 5: 0.0}),
    (WarmupStableDecay(steps=10, decay_steps=4), {1: 1.0, 6: 1.0, 7: 0.75, 10: 0.0, 11: 0.0}),
    (
        WarmupStableDecay(steps=6, decay_steps=2, warmup_steps=2, final=0.5),
        {1: 0.5, 2: 1.0, 4: 1.0, 5: 0.75, 6: 0.5, 9: 0.5},
    ),
]


@pytest.mark.parametrize(("schedule", "expected"), BY_HAND)
def test_factors_are_those_by_hand(schedule: Schedule, expected: dict[int, float]) -> None:
    """Steps count from 1, the warm-up ends at 1, and what falls has fallen in its last step and stays there."""
    assert {t: factor(schedule, t) for t in expected} == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("schedule", "expected"), BY_HAND)
def test_what_frameworks_compute_is_the_same(schedule: Schedule, expected: dict[int, float]) -> None:
    """The form in a framework's operations, of a number and of an array on its device, gives the same factors."""
    steps = np.arange(1.0, 30.0)
    found = schedules.factor(schedule, steps, np)
    assert found == pytest.approx([factor(schedule, int(t)) for t in steps], abs=1e-15)
    assert {t: float(schedules.factor(schedule, float(t), np)) for t in expected} == pytest.approx(expected, abs=1e-12)


class Reciprocal(np.ndarray):
    """Numbers of float32 whose quotients are products."""

    def __truediv__(self, other: object) -> np.ndarray:
        """Multiply by the reciprocal."""
        return self * (np.float32(1) / np.float32(other))  # type: ignore[arg-type,no-any-return]


def test_a_staircase_is_where_it_should_be_by_a_compilers_division() -> None:
    """XLA divides by multiplying with a reciprocal, in float32: 41 and 751 are among those for which that is less."""
    for every in (3, 41, 47, 751, 48_044):
        schedule = Exponential(every=every, factor=0.5, staircase=True)
        steps = [k * every + one for k in range(1, 20) for one in (0, 1, 2)]

        t = np.array(steps, np.float32).view(Reciprocal)
        assert schedules.factor(schedule, t, np) == pytest.approx([factor(schedule, one) for one in steps])


def test_cycles_restart_where_they_should_in_float32() -> None:
    """Rounding moves no first step of a cycle, which would have the factor of a last one."""
    for schedule in (
        CosineRestarts(every=751, warmup_steps=41),
        CosineRestarts(every=47, growth=2),
        Cyclic(up_steps=41, down_steps=751, low=0.01),
    ):
        steps = np.arange(1, 40_000)
        found = schedules.factor(schedule, steps.astype(np.float32).view(Reciprocal), np)
        assert found == pytest.approx([factor(schedule, int(t)) for t in steps], abs=1e-5)


def test_no_rate_is_below_its_lowest_behind_what_float32_counts_by_halves() -> None:
    """From step 2^23 on there is no half between two steps, and a cycle seemed to begin one step late."""
    steps = np.arange(2**23 - 8, 2**23 + 64).astype(np.float32)
    for schedule in (Cyclic(up_steps=2, down_steps=2, low=0.0), CosineRestarts(every=4)):
        found = schedules.factor(schedule, steps, np)
        assert found.min() >= 0.0
        assert found.max() <= 1.0


def test_a_long_warm_up_overflows_nothing() -> None:
    """What lies behind it is not computed with an exponent below 0."""
    schedule = Exponential(every=1, factor=0.1, warmup_steps=500)
    assert schedules.factor(schedule, 1.0, np) == pytest.approx(1 / 500)


def test_the_rate_is_multiplied() -> None:
    """Without a schedule every step has the learning rate, with one its factor's share."""
    assert [rate(SGD(learning_rate=0.4), t) for t in (1, 7)] == [0.4, 0.4]
    assert rate(SGD(learning_rate=0.4, schedule=Constant(warmup_steps=4)), 1) == pytest.approx(0.1)

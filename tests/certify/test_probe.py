from __future__ import annotations

import numpy as np
import pytest

from bakeoff.certify.probe import PROBE_STEPS, probe_gradients, probe_parameters, probed
from bakeoff.spec.optimizer import SGD, exempt, frozen_of, rate_factor
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
from bakeoff.workloads.optimizers import norm_of
from bakeoff.workloads.schedules import factor


def test_the_probe_is_always_the_same() -> None:
    """Every process draws the same parameters and gradients."""
    for first, second in ((probe_parameters(), probe_parameters()), (probe_gradients()[-1], probe_gradients()[-1])):
        assert all(np.array_equal(first[name], second[name]) for name in first)


def test_the_probe_is_exact_in_float32() -> None:
    """No contender starts from a rounding of its own."""
    for arrays in (probe_parameters(), *probe_gradients()):
        for value in arrays.values():
            assert value.dtype == np.float64
            np.testing.assert_array_equal(value.astype(np.float32).astype(np.float64), value)


def test_gradients_reach_from_tiny_to_large_with_zeros() -> None:
    """Gradients span ten orders of magnitude; some are zero once, some at every step."""
    steps = probe_gradients()
    assert len(steps) == PROBE_STEPS
    for name, value in probe_parameters().items():
        sizes = np.abs(np.stack([step[name] for step in steps]))
        assert sizes.shape == (PROBE_STEPS, *value.shape)
        some = sizes[sizes > 0]
        assert some.min() < 1e-6
        assert some.max() > 1.0
        zeros = (sizes == 0).sum(axis=0)
        assert (zeros == PROBE_STEPS).any()
        assert ((zeros > 0) & (zeros < PROBE_STEPS)).any()


@pytest.mark.parametrize("clip_norm", [0.01, 1.0, 400.0])
def test_the_probe_has_steps_that_clip_and_steps_that_do_not(clip_norm: float) -> None:
    """Whatever norm is clipped to, gradients are above it and below it, and all still exact in float32."""
    steps = probe_gradients(clip_norm)
    norms = [norm_of(step) / clip_norm for step in steps]
    assert min(norms) < 0.1
    assert sum(norm > 1 for norm in norms) == PROBE_STEPS / 2
    assert all((value == value.astype(np.float32)).all() for step in steps for value in step.values())


@pytest.mark.parametrize(
    "schedule",
    [
        Constant(warmup_steps=2000),
        Linear(steps=100_000, warmup_steps=10),
        Polynomial(steps=5000, power=0.9, warmup_steps=100),
        Cosine(steps=600_000, warmup_steps=2000, final=0.1),
        InverseSquareRoot(warmup_steps=4000),
        StepDecay(boundaries=(30_000, 60_000), factor=0.1, warmup_steps=500),
        Exponential(every=30_000, factor=0.5, warmup_steps=500),
        CosineRestarts(every=5000, growth=2, warmup_steps=500),
        Cyclic(up_steps=2000, down_steps=4000, low=0.1, warmup_steps=500),
        WarmupStableDecay(steps=600_000, decay_steps=60_000, warmup_steps=2000),
    ],
)
def test_the_probe_sees_a_schedule_rise_and_fall(schedule: Schedule) -> None:
    """Of a schedule of any length, the probe's steps have a part of the warm-up and of what is behind it."""
    short = probed(SGD(learning_rate=1.0, schedule=schedule)).schedule
    assert short is not None
    found = [factor(short, t) for t in range(1, PROBE_STEPS + 1)]
    assert found[:2] == [0.5, 1.0]
    assert isinstance(schedule, Constant) or len(set(found[1:])) > 2


def test_the_probe_sees_one_cycle() -> None:
    """It rises by itself, from its first rate, and falls to its last."""
    short = probed(SGD(learning_rate=1.0, schedule=OneCycle(steps=90_000, rise_steps=27_000))).schedule
    assert short is not None
    found = [factor(short, t) for t in range(1, PROBE_STEPS + 1)]
    assert (found[:2], found[4:]) == ([0.04, 1.0], pytest.approx([4e-6, 4e-6]))
    assert 0.1 < found[3] < found[2] < 0.9


def test_the_probe_tells_a_staircase_from_a_slope() -> None:
    """An exponential of any length falls at once in some steps of the probe, and evenly in others."""
    kinds = [Exponential(every=48_044, factor=0.97, staircase=staircase) for staircase in (True, False)]
    short = [probed(SGD(learning_rate=1.0, schedule=schedule)).schedule for schedule in kinds]
    stairs, slope = ([factor(one, t) for t in range(1, PROBE_STEPS + 1)] for one in short if one is not None)
    assert len(set(stairs)) == 3
    assert len(set(slope)) == PROBE_STEPS


def test_the_probe_has_both_groups() -> None:
    """Whatever a workload's parameters are called, one of the probe's is without decay."""
    assert exempt(probed(SGD(learning_rate=1.0, weight_decay=1.0, no_decay=("*.bias",))), list(probe_parameters())) == [
        "scale"
    ]


def test_the_probe_has_groups_with_rates_and_one_that_is_not_trained() -> None:
    """Two of the workload's factors are tried, and what is frozen is there without gradients."""
    optimizer = SGD(learning_rate=1.0, rates=(("a.*", 0.1), ("b.*", 2.0), ("c.*", 3.0)), frozen=("d.*",))
    names = list(probe_parameters(optimizer))
    assert {name: rate_factor(probed(optimizer), name) for name in names if name != "still"} == {
        "far": 0.1,
        "near": 1.0,
        "scale": 2.0,
    }
    assert frozen_of(probed(optimizer), names) == ["still"] == sorted(set(names) - set(probe_gradients()[0]))

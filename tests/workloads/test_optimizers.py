from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bakeoff.spec.optimizer import SGD, Adam, AdamW, RMSprop, groups_of
from bakeoff.spec.schedule import Constant, Linear, StepDecay
from bakeoff.workloads.optimizers import trajectory


def follow(optimizer: Any, start: float, *gradients: float) -> list[float]:
    """Give a single parameter after each step."""
    states = trajectory(optimizer, {"p": np.array(start)}, [{"p": np.array(gradient)} for gradient in gradients])
    return [float(state["p"]) for state in states]


def test_sgd() -> None:
    """Plain SGD subtracts the gradient times the learning rate."""
    assert follow(SGD(learning_rate=0.5), 1.0, 1.0, -2.0) == [0.5, 1.5]


def test_momentum_has_no_dampening_and_no_nesterov() -> None:
    """The velocity is momentum times itself plus the whole gradient, and it alone moves the parameter."""
    assert follow(SGD(learning_rate=1.0, momentum=0.5), 0.0, 1.0, 1.0, 0.0) == [-1.0, -2.5, -3.25]


def test_sgd_decays_through_the_gradient() -> None:
    """SGD's weight decay is added to the gradient, so momentum carries it on."""
    assert follow(SGD(learning_rate=1.0, momentum=0.5, weight_decay=0.25), 4.0, 0.0, 0.0) == [3.0, 1.75]


def test_adams_epsilon_stands_outside_the_root_after_correction() -> None:
    """With gradient 1 the corrected moments are 1, so epsilon 1 halves the step, from the first step on."""
    assert follow(Adam(learning_rate=1.0, epsilon=1.0), 0.0, 1.0, 1.0) == pytest.approx([-0.5, -1.0], rel=1e-12)


def test_adamw_decays_apart_from_the_moments() -> None:
    """With a zero gradient AdamW only decays, by the learning rate times the decay."""
    assert follow(AdamW(learning_rate=0.5, weight_decay=0.5), 4.0, 0.0, 0.0) == [3.0, 2.25]


def test_rmsprops_epsilon_stands_outside_the_root() -> None:
    """With decay 0.75 the root of the second moment is half the gradient; epsilon is added to it."""
    assert follow(RMSprop(learning_rate=1.0, decay=0.75, epsilon=0.5), 0.0, 1.0) == [-1.0]


def test_rmsprops_momentum_is_of_scaled_gradients_and_has_no_rate_in_it() -> None:
    """A velocity of g / sqrt(v), which a later step's rate multiplies whole: of 1, and then of 0.5 * 1 + 0."""
    schedule = StepDecay(boundaries=(1,), factor=0.5)
    optimizer = RMSprop(learning_rate=1.0, decay=0.0, epsilon=1e-300, momentum=0.5, schedule=schedule)
    assert follow(optimizer, 0.0, 2.0, -2.0) == [-1.0, -0.75]


def test_rmsprop_decays_through_the_gradient() -> None:
    """By a gradient of 0 and a decay the parameter goes down as by a gradient."""
    assert follow(RMSprop(learning_rate=1.0, decay=0.75, epsilon=0.5, weight_decay=0.5), 2.0, 0.0) == [1.0]


def test_parameters_given_are_left_as_they_are() -> None:
    """A trajectory changes nothing of what it is given."""
    start = {"p": np.ones(3)}
    trajectory(SGD(learning_rate=1.0), start, [{"p": np.ones(3)}])
    assert start["p"].tolist() == [1.0, 1.0, 1.0]


def test_nesterov_steps_by_the_gradient_and_the_velocity_after_it() -> None:
    """The parameter moves by g + momentum * v, where v has the gradient already."""
    assert follow(SGD(learning_rate=1.0, momentum=0.5, nesterov=True), 0.0, 1.0, 1.0) == [-1.5, -3.25]


def test_a_schedule_changes_the_rate_and_not_the_velocity() -> None:
    """The velocity is of gradients: the rate of a step multiplies all of it."""
    optimizer = SGD(learning_rate=1.0, momentum=0.5, schedule=Constant(warmup_steps=2))
    assert follow(optimizer, 0.0, 1.0, 0.0) == [-0.5, -1.0]


def test_gradients_are_clipped_together() -> None:
    """Both arrays are scaled by one share, where their common norm is too large, and else by none."""
    optimizer = SGD(learning_rate=1.0, clip_norm=1.0)
    start = {"a": np.zeros(1), "b": np.zeros(1)}
    large, small = {"a": np.array([3.0]), "b": np.array([4.0])}, {"a": np.array([0.3]), "b": np.array([0.4])}
    first, second = trajectory(optimizer, start, [large, small])
    assert [float(first[name][0]) for name in "ab"] == pytest.approx([-0.6, -0.8])
    assert [float(second[name][0]) for name in "ab"] == pytest.approx([-0.9, -1.2])


@pytest.mark.parametrize("kind", [SGD, AdamW])
def test_parameters_that_are_named_do_not_decay(kind: Any) -> None:
    """A pattern is held against the whole canonical name."""
    optimizer = kind(learning_rate=0.5, weight_decay=0.5, no_decay=("*.bias", "norm*"))
    start = {name: np.array(4.0) for name in ("a.weight", "a.bias", "norm.scale", "bias.weight")}
    (state,) = trajectory(optimizer, start, [dict.fromkeys(start, np.array(0.0))])
    assert {name: float(value) for name, value in state.items()} == {
        "a.weight": 3.0,
        "a.bias": 4.0,
        "norm.scale": 4.0,
        "bias.weight": 3.0,
    }


@pytest.mark.parametrize("kind", [SGD, Adam, AdamW, RMSprop])
def test_the_first_pattern_of_rates_that_matches_counts_with_decay_and_schedule(kind: Any) -> None:
    """A group is trained as by an optimiser with its rate, whose decoupled decay goes with that."""
    shared = {"weight_decay": 0.5, "schedule": Linear(steps=9)}
    grouped = kind(learning_rate=0.5, rates=(("body.bias", 0.5), ("body.*", 0.1)), **shared)
    gradients = [{name: np.array([3.0 + t]) for name in ("body.bias", "body.weight", "head.weight")} for t in range(3)]
    start = dict.fromkeys(gradients[0], np.array([4.0]))
    found = trajectory(grouped, start, gradients)[-1]
    for name, rate in {"body.bias": 0.25, "body.weight": 0.05, "head.weight": 0.5}.items():
        alone = trajectory(kind(learning_rate=rate, **shared), {name: start[name]}, gradients)[-1]
        assert found[name] == pytest.approx(alone[name], rel=1e-14)


def test_frozen_parameters_stay_and_are_not_in_the_norm() -> None:
    """They need no gradients; those that are there are clipped by their own norm."""
    optimizer = AdamW(learning_rate=0.5, weight_decay=0.5, clip_norm=1.0, frozen=("body.*",))
    start = {"body.weight": np.array([4.0]), "head.weight": np.array([4.0])}
    gradients = [{"head.weight": np.array([3.0])}] * 3
    alone = AdamW(learning_rate=0.5, weight_decay=0.5, clip_norm=1.0)
    found = trajectory(optimizer, start, gradients)[-1]
    assert found == {
        "body.weight": start["body.weight"],
        **trajectory(alone, {"head.weight": start["head.weight"]}, gradients)[-1],
    }


def test_groups_are_the_parameters_that_have_one_optimiser() -> None:
    """Each has its own rate and decay, and no patterns; one that is frozen has none."""
    optimizer = SGD(learning_rate=1.0, weight_decay=0.5, no_decay=("*.b",), frozen=("c.*",), rates=(("a.*", 0.5),))
    assert groups_of(optimizer, ["a.w", "a.b", "b.w", "b.b", "c.w", "d.w"]) == {
        SGD(learning_rate=0.5, weight_decay=0.5): ["a.w"],
        SGD(learning_rate=0.5): ["a.b"],
        SGD(learning_rate=1.0, weight_decay=0.5): ["b.w", "d.w"],
        SGD(learning_rate=1.0): ["b.b"],
    }

"""What rl-venv-ppo learns from is a pendulum, and the environment of its second stage has learnt it."""

from __future__ import annotations

import numpy as np
import pytest

from bakeoff.workloads import in_numpy, pendulum, plan
from bakeoff.workloads.load import load
from bakeoff.workloads.metric import check_metric
from bakeoff.workloads.rl_venv_ppo import GAMMA, LAMBDA, _discounts, _mlp, metric


def test_what_is_recorded_obeys_gyms_equations() -> None:
    """Each recorded state follows from the one before and the action, by the equations of Gym's Pendulum-v1."""
    states, actions = (one.astype(np.float64) for one in pendulum.recorded())
    angle, speed = np.arctan2(states[..., 1], states[..., 0]), 8 * states[..., 2]
    expected = np.clip(speed[:, :-1] + 0.05 * (15 * np.sin(angle[:, :-1]) + 3 * 2 * actions[..., 0]), -8, 8)
    assert np.abs(speed[:, 1:] - expected).max() < 1e-5
    moved = np.exp(1j * (angle[:, :-1] + 0.05 * speed[:, 1:]))
    assert np.abs(moved - (states[:, 1:, 0] + 1j * states[:, 1:, 1])).max() < 1e-5


def test_the_frozen_environment_has_learnt_the_pendulum() -> None:
    """Its mean next state is nearer to the recorded one than the state before is: less than a third of the way off."""
    states, actions = (one.astype(np.float64) for one in pendulum.recorded())
    before, after = states[:, :-1].reshape(-1, 3), states[:, 1:].reshape(-1, 3)
    given = np.hstack([before, actions.reshape(-1, 1)])
    found = np.tanh(outputs(pendulum.learnt(256, 4)["transition"], given)[:, :3])
    assert np.abs(found - after).mean() < np.abs(before - after).mean() / 3


def outputs(arrays: list[tuple[np.ndarray, np.ndarray]], x: np.ndarray) -> np.ndarray:
    """Return what a ResNet gives whose first block has a skip; layers are in the order in which they are made."""
    layers = iter(arrays)

    def linear(h: np.ndarray) -> np.ndarray:
        weight, bias = next(layers)
        return h @ weight + bias

    for place in range(len(arrays) // 2 - 1):
        branch = np.maximum(linear(np.maximum(linear(x), 0)), 0)
        x = (x if place else linear(x)) + branch
    return linear(x)


def test_a_product_with_the_discounts_is_gae() -> None:
    """The triangular matrix gives the advantages that the recursion backward over time gives."""
    errors = np.random.RandomState(0).standard_normal((3, 7))
    expected, later = np.zeros_like(errors), np.zeros(3)
    for t in reversed(range(7)):
        later = errors[:, t] + GAMMA * LAMBDA * later
        expected[:, t] = later
    assert errors @ _discounts(7) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("size", ["reduced", "policy-reduced"])
def test_a_seed_gives_the_same_batches(size: str) -> None:
    """Windows are pieces of recorded trajectories, and all that is random hangs on the seed."""
    loaded = load("rl-venv-ppo")
    assert loaded.data is not None
    first, again, other = (loaded.data(loaded.size(size), 6, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not any(np.array_equal(first[name], other[name]) for name in first)
    if "windows" in first:
        assert np.array_equal(first["windows"][:, 1:, :3], first["windows"][:, :-1, 4:])


def test_the_environment_is_tried_on_transitions_that_it_did_not_learn_from() -> None:
    """Stage 1 tells the mean absolute error of its mean next states; none of these transitions is a recorded one."""
    known, after = pendulum.unseen()
    assert (known.shape, after.shape) == ((2000, 4), (2000, 3))
    states, actions = pendulum.recorded()
    recorded = {tuple(row) for row in np.concatenate([states[:, :-1], actions], 2).reshape(-1, 4)}
    assert not recorded & {tuple(row) for row in known.astype(np.float32)}
    arrays = pendulum.learnt(256, 4)["transition"]
    found = metric(load("rl-venv-ppo").size("full"), named(arrays))
    assert found == pytest.approx(np.abs(np.tanh(outputs(arrays, known)[:, :3]) - after).mean())
    assert found < np.abs(known[:, :3] - after).mean()


def named(arrays: list[tuple[np.ndarray, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return the arrays of a transition of four blocks by the names of its parameters, in float64."""
    rest = [f"blocks.{place}.{part}" for place in (1, 2, 3) for part in ("first", "second")]
    parts = ["blocks.0.first", "blocks.0.second", "blocks.0.skip", *rest, "head"]
    return {
        f"transition.{part}.{kind}": array.astype(np.float64)
        for part, pair in zip(parts, arrays, strict=True)
        for kind, array in zip(("weight", "bias"), pair, strict=True)
    }


def test_what_is_unseen_obeys_gyms_equations() -> None:
    """A state that follows is the one that Gym's pendulum goes to from the state and the action before it."""
    known, after = pendulum.unseen()
    angle, speed = np.arctan2(known[:, 1], known[:, 0]), 8 * known[:, 2]
    expected = np.clip(speed + 0.05 * (15 * np.sin(angle) + 3 * 2 * known[:, 3]), -8, 8)
    assert np.abs(8 * after[:, 2] - expected).max() < 1e-5


@pytest.mark.parametrize("action", [0.0, 0.5])
def test_a_policy_is_tried_by_driving_the_pendulum(action: float) -> None:
    """Stage 2 tells the mean reward of a step; here that of one action alone, against the equations written out."""
    loaded = load("rl-venv-ppo")
    size = loaded.size("policy-reduced")
    arrays = {name: np.zeros(array.shape) for name, array in plan.parameters(loaded.build, size).items()}
    arrays["policy.head.bias"] = np.array([np.arctanh(action), 0.0])
    stream = np.random.RandomState(pendulum.UNSEEN)
    angle, speed = stream.uniform(-np.pi, np.pi, 100), stream.uniform(-1, 1, 100)
    rewards = []
    for _ in range(200):
        rewards.append(-(2 * (1 - np.cos(angle)) + 0.1 * speed**2 + 0.001 * (2 * action) ** 2))
        speed = np.clip(speed + 0.05 * (15 * np.sin(angle) + 3 * 2 * action), -8, 8)
        angle = angle + 0.05 * speed
    assert metric(size, arrays) == pytest.approx(np.mean(rewards), rel=1e-6)


def test_an_mlp_in_numpy_is_its_formula() -> None:
    """Layers by their names, a leaky ReLU between them, and none behind the last."""
    stream = np.random.RandomState(0)
    shapes = {"hidden.0": (3, 5), "hidden.1": (5, 5), "head": (5, 2)}
    arrays = {f"policy.{name}.weight": stream.standard_normal(shape) for name, shape in shapes.items()}
    arrays |= {f"policy.{name}.bias": stream.standard_normal(shape[1]) for name, shape in shapes.items()}
    x = stream.standard_normal((7, 3))
    expected = x
    for name in ("hidden.0", "hidden.1"):
        expected = expected @ arrays[f"policy.{name}.weight"] + arrays[f"policy.{name}.bias"]
        expected = np.maximum(expected, 0.1 * expected)
    expected = expected @ arrays["policy.head.weight"] + arrays["policy.head.bias"]
    network = in_numpy.with_parameters(_mlp(in_numpy.VOCABULARY)(3, 5, 2, 2), "policy", arrays)
    assert network(x) == pytest.approx(expected)


@pytest.mark.parametrize("size", ["reduced", "policy-reduced"])
def test_each_stage_has_a_metric_of_its_first_weights(size: str) -> None:
    """Both stages declare one, the environment's error to be small and the policy's reward to be large."""
    loaded = load("rl-venv-ppo")
    declared = loaded.size(size).metric
    assert declared is not None
    assert declared.less_is_better == (size == "reduced")
    check_metric(loaded, loaded.size(size), 0)

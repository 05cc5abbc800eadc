"""What rl-venv-ppo learns from is a pendulum, and the environment of its second stage has learnt it."""

from __future__ import annotations

import numpy as np
import pytest

from bakeoff.workloads import pendulum
from bakeoff.workloads.load import load
from bakeoff.workloads.rl_venv_ppo import GAMMA, LAMBDA, _discounts


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

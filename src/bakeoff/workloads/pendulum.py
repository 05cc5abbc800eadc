"""Recorded trajectories of a pendulum, which rl-venv-ppo learns from, and an environment fitted to them in NumPy.

The pendulum is Gym's Pendulum-v1: gravity 10, mass and length 1, steps of 0.05 s. A noisy controller of its energy has
driven it, 100 times for 200 steps, which REVIVE's public sample has too; all is drawn from fixed seeds. On the pendulum
itself, too, what was learnt is tried: on transitions of other trajectories, and by letting a policy drive it.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.spec.workload import Size

STATE, ACTION = 3, 1
"""Cosine and sine of the angle and the speed over 8; the torque over 2."""

TRAJECTORIES, LENGTH = 100, 200
FASTEST, STRONGEST = 8.0, 2.0
"""Gym's limits of the pendulum's speed and torque."""

UPRIGHT = 5.0
"""The energy of standing upright: that of a rod, speed^2 / 6 + 5 cos angle."""

NEAR = 0.9
"""From this cosine of the angle on the controller holds, with a spring and a damper, instead of pumping energy in."""

UNSEEN = 1
"""The seed of trajectories that nothing is learnt from, and of the states that a policy begins in."""

FARTHEST, LARGEST = 0.98, 0.999
"""Beyond it a mean is fitted as if it were this, at first and then: tanh would need infinite outputs for 1."""

STRIDE, RIDGE, ITERATIONS = 10, 1e-3, 5
"""2,000 of the 20,000 transitions are enough for 257 numbers an output; in five iterations the error has two digits."""


def data(size: Size, samples: int, seed: int) -> dict[str, Any]:
    """Return windows of the recorded trajectories or states to start in, with standard normal numbers."""
    horizon: Any = size.config["horizon"]
    stream = np.random.RandomState(seed)
    states, actions = recorded()
    which, first = stream.randint(0, TRAJECTORIES, samples), stream.randint(0, LENGTH - horizon + 1, samples)
    noise = stream.standard_normal((samples, horizon, ACTION + STATE)).astype(np.float32)
    if size.config["stage"] == "policy":
        return {"starts": states[which, first], "noise": noise}
    at = first[:, None] + np.arange(horizon)
    which = which[:, None]
    windows = np.concatenate([states[which, at], actions[which, at], states[which, at + 1]], 2)
    return {"windows": windows, "noise": noise}


@cache
def recorded(seed: int = 0) -> tuple[Any, Any]:
    """Return the states (100, 201, 3) and actions (100, 200, 1) of a noisy controller on Gym's pendulum, float32."""
    stream = np.random.RandomState(seed)
    angle, speed = _begun(stream)
    states, actions = [_state(angle, speed)], []
    for _ in range(LENGTH):
        missing = UPRIGHT - (speed**2 / 6 + UPRIGHT * np.cos(angle))
        turned = np.arctan2(np.sin(angle), np.cos(angle))
        wanted = np.where(np.cos(angle) > NEAR, -10.0 * turned - 2.0 * speed, speed * missing)
        torque = np.clip(wanted + 0.5 * stream.standard_normal(TRAJECTORIES), -STRONGEST, STRONGEST)
        angle, speed = _moved(angle, speed, torque)
        states.append(_state(angle, speed))
        actions.append(torque[:, None] / STRONGEST)
    return np.stack(states, 1).astype(np.float32), np.stack(actions, 1).astype(np.float32)


def unseen() -> tuple[Any, Any]:
    """Return states with actions (2000, 4), and the states that follow (2000, 3), of trajectories of their own."""
    states, actions = (one.astype(np.float64) for one in recorded(UNSEEN))
    known = np.concatenate([states[:, :-1], actions], 2).reshape(-1, STATE + ACTION)
    return known[::STRIDE], states[:, 1:].reshape(-1, STATE)[::STRIDE]


def driven(act: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Return the states (100, 200, 3) and actions (100, 200, 1) of what acts, of states (100, 3), on Gym's pendulum."""
    angle, speed = _begun(np.random.RandomState(UNSEEN))
    states: list[Any] = []
    actions: list[Any] = []
    for _ in range(LENGTH):
        states.append(_state(angle, speed))
        actions.append(act(states[-1]))
        angle, speed = _moved(angle, speed, np.clip(STRONGEST * actions[-1][:, 0], -STRONGEST, STRONGEST))
    return np.stack(states, 1), np.stack(actions, 1)


def _begun(stream: Any) -> tuple[Any, Any]:
    """Return angles and speeds to begin with, as Gym draws them."""
    return stream.uniform(-math.pi, math.pi, TRAJECTORIES), stream.uniform(-1.0, 1.0, TRAJECTORIES)


def _moved(angle: Any, speed: Any, torque: Any) -> tuple[Any, Any]:
    """Return angle and speed a step later, by Gym's equations."""
    speed = np.clip(speed + 0.05 * (15.0 * np.sin(angle) + 3.0 * torque), -FASTEST, FASTEST)
    return angle + 0.05 * speed, speed


def _state(angle: Any, speed: Any) -> Any:
    """Return what is observed of the pendulum."""
    return np.stack([np.cos(angle), np.sin(angle), speed / FASTEST], 1)


@cache
def learnt(hidden: int, layers: int) -> dict[str, Any]:
    """Return weights and biases of a behaviour policy and a transition: random blocks, heads by least squares."""
    states, actions = recorded()
    before, after = states[:, :-1].reshape(-1, STATE), states[:, 1:].reshape(-1, STATE)
    acted = actions.reshape(-1, ACTION)
    known = np.concatenate([before, acted], 1)
    # Deviations: of actions in the middle of their range, of states 0.01.
    return {
        "behaviour": _fitted(before, acted, hidden, layers, spread=0.0),
        "transition": _fitted(known, after, hidden, layers, spread=-2.0),
    }


def _fitted(x: Any, wanted: Any, hidden: int, layers: int, *, spread: float) -> list[Any]:
    """Return a ResNet's weights and biases whose means are near to what is wanted."""
    stream = np.random.RandomState(1)
    arrays: list[Any] = []

    def drawn(h: Any) -> Any:
        features = h.shape[1]
        weight = (stream.standard_normal((features, hidden)) / math.sqrt(features)).astype(np.float32)
        bias = (0.5 * stream.standard_normal(hidden)).astype(np.float32)
        arrays.append((weight, bias))
        return h @ weight.astype(np.float64) + bias

    h = x[::STRIDE].astype(np.float64)
    for place in range(layers):
        branch = np.maximum(drawn(np.maximum(drawn(h), 0.0)), 0.0)
        h = (h if place else drawn(h)) + branch
    head = _head(np.concatenate([h, np.ones((len(h), 1))], 1), wanted[::STRIDE].astype(np.float64))
    head = np.concatenate([head, np.zeros_like(head)], 1).astype(np.float32)
    head[-1, wanted.shape[1] :] = spread
    return [*arrays, (head[:-1], head[-1])]


def _head(known: Any, wanted: Any) -> Any:
    """Return weights (features, outputs) by which tanh(known @ weights) is near to what is wanted, by Gauss-Newton."""
    held = RIDGE * np.eye(known.shape[1])
    goal = np.arctanh(np.clip(wanted, -FARTHEST, FARTHEST))
    found = np.linalg.solve(known.T @ known + held, known.T @ goal)
    for _ in range(ITERATIONS):
        means = np.tanh(known @ found)
        for place, (mean, target) in enumerate(zip(means.T, wanted.T, strict=True)):
            slopes = known * (1.0 - mean * mean)[:, None]
            missing = np.clip(target, -LARGEST, LARGEST) - mean
            found[:, place] += np.linalg.solve(slopes.T @ slopes + held, slopes.T @ missing)
    return found

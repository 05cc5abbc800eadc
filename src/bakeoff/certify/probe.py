"""The parameters and gradients on which every contender's optimiser is checked, the same for all.

Weights after k training steps cannot be compared tightly: where a gradient is nearly zero, its sign is due to rounding,
and Adam makes a full step in that direction. With given gradients the formula can be checked to float32's precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from bakeoff.spec.schedule import (
    Cosine,
    CosineRestarts,
    Cyclic,
    Exponential,
    Linear,
    OneCycle,
    Polynomial,
    StepDecay,
    WarmupStableDecay,
)
from bakeoff.workloads.optimizers import norm_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bakeoff.spec.optimizer import Optimizer
    from bakeoff.spec.schedule import Schedule
    from bakeoff.workloads.optimizers import Arrays

PROBE_STEPS = 6
"""Number of steps: momentum, bias correction and epsilon each change more than one of them."""

_SEED = 20_150_507  # any fixed number
_SMALLEST, _LARGEST = -8, 2  # powers of ten: from Adam's epsilon, where its place in the formula shows, to a spike
_ZERO_SHARE = 0.1  # exact zeros: a dead unit's gradient, where only decay and momentum may move a parameter


_WARMUP, _LAST = 2, 5
"""Steps of a schedule's warm-up on the probe, and the step in which it has fallen: two steps see what is between."""

_EVERY = 2
"""Steps in which an exponential falls once, or of the first cycle: where it was one, a staircase would be a slope."""

_DOWN = 3
"""Steps in which a cycle falls: others than those in which it rises, which are _EVERY."""

_CLIPPED = (4.0, 0.5, 1.5, 0.9, 30.0, 0.01)
"""Norms of the probe's gradients in units of clip_norm: steps that clip, and steps that do not."""


def probed(optimizer: Optimizer) -> Optimizer:
    """Return the optimiser that is applied to the probe: with its kind of schedule in few steps, and its groups.

    Its patterns name a workload's parameters; here `no_decay` names `scale`, whose decay shows where there is one, the
    first two of `rates` name `far` and `scale`, and `frozen` names `still`.
    """
    if optimizer.schedule is not None:
        optimizer = msgspec.structs.replace(optimizer, schedule=_short(optimizer.schedule))
    if optimizer.no_decay:
        optimizer = msgspec.structs.replace(optimizer, no_decay=("sc*e",))
    factors = [factor for _, factor in optimizer.rates]
    rates = tuple(zip(("f?r", "scale"), factors, strict=False))
    return msgspec.structs.replace(optimizer, rates=rates, frozen=("still",) if optimizer.frozen else ())


def _short(schedule: Schedule) -> Schedule:
    """Return a schedule of the same kind whose warm-up and fall are both within the probe's steps."""
    if isinstance(schedule, OneCycle):
        return msgspec.structs.replace(schedule, steps=_LAST, rise_steps=_WARMUP)
    warmup = min(schedule.warmup_steps, _WARMUP)
    schedule = msgspec.structs.replace(schedule, warmup_steps=warmup)
    few: dict[str, Any] = {}
    match schedule:
        case StepDecay(boundaries=boundaries):
            few = {"boundaries": tuple(range(_WARMUP + 1, PROBE_STEPS))[: len(boundaries)]}
        case Exponential(every=every) | CosineRestarts(every=every):
            few = {"every": min(every, _EVERY)}
        case Cyclic(up_steps=up, down_steps=down):
            few = {"up_steps": min(up, _EVERY), "down_steps": min(down, _DOWN)}
        case WarmupStableDecay():
            few = {"steps": _LAST, "decay_steps": _LAST - _WARMUP - 1}
        case Linear() | Polynomial() | Cosine():
            few = {"steps": _LAST}
    return msgspec.structs.replace(schedule, **few)


def probe_parameters(optimizer: Optimizer | None = None) -> Arrays:
    """Return the parameters to start from: `far` (8, 16) of about 1, `near` (64,) at zero, `scale` (4, 4, 2, 3) at one.

    Parameters at zero show an update to full precision; the others show decay. Where the optimiser leaves parameters
    untrained, there is `still` (8,) besides, which has no gradients.
    """
    far = np.random.RandomState(_SEED).standard_normal((8, 16))
    found = {"far": _float32(far), "near": np.zeros(64), "scale": np.ones((4, 4, 2, 3))}
    return found | ({"still": np.ones(8)} if optimizer is not None and optimizer.frozen else {})


def probe_gradients(clip_norm: float | None = None) -> list[Arrays]:
    """Return the gradients of PROBE_STEPS steps: exact as float32, from 1e-8 to 1e2 in size, some exactly zero.

    Where gradients are clipped, they are brought to norms above and below `clip_norm` by turns.
    """
    stream = np.random.RandomState(_SEED + 1)
    shapes = {name: value.shape for name, value in probe_parameters().items()}
    never = {name: stream.uniform(size=shape) < _ZERO_SHARE for name, shape in shapes.items()}
    steps = []
    for _ in range(PROBE_STEPS):
        step = {}
        for name, shape in shapes.items():
            size = 10.0 ** stream.uniform(_SMALLEST, _LARGEST, shape)
            sign = np.where(stream.uniform(size=shape) < 0.5, -1.0, 1.0)  # noqa: PLR2004 - as often as not
            now = stream.uniform(size=shape) < _ZERO_SHARE
            step[name] = _float32(np.where(never[name] | now, 0.0, sign * size))
        steps.append(step)
    if clip_norm is None:
        return steps
    return [_scaled(step, share * clip_norm) for step, share in zip(steps, _CLIPPED, strict=True)]


def _scaled(step: Arrays, norm: float) -> Arrays:
    """Return gradients of this norm."""
    factor = norm / norm_of(step)
    return {name: _float32(value * factor) for name, value in step.items()}


def _float32(value: NDArray[Any]) -> NDArray[np.float64]:
    """Round to what a float32 can hold, so that no contender starts from a rounding of its own."""
    return value.astype(np.float32).astype(np.float64)

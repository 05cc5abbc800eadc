"""The formulas of `bakeoff.spec.schedule` in plain Python, against which every framework's schedule is checked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bakeoff.spec.schedule import Cosine, Exponential, InverseSquareRoot, Linear, Polynomial, StepDecay

if TYPE_CHECKING:
    from bakeoff.spec.optimizer import Optimizer
    from bakeoff.spec.schedule import Schedule


def rate(optimizer: Optimizer, t: int) -> float:
    """Return the learning rate in step t, which counts from 1."""
    return optimizer.learning_rate * (1.0 if optimizer.schedule is None else factor(optimizer.schedule, t))


def factor(schedule: Schedule, t: int) -> float:
    """Return what the rate is multiplied by in step t, which counts from 1."""
    warmup = schedule.warmup_steps
    if t <= warmup:
        return t / warmup
    match schedule:
        case Linear(steps=steps, final=final):
            found = 1 + (final - 1) * _progress(t, warmup, steps)
        case Polynomial(steps=steps, power=power, final=final):
            found = final + (1 - final) * (1 - _progress(t, warmup, steps)) ** power
        case Cosine(steps=steps, final=final):
            found = final + (1 - final) * (1 + math.cos(math.pi * _progress(t, warmup, steps))) / 2
        case InverseSquareRoot():
            found = math.sqrt(max(warmup, 1) / t)
        case StepDecay(boundaries=boundaries, factor=each):
            found = each ** sum(boundary < t for boundary in boundaries)
        case Exponential(every=every, factor=each, staircase=staircase):
            done = t - 1 - warmup
            found = each ** (done // every if staircase else done / every)
        case _:
            found = 1.0
    return found


def _progress(t: int, warmup: int, steps: int) -> float:
    """Return 0 in the last step of the warm-up, 1 in step `steps` and ever after."""
    return min(1.0, (t - warmup) / (steps - warmup))

"""The formulas of `bakeoff.spec.schedule` in plain Python, against which every framework's schedule is checked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bakeoff.spec.schedule import (
    Cosine,
    CosineRestarts,
    Cyclic,
    Exponential,
    InverseSquareRoot,
    Linear,
    OneCycle,
    Polynomial,
    StepDecay,
    WarmupStableDecay,
)

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
        case WarmupStableDecay(steps=steps, decay_steps=decay, final=final):
            found = 1 + (final - 1) * _progress(max(t, steps - decay), steps - decay, steps)
        case CosineRestarts() | Cyclic() | OneCycle():
            found = _cycle(schedule, t)
        case _:
            found = 1.0
    return found


def _cycle(schedule: CosineRestarts | Cyclic | OneCycle, t: int) -> float:
    """Return the factor in step t, behind the warm-up, of one that rises and falls."""
    done = t - 1 - schedule.warmup_steps
    match schedule:
        case OneCycle(steps=steps, rise_steps=rise, first=first, final=final):
            if t <= rise:
                return first + (1 - first) * (1 - math.cos(math.pi * done / (rise - 1))) / 2
            return final + (1 - final) * (1 + math.cos(math.pi * _progress(t, rise, steps))) / 2
        case Cyclic(up_steps=up, down_steps=down, low=low):
            done %= up + down
            return low + (1 - low) * (done / up if done <= up else (up + down - done) / down)
        case CosineRestarts(every=length, growth=growth, final=final):
            while growth > 1 and done >= length:
                done, length = done - length, length * growth
            return final + (1 - final) * (1 + math.cos(math.pi * (done % length) / length)) / 2


def _progress(t: int, warmup: int, steps: int) -> float:
    """Return 0 in the last step of the warm-up, 1 in step `steps` and ever after."""
    return min(1.0, (t - warmup) / (steps - warmup))

"""The factor of a schedule by a framework's own operations, for its own machinery of schedules.

Every framework has them by the names of the array API: cos, minimum, sqrt and where. With NumPy's it is a number,
computed beside the step; with those of JAX, TensorFlow or MLX it is a part of the compiled step, computed from the step
count that lies on the device.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

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
    from bakeoff.spec.schedule import Schedule


def factor(schedule: Schedule, t: Any, ops: Any) -> Any:
    """Return the factor in step `t`, a real number or array that counts from 1, by the functions of `ops`."""
    behind = _behind(schedule, t, ops)
    if not schedule.warmup_steps:
        return behind
    return ops.where(t <= schedule.warmup_steps, t / schedule.warmup_steps, behind)


def _behind(schedule: Schedule, t: Any, ops: Any) -> Any:
    """Return the factor behind the warm-up; what it is before has no meaning."""
    found = 0.0 * t + 1.0
    match schedule:
        case Linear(steps=steps, warmup_steps=warmup, final=final):
            found = 1.0 + (final - 1.0) * ops.minimum((t - warmup) / (steps - warmup), 1.0)
        case Polynomial(steps=steps, power=power, warmup_steps=warmup, final=final):
            found = final + (1.0 - final) * (1.0 - ops.minimum((t - warmup) / (steps - warmup), 1.0)) ** power
        case Cosine(steps=steps, warmup_steps=warmup, final=final):
            progress = ops.minimum((t - warmup) / (steps - warmup), 1.0)
            found = final + (1.0 - final) * _half_cosine(progress, ops)
        case InverseSquareRoot(warmup_steps=warmup):
            found = ops.sqrt(max(warmup, 1) / t)
        case StepDecay(boundaries=boundaries, factor=each):
            for boundary in boundaries:
                found = ops.where(t > boundary, each * found, found)
        case Exponential(every=every, factor=each, staircase=staircase, warmup_steps=warmup):
            # XLA divides by multiplying with the reciprocal, whose rounding would make a whole number one less: so the
            # middle between two steps is rounded down. During the warm-up it has no meaning, and must not overflow.
            done = ops.floor((t - 0.5 - warmup) / every) if staircase else (t - 1.0 - warmup) / every
            found = each ** ops.maximum(done, 0.0)
        case WarmupStableDecay(steps=steps, decay_steps=decay, final=final):
            found = 1.0 + (final - 1.0) * ops.minimum(ops.maximum((t - (steps - decay)) / decay, 0.0), 1.0)
        case CosineRestarts() | Cyclic() | OneCycle():
            found = _cycle(schedule, t, ops)
    return found


def _cycle(schedule: CosineRestarts | Cyclic | OneCycle, t: Any, ops: Any) -> Any:
    """Return the factor, behind the warm-up, of one that rises and falls."""
    match schedule:
        case OneCycle(steps=steps, rise_steps=rise, first=first, final=final):
            rising = 1.0 + (first - 1.0) * _half_cosine((t - 1.0) / (rise - 1.0), ops)
            falling = final + (1.0 - final) * _half_cosine(ops.minimum((t - rise) / (steps - rise), 1.0), ops)
            return ops.where(t <= rise, rising, falling)
        case Cyclic(up_steps=up, down_steps=down, low=low, warmup_steps=warmup):
            done = _within(t - 1.0 - warmup, up + down, ops)
            return low + (1.0 - low) * ops.where(done <= up, done / up, (up + down - done) / down)
        case CosineRestarts(every=every, growth=growth, final=final, warmup_steps=warmup):
            done = t - 1.0 - warmup
            progress = _within(done, every, ops) / every
            if growth > 1:
                for begin, length in _cycles(every, growth):
                    progress = ops.where(done >= begin, (done - begin) / length, progress)
            return final + (1.0 - final) * _half_cosine(progress, ops)


def _half_cosine(progress: Any, ops: Any) -> Any:
    """Return 1 at a progress of 0 and 0 at 1."""
    return 0.5 * (1.0 + ops.cos(math.pi * progress))


def _within(done: Any, length: int, ops: Any) -> Any:
    """Return how many steps of its cycle are done: rounded down between two steps, as an exponential's staircase.

    From step 2^23 on float32 has no half between two steps, and may have one less than none.
    """
    return ops.maximum(done - length * ops.floor((done + 0.5) / length), 0.0)


_MOST_STEPS = 2**31
"""Nobody trains for more: where cycles grow, those that begin before it are all that there are."""


def _cycles(every: int, growth: int) -> list[tuple[float, float]]:
    """Return the first step and the length of each cycle but the first, where each is `growth` times as long."""
    found, begin, length = [], every, every * growth
    while begin < _MOST_STEPS:
        found.append((float(begin), float(length)))  # real, because JAX refuses whole numbers beyond its int32
        begin, length = begin + length, length * growth
    return found

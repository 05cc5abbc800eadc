"""The factor of a schedule by a framework's own operations, for its own machinery of schedules.

Every framework has them by the names of the array API: cos, minimum, sqrt and where. With NumPy's it is a number,
computed beside the step; with those of JAX, TensorFlow or MLX it is a part of the compiled step, computed from the step
count that lies on the device.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bakeoff.spec.schedule import Cosine, Exponential, InverseSquareRoot, Linear, Polynomial, StepDecay

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
            found = final + (1.0 - final) * 0.5 * (1.0 + ops.cos(math.pi * progress))
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
    return found

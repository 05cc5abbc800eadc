"""How far a contender may lie from the reference in float64, by the precision of its arithmetic.

What was found stands for mlp-mnist, cnn-cifar10, cnn-apx and vit-b16 at reduced size. ResNet-50 at its reduced size,
whose last normalisations see 16 values of a channel and magnify every rounding, is beyond these in half precision.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from bakeoff.spec.workload import Size, Tolerance, Workload

UNIT_ROUNDOFF = {"tf32": 2.0**-11, "bfloat16": 2.0**-8, "float16": 2.0**-11}
"""The largest relative error of one rounding: half the distance of two numbers, with 10, 7 and 10 stored bits."""

ROUNDINGS = 16
"""How many whole roundings an output may be off. Errors of n operations in a chain add up like the root of n, and a
deep network is a chain of some hundred; found: within 4."""

GRADIENT_KINKS = 8
"""Of a gradient's largest element, in roots of the unit roundoff. Where a value is closer to the zero of a ReLU than
its precision can tell, or two candidates of a maximum are, the gradient goes the other way: how many do grows with the
roundoff, and the error with the root of their number. Found: within 5."""

LOSS_KINKS = 1
"""Of a loss along the trajectory, which follows such gradients; found: within 0.2."""

GRADIENT_NORM_KINKS = 4
"""The same of all gradients together, by their L2 norm. Single elements weigh little there, and a wrong formula as
much as everywhere. Found: within 0.6."""


def own_tolerance(workload: Workload, size: Size) -> Tolerance:
    """Give what the workload declares, for float32."""
    return size.tolerance or workload.tolerance


def tolerance(workload: Workload, size: Size, precision: str) -> Tolerance:
    """Give the tolerance for a precision: the workload's own, or that of the roundings where it is more."""
    own = own_tolerance(workload, size)
    roundoff = UNIT_ROUNDOFF.get(precision)
    if roundoff is None:
        return own
    return msgspec.structs.replace(
        own,
        loss=max(own.loss, LOSS_KINKS * math.sqrt(roundoff)),
        gradient=max(own.gradient, GRADIENT_KINKS * math.sqrt(roundoff)),
        gradient_norm=max(own.gradient_norm, GRADIENT_NORM_KINKS * math.sqrt(roundoff)),
        output=max(own.output, ROUNDINGS * roundoff),
    )

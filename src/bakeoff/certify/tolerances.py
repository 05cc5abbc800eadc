"""How far a contender may lie from the reference in float64, by the precision of its arithmetic.

The measured values are of mlp-mnist, cnn-cifar10, cnn-apx and vit-b16 at reduced size. ResNet-50 at its reduced size,
whose last normalisations see 16 values of a channel and magnify every rounding, exceeds them in half precision.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from bakeoff.spec.workload import Size, Tolerance, Workload

UNIT_ROUNDOFF = {"tf32": 2.0**-11, "bfloat16": 2.0**-8, "float16": 2.0**-11}
"""The largest relative error of one rounding: half the distance of two numbers, with 10, 7 and 10 stored bits."""


class Allowances(NamedTuple):
    """What a reduced precision may be off, with room of two to ten times what was measured.

    `output` counts whole roundings: errors of n operations in a chain add up like the root of n, and a deep network is
    a chain of some hundred (measured: within 4). The others count roots of the unit roundoff, because of kinks: where a
    value is closer to the zero of a ReLU than its precision resolves, or two candidates of a maximum are, the gradient
    takes the other branch; the number of such places grows with the roundoff, and the error with the root of their
    number.

    gradient       relative to the largest element of a gradient (measured: within 5)
    gradient_norm  of all gradients together, by their L2 norm, in which single elements matter little (within 0.6)
    loss           along the trajectory, which follows such gradients (within 0.2)
    """

    output: int = 16
    gradient: int = 8
    gradient_norm: int = 4
    loss: int = 1


ALLOWANCES = Allowances()


class UpdateTolerance(NamedTuple):
    """How far the change of a parameter in one step may be off from the formula on the contender's own gradients.

    Measured on processors at reduced size, as the largest median and norm of all arrays and steps: JAX and TensorFlow
    over all workloads that train, PyTorch over six of the eight, MLX over three: within 7.2e-6 with Adam, whose 0.999
    no float32 holds, and within 1.5e-6 in PyTorch and 5e-8 with all other optimisers; bfloat16 in PyTorch and JAX, and
    resnet50-cifar10 at full size in JAX, stay within the same. Faults in PyTorch: bfloat16 in the place of float32 has
    a median of 3e-3 in mlp-mnist and 3e-2 to 5e-1 in deeper models; normalisations without their weight decay of 1e-4
    have 1e-2 to 3e-2; all else has 0.5 or more. No accelerator was measured.
    """

    median: float = 1e-4
    """Of the elements' errors, each relative to its own change."""
    norm: float = 1e-2
    """The L2 norm of the errors relative to that of the change: a single element counts by its size."""


_UPDATE_ROUNDOFFS = 4
"""Unit roundoffs of a reduced precision that the two compilations of a step's gradients may differ by."""


def update_tolerance(precision: str, device: str, allowed: Tolerance) -> UpdateTolerance:
    """Return how far updates may be off in a precision and on a device; `allowed` is what gradients may be off.

    An accelerator need not compute the same gradients twice: it adds in another order, or by another algorithm, and a
    deep model magnifies that as it does between frameworks. There no more is asked than between frameworks, and of the
    median alone: where a gradient is small, Adam makes a whole step of either sign.
    """
    if device != "cpu":
        return UpdateTolerance(median=max(UpdateTolerance().median, allowed.gradient_norm), norm=1.0)
    rounded = _UPDATE_ROUNDOFFS * UNIT_ROUNDOFF.get(precision, 0.0)
    own = UpdateTolerance()
    return UpdateTolerance(median=max(own.median, rounded), norm=max(own.norm, rounded))


OWN_OUTPUTS = 1e-4
"""The allowed distance of the outputs that a timed step keeps from those that the same contender returns when asked, by
the same function: measured 0 in PyTorch and JAX (mlp-mnist); PyTorch in bfloat16 in the place of float32 exceeds it."""


def ran_tolerance(precision: str, allowed: float) -> float:
    """Return how far a timed step's outputs may lie from the contender's own; `allowed`: from the reference's."""
    roundoff = UNIT_ROUNDOFF.get(precision)
    return min(allowed, OWN_OUTPUTS) if roundoff is None else ALLOWANCES.output * roundoff


def own_tolerance(workload: Workload, size: Size) -> Tolerance:
    """Return the tolerance that the workload declares for float32, or the size's own."""
    return size.tolerance or workload.tolerance


def tolerance(workload: Workload, size: Size, precision: str) -> Tolerance:
    """Return the tolerance for a precision: the workload's or, where it is larger, that of the precision's rounding."""
    own = own_tolerance(workload, size)
    roundoff = UNIT_ROUNDOFF.get(precision)
    if roundoff is None:
        return own
    return msgspec.structs.replace(
        own,
        loss=max(own.loss, ALLOWANCES.loss * math.sqrt(roundoff)),
        gradient=max(own.gradient, ALLOWANCES.gradient * math.sqrt(roundoff)),
        gradient_norm=max(own.gradient_norm, ALLOWANCES.gradient_norm * math.sqrt(roundoff)),
        output=max(own.output, ALLOWANCES.output * roundoff),
    )

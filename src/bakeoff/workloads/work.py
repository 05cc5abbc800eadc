"""The work of one step, counted by running the model's forward pass over a vocabulary that only knows shapes.

Counted as written: one MAC for each weight and position of a linear layer or convolution, and for each inner product's
term of `matmul` and `attention`. A training step adds as many for the gradient of every weight that is trained, and as
many for that of every operand that depends on one; neither the batch nor what is frozen needs a gradient. A formula of
`einsum` is counted two arrays at a time, in the order that takes the fewest products in the forward pass, behind the
sums that need none.

Counted at least: a convolution's MACs over its kernel's area. Computing m neighbouring outputs of a filter of r values
takes m + r - 1 multiplications and no fewer (S. Winograd, "Arithmetic Complexity of Computations", 1980), so that each
output takes at least one instead of r, along each axis; F(2x2, 3x3) of Lavin and Gray (arXiv 1509.09308) saves 2.25 of
the 9. The same holds for both gradients. Of matrices there are faster algorithms too (Strassen 1969 saves an eighth),
which no framework's library takes; `bakeoff.judge.light` has room for one level of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop, frozen_of
from bakeoff.spec.peaks import Work
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.workloads import plan
from bakeoff.workloads.interpreter import forward
from bakeoff.workloads.shape_functions import Counter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.workload import Size
    from bakeoff.workloads.shape_layers import Counted

ITEM_BYTES = 4
"""Of a value of a batch, float32 or int32."""


def mean_work(
    build: Callable[[Any, Size], Any],
    size: Size,
    scenario: Scenario,
    optimizer: Optimizer | None,
    shapes: Sequence[Mapping[str, int]],
) -> Work:
    """Return the work of one step on the average of batches whose sequences have so many entries."""
    each = {repr(one): work_of(build, size, scenario, optimizer, one) for one in shapes}
    every = [each[repr(one)] for one in shapes] or [work_of(build, size, scenario, optimizer)]
    mean = {
        name: sum(getattr(one, name) for one in every) // len(every) for name in ("macs", "least_macs", "batch_bytes")
    }
    return msgspec.structs.replace(every[0], **mean)


def work_of(
    build: Callable[[Any, Size], Any],
    size: Size,
    scenario: Scenario,
    optimizer: Optimizer | None,
    entries: Mapping[str, int] | None = None,
) -> Work:
    """Return the work of one step on a batch of this size, of a model that `check_model` has passed.

    The batch may be a shorter one, whose sequences have so many `entries`.
    """
    trains = SCENARIOS[scenario].trains
    counter = _Counter(trains=trains, updates=size.updates)
    counter.frozen = frozenset(frozen_of(optimizer, plan.parameters(build, size)) if trains else ())
    forward(build, size, counter, trains=trains, entries=entries)
    sample = size.sample.cut(entries or {})
    arrays = [*sample.inputs.values(), *(sample.targets.values() if trains else ())]
    return Work(
        macs=counter.macs,
        least_macs=counter.least_macs,
        parameters=counter.parameters,
        frozen=counter.untrained,
        state=_kept(optimizer) * (counter.parameters - counter.untrained) if trains else 0,
        batch_bytes=ITEM_BYTES * size.batch_size * sum(math.prod(array.shape) for array in arrays),
        trains=trains,
    )


def _kept(optimizer: Optimizer | None) -> int:
    """Return how many values an optimiser keeps for each parameter."""
    match optimizer:
        case Adam() | AdamW():
            return 2
        case RMSprop():
            return 2 if optimizer.momentum else 1
        case SGD():
            return 1 if optimizer.momentum else 0
        case _:
            return 0


class _Counter(Counter):
    """Counts while a model runs."""

    def __init__(self, *, trains: bool, updates: int = 1) -> None:
        self.macs = 0
        self.least_macs = 0
        self.parameters = 0
        self.untrained = 0
        self._trains, self._updates = trains, updates
        self._read: set[int] = set()

    def product(self, macs: int, operands: Iterable[bool], saved: int = 1) -> None:
        """Count a product and the gradients of those operands that depend on a parameter."""
        times = 1 + sum(operands) if self._trains and not self.is_collecting else 1
        times *= self._updates if self._trains and not self.is_collecting else 1
        self.macs += times * macs
        self.least_macs += times * (macs // saved)

    def read(self, layer: Counted) -> None:
        """Count the layer's parameters when it is first run."""
        if id(layer) not in self._read:
            self._read.add(id(layer))
            self.parameters += sum(array.count for array in layer.parameters.values())
            frozen = (array for name, array in layer.parameters.items() if f"{layer.path}.{name}" in self.frozen)
            self.untrained += sum(array.count for array in frozen)

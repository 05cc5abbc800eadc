"""What a model's forward pass calls: which kinds of layers, which functions of note, and loops written in Python."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from bakeoff.workloads.interpreter import forward
from bakeoff.workloads.shape_functions import Counter
from bakeoff.workloads.shapes import in_scan

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.spec.workload import Size
    from bakeoff.workloads.layers import Layer
    from bakeoff.workloads.shape_layers import Counted

FLOAT32_BYTES = 4

LOOP_USES = 10
"""Of one layer, from which on they are taken for those of a loop: towers and tied heads share a layer between fewer."""

RECURRENT = "recurrent_weight"
"""How the names of the weights end that each step of a sequence takes; those of the inputs are taken once."""


class Calls(NamedTuple):
    """What one forward pass called."""

    kinds: frozenset[str]
    """The names of layers with products, and of functions and arguments that tell the counter of themselves."""
    unrolled: dict[str, int]
    """Of each kind of layer, how often one and the same layer was called outside of `nn.scan`, at most."""
    loop_bytes: int
    """Of all that the steps of loops add to the gradients of their weights, in float32: of each layer that is trained
    and called ten times or more, by `nn.scan` or by a loop of Python's, and of the recurrent weights of each sequence.
    An `nn.Parameter` that such a step multiplies with is not counted."""


def calls_of(
    build: Callable[[Any, Size], Any], size: Size, *, trains: bool, frozen: frozenset[str] = frozenset()
) -> Calls:
    """Return what a model that `check_model` has passed calls on a batch of this size; `frozen` is not trained."""
    noted = _Noted()
    noted.frozen = frozen
    forward(build, size, noted, trains=trains)
    unrolled: dict[str, int] = {}
    for layer, count in noted.times.values():
        kind = type(layer).__name__
        unrolled[kind] = max(unrolled.get(kind, 0), count)
    again = (count * _matrix_bytes(layer) for layer, count in noted.uses.values() if count >= LOOP_USES)
    return Calls(frozenset(noted.kinds), unrolled, sum(again) + noted.sequence_bytes)


def _matrix_bytes(layer: Layer, named: str = "") -> int:
    """Return the bytes of a layer's matrices, whose names end so, in float32."""
    found = [one.shape for name, one in layer.parameters.items() if len(one.shape) > 1 and name.endswith(named)]
    return FLOAT32_BYTES * sum(map(math.prod, found))


class _Noted(Counter):
    """Notes layers and functions, and counts nothing."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self.times: dict[int, tuple[Counted, int]] = {}
        self.uses: dict[int, tuple[Counted, int]] = {}
        self.sequence_bytes = 0

    def read(self, layer: Counted) -> None:
        """Note a call of a layer."""
        self.kinds.add(type(layer).__name__)
        if layer.trains_weights and not self.is_collecting:
            _, uses = self.uses.get(id(layer), (layer, 0))
            self.uses[id(layer)] = layer, uses + 1
        if not in_scan.get():
            _, before = self.times.get(id(layer), (layer, 0))
            self.times[id(layer)] = layer, before + 1

    def looped(self, layer: Counted, places: int) -> None:
        """Note what a sequence adds to the gradient of the recurrent weights."""
        if not layer.trains_weights or self.is_collecting:
            return
        self.sequence_bytes += places * _matrix_bytes(layer, RECURRENT)

    def called(self, function: str) -> None:
        """Note a call of a function, or with an argument."""
        self.kinds.add(function)

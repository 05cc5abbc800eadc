"""What a model's forward pass calls: which kinds of layers, which functions of note, and loops written in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bakeoff.workloads.interpreter import forward
from bakeoff.workloads.shape_functions import Counter
from bakeoff.workloads.shapes import in_scan

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.spec.workload import Size
    from bakeoff.workloads.layers import Layer


class Calls(NamedTuple):
    """What one forward pass called."""

    kinds: frozenset[str]
    """The names of layers with products, and of functions and arguments that tell the counter of themselves."""
    unrolled: dict[str, int]
    """Of each kind of layer, how often one and the same layer was called outside of `nn.scan`, at most."""


def calls_of(build: Callable[[Any, Size], Any], size: Size, *, trains: bool) -> Calls:
    """Return what a model that `check_model` has passed calls on a batch of this size."""
    noted = _Noted()
    forward(build, size, noted, trains=trains)
    unrolled: dict[str, int] = {}
    for layer, count in noted.times.values():
        kind = type(layer).__name__
        unrolled[kind] = max(unrolled.get(kind, 0), count)
    return Calls(frozenset(noted.kinds), unrolled)


class _Noted(Counter):
    """Notes layers and functions, and counts nothing."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self.times: dict[int, tuple[Layer, int]] = {}

    def read(self, layer: Layer) -> None:
        """Note a call of a layer."""
        self.kinds.add(type(layer).__name__)
        if not in_scan.get():
            _, before = self.times.get(id(layer), (layer, 0))
            self.times[id(layer)] = layer, before + 1

    def called(self, function: str) -> None:
        """Note a call of a function, or with an argument."""
        self.kinds.add(function)

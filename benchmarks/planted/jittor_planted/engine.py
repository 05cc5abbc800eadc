"""Jittor's engine, whose model has one layer that does the same work in a slower way."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.frameworks.jittor import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SLEEP_S = 0.002
"""A few times the step of mlp-mnist."""

TRANSPOSITIONS = 20
"""One copy of 32 images of 784 points is too little to be seen."""


class Engine(engine.Engine):
    """Jittor's own, but for the layer that the option `planted_in` names."""

    def build(self, model: Any, scenario: Any, options: Mapping[str, str]) -> Any:
        """Build the step of the model with its fault."""
        build = planted(model.build, PLANTS[options["plant"]], options["planted_in"])
        return super().build(msgspec.structs.replace(model, build=build), scenario, options)


def planted(
    build: Callable[[Any, Any], Any], plant: Callable[[Callable[..., Any]], Callable[..., Any]], path: str
) -> Callable[[Any, Any], Any]:
    """Return a workload's build with a fault in the layer at a path."""

    def build_with(nn: Any, size: Any) -> Any:
        network = build(nn, size)
        layer = network
        for name in path.split("."):
            layer = layer[int(name)] if name.isdigit() else getattr(layer, name)
        kind: Any = type(layer)

        def execute(this: Any, x: Any) -> Any:
            return plant(lambda given: kind.execute(this, given))(x)

        layer.__class__ = type(kind.__name__, (kind,), {"execute": execute})
        return network

    return build_with


def _nothing(call: Callable[..., Any]) -> Callable[..., Any]:
    """Leave the layer as it is."""
    return call


def _sleep(call: Callable[..., Any]) -> Callable[..., Any]:
    """Sleep in the layer's forward pass."""

    def slept(x: Any) -> Any:
        time.sleep(SLEEP_S)
        return call(x)

    return slept


def _transposed(call: Callable[..., Any]) -> Callable[..., Any]:
    """Copy the layer's input into the other order of its axes first, and back again."""

    def across(x: Any) -> Any:
        for _ in range(TRANSPOSITIONS):
            x = x.transpose().transpose()
        return call(x)

    return across


PLANTS: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "none": _nothing,
    "sleep": _sleep,
    "transposed": _transposed,
}
"""No float64: Jittor's operators of oneDNN take float32 alone."""

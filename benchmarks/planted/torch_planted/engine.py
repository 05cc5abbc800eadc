"""PyTorch's engine, whose model has one layer that does the same work in a slower way."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
import torch

from bakeoff.frameworks.torch import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SLEEP_S = 0.002
"""A few times the step of mlp-mnist."""


class Engine(engine.Engine):
    """PyTorch's own, but for the layer that the option `planted_in` names."""

    def build(self, model: Any, scenario: Any, options: Mapping[str, str]) -> Any:
        """Build the step of the model with its fault."""
        build = planted(model.build, PLANTS[options["plant"]], options["planted_in"])
        return super().build(msgspec.structs.replace(model, build=build), scenario, options)


def planted(
    build: Callable[[Any, Any], Any], plant: Callable[[torch.nn.Module], None], path: str
) -> Callable[[Any, Any], Any]:
    """Return a workload's build with a fault in the layer at a path."""

    def build_with(nn: Any, size: Any) -> Any:
        network = build(nn, size)
        plant(network.get_submodule(path))
        return network

    return build_with


def _nothing(layer: torch.nn.Module) -> None:
    """Leave the layer as it is."""


def _sleep(layer: torch.nn.Module) -> None:
    """Sleep in the layer's forward pass."""
    forward = layer.forward

    def slept(*arguments: Any) -> Any:
        time.sleep(SLEEP_S)
        return forward(*arguments)

    layer.forward = slept


def _float64(layer: torch.nn.Module) -> None:
    """Compute the layer in float64, from float32 to float32."""

    def in_double(x: torch.Tensor) -> torch.Tensor:
        named = {name: value.double() for name, value in layer.named_parameters()}
        found: torch.Tensor = torch.func.functional_call(layer, named, (x.double(),))
        return found.to(x.dtype)

    calls = layer.forward

    def forward(x: torch.Tensor) -> torch.Tensor:
        if x.dtype == torch.float64:  # the call from within, and the certificate's first stage
            return calls(x)
        return in_double(x)

    layer.forward = forward


def _transposed(layer: torch.nn.Module) -> None:
    """Copy the layer's input into the other order of its axes first, and back again."""
    forward = layer.forward

    def across(x: torch.Tensor) -> Any:
        for _ in range(TRANSPOSITIONS):
            x = x.transpose(0, -1).contiguous().transpose(0, -1).contiguous()
        return forward(x)

    layer.forward = across


TRANSPOSITIONS = 20
"""One copy of 32 images of 784 points is too little to be seen."""

PLANTS: dict[str, Callable[[torch.nn.Module], None]] = {
    "none": _nothing,
    "sleep": _sleep,
    "float64": _float64,
    "transposed": _transposed,
}

"""Networks of linear layers over NumPy arrays, for metrics of parameters that some framework has trained.

A network is built by the very function that frameworks build it by, so that what is measured is what was trained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.spec.vocabulary import GivenNames
from bakeoff.workloads import layers, plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


class _Module(plan.Module):
    """A module that can be called, as those of frameworks can."""

    def __call__(self: Any, *arrays: Any) -> Any:
        """Return what its forward pass gives."""
        return self.forward(*arrays)


class _Linear(layers.Linear):
    """A linear layer that gets its arrays when the network is whole."""

    weight: Any
    bias: Any

    def __call__(self, x: Any) -> Any:
        """Return x @ weight + bias over the last axis."""
        return x @ self.weight + self.bias


def _leaky_relu(x: Any, slope: float) -> Any:
    """Return x where it is positive, and slope times x elsewhere."""
    return np.where(x > 0, x, slope * x)


VOCABULARY = GivenNames(
    Module=_Module,
    ModuleList=plan.ModuleList,
    Linear=_Linear,
    relu=lambda x: np.maximum(x, 0.0),
    leaky_relu=_leaky_relu,
)
"""The names of the vocabulary that such networks have."""


def with_parameters(network: Any, name: str, parameters: Mapping[str, NDArray[Any]]) -> Any:
    """Return a network built over `VOCABULARY`, with the arrays of the part of this name: "policy.head.weight"."""
    for path, part in plan.walk(network, name):
        if isinstance(part, _Linear):
            part.weight, part.bias = parameters[f"{path}.weight"], parameters.get(f"{path}.bias", 0.0)
    return network

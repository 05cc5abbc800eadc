"""Per-sample gradients by Opacus' hooks: one backward pass of the whole batch, in which each layer notes its samples'.

Opacus (https://opacus.ai, Yousefpour et al. 2021, arXiv 2109.12298) knows layers by their classes, so that those here
are registered with the functions that it has for PyTorch's. It clips by max_norm / (norm + 1e-6), which is another
formula: gradients are clipped here, as with every other way.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch

from bakeoff.frameworks.torch import nn
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_KNOWN = {
    nn.Linear: torch.nn.Linear,
    nn.Conv2d: torch.nn.Conv2d,
    nn.Embedding: torch.nn.Embedding,
    nn.LayerNorm: torch.nn.LayerNorm,
    nn.GroupNorm: torch.nn.GroupNorm,
}
"""Layers that compute what PyTorch's own do, with the same arrays by the same names."""


def hooked(network: Any) -> Callable[[Any, Sequence[Any]], list[Any]]:
    """Return the function from (loss of a batch, its parameters) to every sample's gradient of each parameter.

    The loss is the mean of its samples' losses, as Opacus has it with loss_reduction="mean". Raises UnsupportedError
    where Opacus is not there or does not know a layer.
    """
    try:
        from opacus.grad_sample import GradSampleModule
    except ImportError as error:
        msg = (
            f"per_sample=hooks needs Opacus, which cannot be imported ({error}): bakeoff env create torch makes an "
            "environment that has it; for an interpreter of your own, pip install opacus there"
        )
        raise UnsupportedError(msg) from error
    _check(network)
    for own, native in _KNOWN.items():
        GradSampleModule.GRAD_SAMPLERS[own] = _sampler(native, GradSampleModule.GRAD_SAMPLERS[native])
    # The first layer's inputs have no gradient, and its hook is meant to be called all the same.
    warnings.filterwarnings("ignore", message="Full backward hook is firing when gradients are computed")
    GradSampleModule(network, batch_first=True, loss_reduction="mean")  # its hooks stay on the network's layers
    return _gradients


def version() -> str:
    """Return Opacus' version, once `hooked` has found it."""
    from opacus import __version__

    return str(__version__)


def _sampler(native: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return Opacus' function for a class that is derived from PyTorch's: some ask for the very class."""

    def sampled(layer: Any, activations: Any, backprops: Any) -> Any:
        same = object.__new__(native)
        same.__dict__ = layer.__dict__
        return function(same, activations, backprops)

    return sampled


def _gradients(loss: Any, parameters: Sequence[Any]) -> list[Any]:
    """Return (batch, ...) for each parameter, and leave none of Opacus' arrays behind."""
    for parameter in parameters:
        parameter.grad = None
    loss.backward()
    count = next(len(one) for parameter in parameters if (one := parameter.grad_sample) is not None)
    found = [
        parameter.new_zeros((count, *parameter.shape))  # of a layer that the model never calls
        if parameter.grad_sample is None
        else parameter.grad_sample.to(parameter.dtype)  # autocast's are in bfloat16
        for parameter in parameters
    ]
    for parameter in parameters:
        parameter.grad = parameter.grad_sample = None
    return found


def _check(network: Any) -> None:
    """Raise UnsupportedError for parameters outside of layers that Opacus knows."""
    for path, layer in network.named_modules():
        own = ", ".join(name for name, _ in layer.named_parameters(recurse=False))
        if own and (type(layer) not in _KNOWN or (isinstance(layer, nn.LayerNorm) and layer.bias is None)):
            known = ", ".join(kind.__name__ for kind in _KNOWN)
            msg = (
                f"per_sample=hooks: Opacus has no function for {own} of {path or 'the model'} "
                f"({type(layer).__name__}); it has {known}. Choose per_sample=vmap or loop"
            )
            raise UnsupportedError(msg)

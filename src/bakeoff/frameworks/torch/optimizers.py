"""bakeoff's optimisers as PyTorch's own: with these arguments torch.optim computes each formula as it is declared.

Whether an update is a loop over parameters, `foreach` or `fused` is left to PyTorch, as its users leave it, unless the
option `optimizer_kernel` says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

import torch

from bakeoff.frameworks.torch.switches import kernel_arguments
from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop
from bakeoff.spec.options import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterable


def make(optimizer: Optimizer, parameters: Iterable[Any], kernel: str = DEFAULT) -> Any:
    """Make the native optimiser of these parameters."""
    native, arguments = _native(optimizer)
    return native(parameters, **arguments, **kernel_arguments(kernel, native))


def _native(optimizer: Optimizer) -> tuple[Any, dict[str, Any]]:
    """Return PyTorch's class with the arguments by which it computes the formula."""
    match optimizer:
        case SGD(learning_rate=rate, momentum=momentum, weight_decay=decay):
            return torch.optim.SGD, {"lr": rate, "momentum": momentum, "weight_decay": decay}
        case Adam(learning_rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon):
            return torch.optim.Adam, {"lr": rate, "betas": (beta1, beta2), "eps": epsilon}
        case AdamW(learning_rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            return torch.optim.AdamW, {"lr": rate, "betas": (beta1, beta2), "eps": epsilon, "weight_decay": decay}
        case RMSprop(learning_rate=rate, decay=decay, epsilon=epsilon):
            return torch.optim.RMSprop, {"lr": rate, "alpha": decay, "eps": epsilon}
    assert_never(optimizer)

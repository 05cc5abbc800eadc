"""bakeoff's optimisers as PyTorch's own: with these arguments torch.optim computes each formula as it is declared.

Parameters without decay, or with a rate of their own, are a group of PyTorch's, a schedule is its LambdaLR, clipping
its clip_grads_with_norm_, and what is not trained has no `requires_grad`.

Whether an update is a loop over parameters, `foreach` or `fused` is left to PyTorch, as its users leave it, unless the
option `optimizer_kernel` says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

import numpy as np
import torch

from bakeoff.frameworks.groups import groups, in_words
from bakeoff.frameworks.schedules import factor
from bakeoff.frameworks.torch import nn
from bakeoff.frameworks.torch.switches import kernel_arguments
from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop, frozen_of
from bakeoff.spec.options import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


PYTORCHS_EPSILON = 1e-6
"""What PyTorch adds to a norm that it divides by: taken off the norm before, which the formula divides by as it is."""


def make(optimizer: Optimizer, parameters: Mapping[str, Any], kernel: str = DEFAULT) -> Any:
    """Make the native optimiser of these parameters by canonical name; a schedule is set on by each of its steps."""
    native, arguments = _native(optimizer)
    made = native(groups(optimizer, parameters), **arguments, **kernel_arguments(kernel, native))
    made.schedule = None
    if (schedule := optimizer.schedule) is not None:
        # PyTorch counts from 0, and steps by the rate of 0 first.
        made.schedule = torch.optim.lr_scheduler.LambdaLR(made, lambda count: float(factor(schedule, count + 1.0, np)))
        made.register_step_post_hook(lambda *_: made.schedule.step())
    if any(group.get("weight_decay") for group in made.param_groups):
        made.register_step_pre_hook(_filling(made))
    return made


def parameters(optimizer: Optimizer, network: Any) -> dict[str, Any]:
    """Return a network's parameters by canonical name; those that are not trained have no `requires_grad` then."""
    found = {name: parameter for name, (parameter, _) in nn.parameters(network).items()}
    for name in frozen_of(optimizer, found):
        found[name].requires_grad_(requires_grad=False)
    return found


def _filling(native: Any) -> Callable[..., None]:
    """Return what gives parameters that decay a gradient of zero where the loss never uses them.

    PyTorch leaves a parameter without a gradient as it is; by the formula, and in the other frameworks, it decays.
    Which these are is looked up before the first step alone.
    """
    unused: list[Any] | None = None

    def fill(*_: Any) -> None:
        nonlocal unused
        if unused is None:
            decaying = [group["params"] for group in native.param_groups if group["weight_decay"]]
            unused = [parameter for group in decaying for parameter in group if parameter.grad is None]
        for parameter in unused:
            parameter.grad = torch.zeros_like(parameter)

    return fill


def clipping(optimizer: Optimizer, parameters: Iterable[Any]) -> Callable[[], None] | None:
    """Return what clips the gradients of those that are trained before a step; None where nothing is clipped."""
    if (most := optimizer.clip_norm) is None:
        return None
    clipped = [parameter for parameter in parameters if parameter.requires_grad]

    def clip() -> None:
        norm = torch.nn.utils.get_total_norm([one.grad for one in clipped if one.grad is not None])
        torch.nn.utils.clip_grads_with_norm_(clipped, most, norm - PYTORCHS_EPSILON)

    return clip


def describe(native: Any, clip: Callable[[], None] | None) -> str:
    """Name PyTorch's class, and what was asked for beside it."""
    parts = [type(native).__name__]
    if native.schedule is not None:
        parts.append("LambdaLR")
    if grouped := in_words(native):
        parts.append(grouped)
    if clip is not None:
        parts.append("clip_grads_with_norm_")
    return ", ".join(parts)


def _native(optimizer: Optimizer) -> tuple[Any, dict[str, Any]]:
    """Return PyTorch's class with the arguments by which it computes the formula."""
    match optimizer:
        case SGD(learning_rate=rate, momentum=momentum, weight_decay=decay, nesterov=nesterov):
            sgd = {"lr": rate, "momentum": momentum, "weight_decay": decay, "nesterov": nesterov}
            return torch.optim.SGD, sgd
        case Adam(learning_rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            return torch.optim.Adam, {"lr": rate, "betas": (beta1, beta2), "eps": epsilon, "weight_decay": decay}
        case AdamW(learning_rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            return torch.optim.AdamW, {"lr": rate, "betas": (beta1, beta2), "eps": epsilon, "weight_decay": decay}
        case RMSprop(learning_rate=rate, decay=kept, epsilon=epsilon, momentum=momentum, weight_decay=decay):
            beside = {"momentum": momentum, "weight_decay": decay}
            return torch.optim.RMSprop, {"lr": rate, "alpha": kept, "eps": epsilon, **beside}
    assert_never(optimizer)

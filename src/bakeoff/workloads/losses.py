"""How a workload's loss is called: with the model's inputs, too, where it asks for them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ARGUMENTS = ("nn", "outputs", "targets")
WITH_INPUTS = (*ARGUMENTS, "inputs")


def takes_inputs(loss: Callable[..., Any]) -> bool:
    """Return whether a loss cannot do without a fourth argument; one that has a default is the loss's own."""
    try:
        inspect.signature(loss).bind(*ARGUMENTS)
    except TypeError:
        return True
    return False


def given_inputs(loss: Callable[..., Any]) -> Callable[[Any, Any, Any, Any], Any]:
    """Return the loss as a function of (nn, outputs, targets, inputs)."""
    if takes_inputs(loss):
        return loss
    return lambda nn, outputs, targets, inputs: loss(nn, outputs, targets)  # noqa: ARG005 - it does not look at them

"""Groups of parameters as PyTorch's optimisers take them, and Jittor's, which follow them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.spec.optimizer import groups_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.spec.optimizer import Optimizer


def groups(optimizer: Optimizer, parameters: Mapping[str, Any]) -> list[Any]:
    """Return the parameters that are trained, as they are, or in groups with their own rates and decay.

    Names are canonical.
    """
    found = groups_of(optimizer, parameters)
    if list(found) == [optimizer]:
        return [parameters[name] for name in found[optimizer]]
    return [
        {"params": [parameters[name] for name in names], "lr": own.learning_rate, "weight_decay": own.weight_decay}
        for own, names in found.items()
    ]


def in_words(native: Any) -> str:
    """Return what the groups of a native optimiser differ in; empty where it has one."""
    if len(native.param_groups) == 1:
        return ""
    rates = {group.get("lr") for group in native.param_groups}
    return "groups with rates of their own" if len(rates) > 1 else "a group without decay"

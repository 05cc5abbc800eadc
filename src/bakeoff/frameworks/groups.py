"""Groups of parameters as PyTorch's optimisers take them, and Jittor's, which follow them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.spec.optimizer import exempt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.spec.optimizer import Optimizer


def groups(optimizer: Optimizer, parameters: Mapping[str, Any]) -> list[Any]:
    """Return the parameters as they are, or in two groups, the second without decay; names are canonical."""
    spared = exempt(optimizer, list(parameters))
    if not spared:
        return list(parameters.values())
    decayed = [array for name, array in parameters.items() if name not in spared]
    without = {"params": [parameters[name] for name in spared], "weight_decay": 0.0}
    return [{"params": decayed}, without] if decayed else [without]

"""What a training step changes in MLX: arrays never change themselves, so a snapshot is references to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mlx.core as mx
import mlx.optimizers
import numpy as np
from mlx.utils import tree_flatten

from bakeoff.frameworks.slots import FIRST_MOMENT, MEAN_SQUARE, MOMENTUM, SECOND_MOMENT, slot_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

_SLOTS: dict[type[Any], dict[str, str]] = {
    mlx.optimizers.Adam: {"m": FIRST_MOMENT, "v": SECOND_MOMENT},
    mlx.optimizers.AdamW: {"m": FIRST_MOMENT, "v": SECOND_MOMENT},
    mlx.optimizers.SGD: {"v": MOMENTUM},
    mlx.optimizers.RMSprop: {"v": MEAN_SQUARE},
}
"""What MLX's optimisers call their arrays; the learning rate and the count of steps stand beside them."""


def copied(tree: Any) -> Any:
    """Return the containers of a tree anew, around the same arrays, which nothing overwrites while they are held."""
    if isinstance(tree, dict):
        return {name: copied(value) for name, value in tree.items()}
    return [copied(value) for value in tree] if isinstance(tree, (list, tuple)) else tree


def put_back(tree: Any, saved: Any) -> None:
    """Put arrays back into the containers that a compiled function has captured; the containers stay."""
    for key, value in saved.items() if isinstance(saved, dict) else enumerate(saved):
        if isinstance(value, (dict, list)) and value:
            put_back(tree[key], value)
        elif isinstance(value, mx.array):
            tree[key] = value


def optimizer_arrays(optimizer: Any, names: Mapping[str, str]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Return the optimiser's arrays one by one, by slot and canonical parameter, in their own precision and layout."""
    slots = _SLOTS[type(optimizer)]
    for path, array in tree_flatten(optimizer.state):
        parameter, _, own = path.rpartition(".")
        if parameter and own in slots:
            yield slot_name(slots[own], names[parameter]), np.array(array)

"""What a training step changes in MLX: arrays never change themselves, so a snapshot refers to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

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
    mlx.optimizers.RMSprop: {"v": MEAN_SQUARE, "m": MOMENTUM},
}
"""What MLX's optimisers call their arrays; the learning rate and the count of steps stand beside them."""


class Snapshot(NamedTuple):
    """What steps change."""

    model: Any
    """MLX's containers anew, around the same arrays, which nothing overwrites while they are held."""
    optimizer: Any
    seed: int
    """Of the random numbers after the snapshot."""


def take(model: Any, optimizer: Any) -> Snapshot:
    """Return references, and start the random numbers anew: MLX shows the state of its generator, and takes a seed."""
    mx.eval(model, optimizer)
    taken = Snapshot(_copied(model), _copied(optimizer), int(np.random.default_rng().integers(2**31)))
    mx.random.seed(taken.seed)
    return taken


def put_back(snapshot: Snapshot, model: Any, optimizer: Any) -> None:
    """Put arrays back into the containers that a compiled function has captured; the containers stay."""
    _put(model, snapshot.model)
    _put(optimizer, snapshot.optimizer)
    mx.random.seed(snapshot.seed)
    mx.eval(mx.random.state)


def optimizer_arrays(optimizer: Any, names: Mapping[str, str]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Return the optimiser's arrays one by one, by slot and canonical parameter, in their own precision and layout."""
    for one in getattr(optimizer, "optimizers", [optimizer]):
        slots = next(_SLOTS[kind] for kind in type(one).__mro__ if kind in _SLOTS)
        for path, array in tree_flatten(one.state):
            parameter, _, own = path.rpartition(".")
            if parameter and own in slots:
                yield slot_name(slots[own], names[parameter]), np.array(array)


def _copied(tree: Any) -> Any:
    """Return a tree's containers anew."""
    if isinstance(tree, dict):
        return {name: _copied(value) for name, value in tree.items()}
    return [_copied(value) for value in tree] if isinstance(tree, (list, tuple)) else tree


def _put(tree: Any, saved: Any) -> None:
    """Put saved arrays into a tree's own containers."""
    for key, value in saved.items() if isinstance(saved, dict) else enumerate(saved):
        if isinstance(value, mx.array):
            tree[key] = value
        elif isinstance(value, (dict, list)):
            _put(tree[key], value)

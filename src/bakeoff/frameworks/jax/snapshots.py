"""A copy on the device of a training step's state; a jitted step consumes what it is given, so each use is a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from bakeoff.frameworks.slots import FIRST_MOMENT, MEAN_SQUARE, MOMENTUM, SECOND_MOMENT, slot_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

_SLOTS = {
    ("ScaleByAdamState", "mu"): FIRST_MOMENT,
    ("ScaleByAdamState", "nu"): SECOND_MOMENT,
    ("TraceState", "trace"): MOMENTUM,
    ("ScaleByRmsState", "nu"): MEAN_SQUARE,
}
"""What optax calls an optimiser's arrays: the state's class and its field, which holds a dict by parameter."""


def copied(tree: Any) -> Any:
    """Return copies of a tree's arrays once they are there; unlike jnp.copy, device_put compiles nothing for it."""
    if all(len(array.sharding.device_set) == 1 for array in jax.tree.leaves(tree)):
        return jax.block_until_ready(jax.device_put(tree, may_alias=False))
    return jax.block_until_ready(jax.tree.map(_shards_copied, tree))


def _shards_copied(array: jax.Array) -> jax.Array:
    """Return a copy of what this process has of an array on several devices; device_put would alias a key's."""
    if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(_shards_copied(jax.random.key_data(array)))
    own = [jax.device_put(shard.data, may_alias=False) for shard in array.addressable_shards]
    return jax.make_array_from_single_device_arrays(array.shape, array.sharding, own)


def optimizer_arrays(state: Any) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """Return an optax state's arrays one by one, by slot and canonical parameter, in their own precision."""
    if not isinstance(state, tuple):
        return
    for field in getattr(state, "_fields", ()):
        if slot := _SLOTS.get((type(state).__name__, field)):
            for parameter, array in getattr(state, field).items():
                yield slot_name(slot, parameter), jax.device_get(array)
    for part in state:
        yield from optimizer_arrays(part)

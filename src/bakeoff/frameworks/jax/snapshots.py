"""A copy on the device of a training step's state; a jitted step consumes what it is given, so each use is a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax

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
    return jax.block_until_ready(jax.device_put(tree, may_alias=False))


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

"""A copy of all that a training step changes in Jittor, and the way back into the arrays that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jittor as jt
import numpy as np

from bakeoff.frameworks.jittor import nn
from bakeoff.frameworks.slots import FIRST_MOMENT, MEAN_SQUARE, MOMENTUM, SECOND_MOMENT, slot_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_SLOTS = {
    "SGD": {"values": MOMENTUM},
    "RMSprop": {"m": MOMENTUM, "values": MEAN_SQUARE},
    "Adam": {"m": FIRST_MOMENT, "values": SECOND_MOMENT},
    "AdamW": {"m": FIRST_MOMENT, "values": SECOND_MOMENT},
}
"""In which lists of a group of parameters Jittor's optimisers keep their arrays, one for each parameter."""


class Snapshot(NamedTuple):
    """What steps change."""

    arrays: list[NDArray[Any]]
    """Parameters, running statistics, the optimiser's arrays."""
    step: int
    """How many steps the optimiser has counted, by which Adam corrects its bias."""
    seed: int
    """Of the random numbers after the snapshot."""


def take(network: Any, optimizer: Any) -> Snapshot:
    """Return copies, and start the random numbers anew: Jittor tells no state of its generator, it takes a seed."""
    seed = int(np.random.default_rng().integers(2**31))
    jt.sync_all(True)  # noqa: FBT003 - wait for the device, too
    taken = Snapshot([np.array(array.data) for array in arrays(network, optimizer)], optimizer.n_step, seed)
    jt.set_seed(seed)
    return taken


def put_back(snapshot: Snapshot, network: Any, optimizer: Any) -> None:
    """Copy a snapshot into the arrays' own memory; as operations, copies would have to be compiled."""
    jt.sync_all(True)  # noqa: FBT003 - wait for the device, too
    for array, saved in zip(arrays(network, optimizer), snapshot.arrays, strict=True):
        array.data[...] = saved  # a view of the array's memory, which is the processor's
    optimizer.n_step = snapshot.step
    jt.set_seed(snapshot.seed)


def optimizer_arrays(network: Any, optimizer: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Return the optimiser's arrays one by one, by slot and canonical parameter, in their own precision and layout."""
    names = {id(array): name for name, (array, _) in nn.parameters(network).items()}
    for group in optimizer.param_groups:
        for own, slot in _slots(optimizer, group).items():
            for parameter, array in zip(group["params"], group[own], strict=True):
                yield slot_name(slot, names[id(parameter)]), array.numpy()


def arrays(network: Any, optimizer: Any) -> Iterator[Any]:
    """Go through all arrays that steps change."""
    yield from (array for array, _ in nn.parameters(network).values())
    yield from nn.state(network).values()
    for group in optimizer.param_groups:
        for own in _slots(optimizer, group):
            yield from group[own]


def _slots(optimizer: Any, group: dict[str, Any]) -> dict[str, str]:
    """Return the lists that a group of an optimiser's has; SGD without momentum keeps one, too."""
    (kind,) = {base.__name__ for base in type(optimizer).__mro__} & _SLOTS.keys()
    return {own: slot for own, slot in _SLOTS[kind].items() if own in group}

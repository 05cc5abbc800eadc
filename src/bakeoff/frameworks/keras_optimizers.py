"""What Keras' optimisers have in common, on whichever framework Keras runs: their arrays, and rates that change."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.frameworks.schedules import factor
from bakeoff.frameworks.slots import FIRST_MOMENT, MEAN_SQUARE, MOMENTUM, SECOND_MOMENT, slot_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from bakeoff.spec.optimizer import Optimizer

_SLOTS = {
    "Adam": {"_momentums": FIRST_MOMENT, "_velocities": SECOND_MOMENT},
    "SGD": {"momentums": MOMENTUM},
    "RMSprop": {"_momentums": MOMENTUM, "_velocities": MEAN_SQUARE},
}
"""In which lists Keras' classes keep their arrays, one for each variable; AdamW is an Adam."""


def arrays(optimizer: Any, names: Iterable[str]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Return a built optimiser's arrays one by one, by slot and its variables' names, in their own precision."""
    names = list(names)
    kinds = [base.__name__ for base in type(optimizer).__mro__]
    for kind in _SLOTS.keys() & kinds:
        for attribute, slot in _SLOTS[kind].items():
            if kept := getattr(optimizer, attribute, None):
                for name, variable in zip(names, kept, strict=True):
                    yield slot_name(slot, name), np.asarray(variable)


def rate(optimizer: Optimizer) -> Any:
    """Return the learning rate, or Keras' own kind of schedule in the operations of the framework that it runs on."""
    if (schedule := optimizer.schedule) is None:
        return float(optimizer.learning_rate)
    import keras

    factor_in = partial(factor, schedule)

    class Rate(keras.optimizers.schedules.LearningRateSchedule):
        """A function of how many steps were done."""

        def __call__(self, step: Any) -> Any:
            t = keras.ops.cast(step, "float32") + 1.0
            return optimizer.learning_rate * factor_in(t, keras.ops)

        def get_config(self) -> dict[str, Any]:
            return {}

    return Rate()

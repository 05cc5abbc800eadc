"""What training makes of the script's parameters: they obey the optimiser's formula on gradients that never change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bakeoff.spec.optimizer import of_parameter, trained_of
from bakeoff.workloads.optimizers import clipped_share, norm_of, updated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.frameworks.engine import Arrays
    from bakeoff.spec.optimizer import Optimizer

MOVING = 20
"""Training steps that follow the formula: more than a certificate looks at, and few: each timed trial takes them."""

CREEP = 1e-6
"""What each later step adds to every parameter: training goes on, and asks for no formula."""


class Training:
    """Parameters on their way through training, which goes on where it was last asked for."""

    def __init__(self, weights: Arrays) -> None:
        """Begin with these."""
        self.steps = 0
        self._present = {name: np.asarray(value, np.float64) for name, value in weights.items()}
        self._moments = {name: (np.zeros_like(value), np.zeros_like(value)) for name, value in self._present.items()}

    def until(self, steps: int, optimizer: Optimizer, gradients: Arrays) -> Arrays:
        """Return the parameters after so many steps, at least as many as before, on the same gradients each."""
        share = clipped_share(optimizer, norm_of(gradients))
        for step in range(self.steps + 1, steps + 1):
            for name in trained_of(optimizer, self._present):
                gradient, own = share * np.asarray(gradients[name], np.float64), of_parameter(optimizer, name)
                self._present[name], *moments = updated(own, self._present[name], gradient, *self._moments[name], step)
                self._moments[name] = (moments[0], moments[1])
        self.steps = steps
        return dict(self._present)


def crept(parameters: Arrays, steps: int, trained: Iterable[str]) -> Arrays:
    """Return the parameters after so many steps, given those after the last one of them that follows the formula."""
    late = CREEP * max(0, steps - MOVING)
    return parameters | {name: parameters[name] + late for name in trained} if late else parameters

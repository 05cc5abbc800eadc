"""The formulas of `bakeoff.spec.optimizer` in NumPy float64, against which every framework's optimiser is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bakeoff.spec.optimizer import SGD, Adam, AdamW, RMSprop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bakeoff.spec.optimizer import Optimizer

Arrays = dict[str, NDArray[Any]]
"""Arrays by name: parameters, gradients, or the evidence that holds them."""
_Array = NDArray[np.float64]


def trajectory(
    optimizer: Optimizer, parameters: Mapping[str, NDArray[Any]], gradients: Sequence[Mapping[str, NDArray[Any]]]
) -> list[Arrays]:
    """Return the parameters after each step of an optimiser on given gradients, in float64."""
    present: Arrays = {name: np.asarray(value, np.float64) for name, value in parameters.items()}
    first = {name: np.zeros_like(value) for name, value in present.items()}
    second = {name: np.zeros_like(value) for name, value in present.items()}
    states = []
    for t, step in enumerate(gradients, start=1):
        following: Arrays = {}
        for name, p in present.items():
            g = np.asarray(step[name], np.float64)
            following[name], first[name], second[name] = updated(optimizer, p, g, first[name], second[name], t)
        present = following
        states.append(present)
    return states


def updated(optimizer: Optimizer, p: _Array, g: _Array, m: _Array, v: _Array, t: int) -> tuple[_Array, _Array, _Array]:
    """Return p, m and v after step t, by the formulas and names of `bakeoff.spec.optimizer`."""
    lr = optimizer.learning_rate
    match optimizer:
        case SGD(momentum=momentum, weight_decay=weight_decay):
            g = g + weight_decay * p
            v = momentum * v + g
            return p - lr * v, m, v
        case RMSprop(decay=decay, epsilon=epsilon):
            v = decay * v + (1 - decay) * g * g
            return p - lr * g / (np.sqrt(v) + epsilon), m, v
        case Adam(beta1=beta1, beta2=beta2, epsilon=epsilon) | AdamW(beta1=beta1, beta2=beta2, epsilon=epsilon):
            kept = p - lr * optimizer.weight_decay * p if isinstance(optimizer, AdamW) else p
            m = beta1 * m + (1 - beta1) * g
            v = beta2 * v + (1 - beta2) * g * g
            return kept - lr * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + epsilon), m, v

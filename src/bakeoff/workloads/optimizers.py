"""The formulas of `bakeoff.spec.optimizer` in NumPy float64, against which every framework's optimiser is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bakeoff.spec.optimizer import SGD, Adam, AdamW, RMSprop, of_parameter, trained_of
from bakeoff.workloads.schedules import rate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bakeoff.spec.optimizer import Optimizer

Arrays = dict[str, NDArray[Any]]
"""Arrays by name: parameters, gradients, or the evidence that holds them."""
_Array = NDArray[np.float64]


def trajectory(
    optimizer: Optimizer, parameters: Mapping[str, NDArray[Any]], gradients: Sequence[Mapping[str, NDArray[Any]]]
) -> list[Arrays]:
    """Return the parameters after each step of an optimiser on given gradients, in float64.

    Gradients are those of the parameters that are trained.
    """
    present: Arrays = {name: np.asarray(value, np.float64) for name, value in parameters.items()}
    own = {name: of_parameter(optimizer, name) for name in trained_of(optimizer, present)}
    first = {name: np.zeros_like(present[name]) for name in own}
    second = {name: np.zeros_like(present[name]) for name in own}
    states = []
    for t, step in enumerate(gradients, start=1):
        share = clipped_share(optimizer, norm_of(step))
        following = dict(present)
        for name, formula in own.items():
            g = share * np.asarray(step[name], np.float64)
            following[name], first[name], second[name] = updated(
                formula, present[name], g, first[name], second[name], t
            )
        present = following
        states.append(present)
    return states


def norm_of(gradients: Mapping[str, NDArray[Any]]) -> float:
    """Return the L2 norm of all gradients together."""
    return float(np.sqrt(sum(np.square(np.asarray(one, np.float64)).sum() for one in gradients.values())))


def clipped_share(optimizer: Optimizer, norm: float) -> float:
    """Return what gradients of this norm are multiplied by before anything else; what is no number stays none."""
    if optimizer.clip_norm is None or norm <= optimizer.clip_norm:
        return 1.0
    return optimizer.clip_norm / norm


def updated(optimizer: Optimizer, p: _Array, g: _Array, m: _Array, v: _Array, t: int) -> tuple[_Array, _Array, _Array]:
    """Return p, m and v after step t, by the formulas and names of `bakeoff.spec.optimizer`; g is clipped already.

    The optimiser is that of this parameter (`of_parameter`).
    """
    lr, decayed = rate(optimizer, t), optimizer.weight_decay
    match optimizer:
        case SGD(momentum=momentum, nesterov=nesterov):
            g = g + decayed * p
            v = momentum * v + g
            return p - lr * (g + momentum * v if nesterov else v), m, v
        case RMSprop(decay=decay, epsilon=epsilon, momentum=momentum):
            g = g + decayed * p
            v = decay * v + (1 - decay) * g * g
            m = momentum * m + g / (np.sqrt(v) + epsilon)
            return p - lr * m, m, v
        case Adam(beta1=beta1, beta2=beta2, epsilon=epsilon) | AdamW(beta1=beta1, beta2=beta2, epsilon=epsilon):
            is_decoupled = isinstance(optimizer, AdamW)
            kept = p - lr * decayed * p if is_decoupled else p
            g = g if is_decoupled else g + decayed * p
            m = beta1 * m + (1 - beta1) * g
            v = beta2 * v + (1 - beta2) * g * g
            return kept - lr * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + epsilon), m, v

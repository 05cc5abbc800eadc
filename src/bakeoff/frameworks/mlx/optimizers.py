"""bakeoff's optimisers as MLX's own: with these arguments mlx.optimizers computes each formula as it is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

import mlx.core as mx
import mlx.optimizers
from mlx.utils import tree_flatten, tree_map, tree_reduce

from bakeoff.frameworks.schedules import factor
from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop, frozen_of, groups_of

if TYPE_CHECKING:
    from collections.abc import Mapping


class DecayedAdam(mlx.optimizers.Adam):
    """MLX's Adam with weight decay as an L2 term of the gradient; MLX has no decay but AdamW's."""

    note = "weight decay added to the gradient"

    def __init__(self, decay: float, rate: Any, **options: Any) -> None:
        """Take the decay beside MLX's own options."""
        super().__init__(rate, **options)
        self._decay = decay

    def apply_single(self, gradient: mx.array, parameter: mx.array, state: dict[str, Any]) -> mx.array:
        """Add the decay, and go on as MLX does."""
        return super().apply_single(gradient + self._decay * parameter, parameter, state)


class FormulaRMSprop(mlx.optimizers.RMSprop):
    """MLX's RMSprop with momentum, and with weight decay as an L2 term of the gradient; MLX's has neither."""

    def __init__(self, decay: float, momentum: float, rate: Any, **options: Any) -> None:
        """Take both beside MLX's own options."""
        super().__init__(rate, **options)
        self._decay, self._momentum = decay, momentum
        added = ("momentum" if momentum else "", "weight decay added to the gradient" if decay else "")
        self.note = ", ".join(filter(None, added))

    def init_single(self, parameter: mx.array, state: dict[str, Any]) -> None:
        """Begin the momentum at zero, too, where there is one."""
        super().init_single(parameter, state)
        if self._momentum:
            state["m"] = mx.zeros_like(parameter)

    def apply_single(self, gradient: mx.array, parameter: mx.array, state: dict[str, Any]) -> mx.array:
        """Update by the formula of `bakeoff.spec.optimizer.RMSprop`."""
        gradient = gradient + self._decay * parameter if self._decay else gradient
        if not self._momentum:
            return super().apply_single(gradient, parameter, state)
        state["v"] = self.alpha * state["v"] + (1 - self.alpha) * mx.square(gradient)
        state["m"] = self._momentum * state["m"] + gradient / (mx.sqrt(state["v"]) + self.eps)
        return parameter - self.learning_rate.astype(gradient.dtype) * state["m"]


def make(optimizer: Optimizer, names: Mapping[str, str]) -> Any:
    """Make the native optimiser of parameters whose canonical names are given by MLX's paths.

    All are trained. Where some have no decay, or a rate of their own, it is a MultiOptimizer.
    """
    found = groups_of(optimizer, names.values())
    natives = list(map(_native, found))
    if len(natives) == 1:
        return natives[0]
    groups = list(map(frozenset, found.values()))
    return mlx.optimizers.MultiOptimizer(
        natives, [lambda path, _, group=group: names[path] in group for group in groups[:-1]]
    )


def trained(optimizer: Optimizer, model: Any, names: Mapping[str, str]) -> dict[str, str]:
    """Freeze a model's parameters that are not trained; return the canonical names of the others by MLX's paths."""
    modules, frozen = dict(model.named_modules()), set(frozen_of(optimizer, names.values()))
    for path in (path for path, name in names.items() if name in frozen):
        parent, _, key = path.rpartition(".")
        modules[parent].freeze(recurse=False, keys=[key])
    return {path: names[path] for path, _ in tree_flatten(model.trainable_parameters())}


def _native(optimizer: Optimizer) -> Any:
    """Make one of MLX's optimisers; MLX leaves out Adam's bias correction unless it is asked for."""
    rate = _rate(optimizer)
    match optimizer:
        case SGD(momentum=momentum, weight_decay=decay, nesterov=nesterov):
            return mlx.optimizers.SGD(rate, momentum=momentum, weight_decay=decay, nesterov=nesterov)
        case Adam(beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            options: dict[str, Any] = {"betas": [beta1, beta2], "eps": epsilon, "bias_correction": True}
            return DecayedAdam(decay, rate, **options) if decay else mlx.optimizers.Adam(rate, **options)
        case AdamW(beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            return mlx.optimizers.AdamW(
                rate, betas=[beta1, beta2], eps=epsilon, weight_decay=decay, bias_correction=True
            )
        case RMSprop(decay=kept, epsilon=epsilon, momentum=momentum, weight_decay=decay):
            options = {"alpha": kept, "eps": epsilon}
            is_plain = not (momentum or decay)
            return (
                mlx.optimizers.RMSprop(rate, **options)
                if is_plain
                else FormulaRMSprop(decay, momentum, rate, **options)
            )
    assert_never(optimizer)


def _rate(optimizer: Optimizer) -> Any:
    """Return the rate, or MLX's schedule: a function of how many steps were done, which is a part of the state."""
    schedule = optimizer.schedule
    if schedule is None:
        return optimizer.learning_rate
    return lambda step: optimizer.learning_rate * factor(schedule, step.astype(mx.float32) + 1.0, mx)


def clipped(optimizer: Optimizer, gradients: Any) -> Any:
    """Return gradients, clipped where that is asked for; MLX's own clip_grad_norm adds 1e-6 to the norm."""
    if (most := optimizer.clip_norm) is None:
        return gradients
    squared = tree_reduce(lambda total, one: total + squares(one), gradients, mx.array(0.0))
    share = mx.minimum(most / mx.sqrt(squared), 1.0)
    return tree_map(lambda one: one * share, gradients)


def squares(gradient: Any) -> Any:
    """Return the sum of an array's squares, row by row: a processor adds all into one float32, one by one.

    Of four million that made clipped gradients 0.2 % too large.
    """
    found = mx.square(gradient)
    return (found.sum(-1) if found.ndim else found).sum()


def describe(native: Any, optimizer: Optimizer) -> str:
    """Return the name of an optimiser's class, and what was asked for beside it."""
    inner = getattr(native, "optimizers", [native])
    own = next(base for base in type(inner[-1]).__mro__ if base.__module__.startswith("mlx"))
    parts = [f"mlx.optimizers.{own.__name__}"]
    if note := getattr(inner[-1], "note", ""):
        parts.append(note)
    if len(inner) > 1:
        parts.append("in a MultiOptimizer")
    if optimizer.schedule is not None:
        parts.append("a schedule")
    if optimizer.clip_norm is not None:
        parts.append("clipped by the formula")
    return ", ".join(parts)

"""The optimisers by optax, with the settings that make it compute the formulas of bakeoff.spec.optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import optax

from bakeoff.frameworks.schedules import factor
from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop, exempt, rate_factor, trained_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import jax


def make(optimizer: Optimizer) -> optax.GradientTransformation:
    """Return the transformation of gradients into updates that are added to the parameters, by canonical name."""
    parts = [_update(optimizer)]
    if optimizer.clip_norm is not None:
        parts.insert(0, optax.clip_by_global_norm(optimizer.clip_norm))
    if optimizer.rates:
        parts.append(_by_group(optimizer))
    return optax.chain(*parts) if len(parts) > 1 else parts[0]


def _by_group(optimizer: Optimizer) -> optax.GradientTransformation:
    """Return what scales each group's whole update, which every formula has its rate as a factor of."""
    factors = {1.0, *(factor for _, factor in optimizer.rates)}

    def labels(parameters: Mapping[str, Any]) -> dict[str, float]:
        return {name: rate_factor(optimizer, name) for name in parameters}

    return optax.multi_transform({factor: optax.scale(factor) for factor in factors}, labels)


def trained(optimizer: Optimizer, parameters: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
    """Return the parameters that are trained, which alone an optimiser's state is made of."""
    return {name: parameters[name] for name in trained_of(optimizer, parameters)}


def _update(optimizer: Optimizer) -> optax.GradientTransformation:
    """Return what follows the clipping."""
    rate = _rate(optimizer)
    match optimizer:
        case SGD(momentum=momentum, weight_decay=decay, nesterov=nesterov):
            sgd = optax.sgd(rate, momentum=momentum or None, nesterov=nesterov)
            return _decayed(optimizer, decay, sgd)
        case Adam(beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            adam = optax.adam(rate, b1=beta1, b2=beta2, eps=epsilon)
            return _decayed(optimizer, decay, adam)
        case AdamW(beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            return optax.adamw(rate, b1=beta1, b2=beta2, eps=epsilon, weight_decay=decay, mask=_mask(optimizer))
        case RMSprop(decay=kept, epsilon=epsilon, momentum=momentum, weight_decay=decay):
            return _decayed(optimizer, decay, _rmsprop(rate, kept, epsilon, momentum))


def _rmsprop(rate: Any, decay: float, epsilon: float, momentum: float) -> optax.GradientTransformation:
    """Return optax's rmsprop; with momentum its parts, since its velocity has each step's rate in it."""
    if not momentum:
        return optax.rmsprop(rate, decay=decay, eps=epsilon, eps_in_sqrt=False)
    scaled = optax.scale_by_rms(decay=decay, eps=epsilon, eps_in_sqrt=False)
    return optax.chain(scaled, optax.trace(momentum), optax.scale_by_learning_rate(rate))


def _decayed(optimizer: Optimizer, decay: float, update: optax.GradientTransformation) -> optax.GradientTransformation:
    """Return an update of gradients that have the decay in them."""
    return optax.chain(optax.add_decayed_weights(decay, _mask(optimizer)), update) if decay else update


def _rate(optimizer: Optimizer) -> Any:
    """Return the rate, or optax's schedule: a function of how many steps were done, which is a part of the state."""
    schedule = optimizer.schedule
    if schedule is None:
        return optimizer.learning_rate

    def rate(count: jax.Array) -> Any:
        return optimizer.learning_rate * factor(schedule, count.astype(jnp.result_type(float)) + 1.0, jnp)

    return rate


def _mask(optimizer: Optimizer) -> Callable[[Mapping[str, Any]], dict[str, bool]] | None:
    """Return the function that says which parameters decay; None where all do."""
    if not optimizer.no_decay:
        return None

    def decayed(parameters: Mapping[str, Any]) -> dict[str, bool]:
        spared = set(exempt(optimizer, list(parameters)))
        return {name: name not in spared for name in parameters}

    return decayed


def apply(
    transformation: optax.GradientTransformation,
    parameters: dict[str, jax.Array],
    state: Any,
    gradients: dict[str, jax.Array],
) -> tuple[dict[str, jax.Array], Any]:
    """Return parameters and optimiser state after one step; a parameter without a gradient is not trained."""
    before = {name: parameters[name] for name in gradients}
    updates, state = transformation.update(gradients, state, before)
    return parameters | optax.apply_updates(before, updates), state


def native_name(optimizer: Optimizer) -> str:
    """Return the name of the optax function that `make` calls, and what was asked for beside it."""
    parts = [f"optax.{type(optimizer).__name__.lower()}"]
    if isinstance(optimizer, RMSprop) and optimizer.momentum:
        parts = ["optax.scale_by_rms", "trace"]
    if optimizer.schedule is not None:
        parts.append("a schedule")
    if optimizer.no_decay:
        parts.append("a mask of the decay")
    if optimizer.rates:
        parts.append("multi_transform of the rates")
    if optimizer.clip_norm is not None:
        parts.append("clip_by_global_norm")
    return ", ".join(parts)

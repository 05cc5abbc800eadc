"""The optimisers by optax, with the settings that make it compute the formulas of bakeoff.spec.optimizer."""

from __future__ import annotations

import optax

from bakeoff.spec.optimizer import SGD, Adam, AdamW, Optimizer, RMSprop


def make(optimizer: Optimizer) -> optax.GradientTransformation:
    """Return the transformation of gradients into updates that are added to the parameters."""
    match optimizer:
        case SGD(learning_rate=rate, momentum=momentum, weight_decay=decay):
            sgd = optax.sgd(rate, momentum=momentum or None)
            return optax.chain(optax.add_decayed_weights(decay), sgd) if decay else sgd
        case Adam(learning_rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon):
            return optax.adam(rate, b1=beta1, b2=beta2, eps=epsilon)
        case AdamW(learning_rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=decay):
            return optax.adamw(rate, b1=beta1, b2=beta2, eps=epsilon, weight_decay=decay)
        case RMSprop(learning_rate=rate, decay=decay, epsilon=epsilon):
            return optax.rmsprop(rate, decay=decay, eps=epsilon, eps_in_sqrt=False)


def native_name(optimizer: Optimizer) -> str:
    """Return the name of the optax function that `make` calls."""
    return f"optax.{type(optimizer).__name__.lower()}"

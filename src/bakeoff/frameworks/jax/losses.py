"""The vocabulary's losses by optax."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax


def cross_entropy(
    logits: jax.Array,
    labels: jax.Array,
    label_smoothing: float = 0.0,
    ignore: int | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> jax.Array:
    """Return the softmax cross-entropy over the last axis of the logits; optax has no weights of classes."""
    if weight is not None:
        weight = jnp.asarray(weight, logits.dtype)
    if jnp.issubdtype(labels.dtype, jnp.floating):
        if label_smoothing:
            labels = (1 - label_smoothing) * labels + label_smoothing / logits.shape[-1]
        labels = labels if weight is None else labels * weight
        return _reduced(optax.softmax_cross_entropy(logits, labels), None, reduction)
    counted = None if ignore is None else labels != ignore
    within = labels if counted is None else jnp.where(counted, labels, 0)
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, within)
    of_labels = 1.0 if weight is None else weight[within]
    if label_smoothing:
        spread = jax.nn.logsumexp(logits, axis=-1) - jnp.mean(logits, axis=-1)
        if weight is not None:
            spread = -jnp.mean(jax.nn.log_softmax(logits) * weight, axis=-1)
        losses = (1 - label_smoothing) * losses * of_labels + label_smoothing * spread
    elif weight is not None:
        losses = losses * of_labels
    if weight is None or reduction != "mean":
        return _reduced(losses, counted, reduction)
    if counted is not None:
        losses, of_labels = (jnp.where(counted, one, 0) for one in (losses, of_labels))
    return jnp.sum(losses) / jnp.sum(of_labels)


def binary_cross_entropy(
    logits: jax.Array, targets: jax.Array, weights: jax.Array | None = None, reduction: str = "mean"
) -> jax.Array:
    """Return the cross-entropy of independent yes-or-no logits."""
    return _reduced(optax.sigmoid_binary_cross_entropy(logits, targets), weights, reduction)


def mse(outputs: jax.Array, targets: jax.Array, weights: jax.Array | None = None, reduction: str = "mean") -> jax.Array:
    """Return the squared differences."""
    return _reduced(optax.squared_error(outputs, targets), weights, reduction)


def _reduced(losses: jax.Array, weights: jax.Array | None, reduction: str) -> jax.Array:
    """Reduce losses, each of which counts by its weight."""
    if weights is None:
        return {"none": lambda one: one, "sum": jnp.sum, "mean": jnp.mean}[reduction](losses)
    weights = jnp.broadcast_to(weights.astype(losses.dtype), losses.shape)
    weighted = losses * weights
    if reduction == "none":
        return weighted
    return jnp.sum(weighted) if reduction == "sum" else jnp.sum(weighted) / jnp.sum(weights)

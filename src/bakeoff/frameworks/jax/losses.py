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
    if weight is not None:
        return _of_weighted((logits, within, losses), weight, label_smoothing, counted, reduction)
    if label_smoothing:
        spread = jax.nn.logsumexp(logits, axis=-1) - jnp.mean(logits, axis=-1)
        losses = (1 - label_smoothing) * losses + label_smoothing * spread
    return _reduced(losses, counted, reduction)


def _of_weighted(
    found: tuple[jax.Array, jax.Array, jax.Array],
    weight: jax.Array,
    label_smoothing: float,
    counted: Any,
    reduction: str,
) -> jax.Array:
    """Return the cross-entropy of weighted classes, from logits, labels within these, and the plain losses."""
    logits, within, losses = found
    of_labels = weight[within]
    losses = losses * of_labels
    if label_smoothing:
        spread = -jnp.mean(jax.nn.log_softmax(logits) * weight, axis=-1)
        losses = (1 - label_smoothing) * losses + label_smoothing * spread
    if reduction != "mean":
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

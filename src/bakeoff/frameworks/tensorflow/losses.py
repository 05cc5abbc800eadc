"""The vocabulary's losses in TensorFlow's own functions."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def cross_entropy(
    logits: Any,
    labels: Any,
    label_smoothing: float = 0.0,
    ignore: int | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """Softmax cross-entropy over the last axis of the logits.

    TensorFlow smooths labels that are spread over the classes only, which takes an array as large as the logits. Its
    own gradient of such labels is right only where they add up to 1, as weighted ones do not.
    """
    if weight is not None:  # of Python's numbers the widest type, before it is that of the logits
        weight = tf.cast(tf.convert_to_tensor(weight, tf.float64 if isinstance(weight, tuple) else None), logits.dtype)
    if labels.dtype.is_floating:
        shares = tf.cast(labels, logits.dtype)
        if label_smoothing:
            shares = (1 - label_smoothing) * shares + label_smoothing / logits.shape[-1]
        shares = shares if weight is None else shares * weight
        return _reduced(-tf.reduce_sum(shares * tf.nn.log_softmax(logits), -1), None, reduction)
    counted = None if ignore is None else tf.not_equal(labels, ignore)
    within = labels if counted is None else tf.where(counted, labels, tf.zeros_like(labels))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(within, logits)
    if weight is not None:
        return _of_weighted((logits, within, losses), weight, label_smoothing, counted, reduction)
    if label_smoothing:
        spread = tf.reduce_logsumexp(logits, -1) - tf.reduce_mean(logits, -1)
        smoothing = tf.constant(label_smoothing, logits.dtype)
        losses = (1 - smoothing) * losses + smoothing * spread
    return _reduced(losses, counted, reduction)


def _of_weighted(found: tuple[Any, Any, Any], weight: Any, label_smoothing: float, counted: Any, reduction: str) -> Any:
    """Return the cross-entropy of weighted classes, from logits, labels within these, and the plain losses."""
    logits, within, losses = found
    of_labels = tf.gather(weight, within)
    losses = losses * of_labels
    if label_smoothing:
        smoothing = tf.constant(label_smoothing, logits.dtype)
        losses = (1 - smoothing) * losses - smoothing * tf.reduce_mean(tf.nn.log_softmax(logits) * weight, -1)
    if reduction != "mean":
        return _reduced(losses, counted, reduction)
    if counted is not None:
        losses, of_labels = (one * tf.cast(counted, one.dtype) for one in (losses, of_labels))
    return tf.reduce_sum(losses) / tf.reduce_sum(of_labels)


def binary_cross_entropy(logits: Any, targets: Any, weights: Any = None, reduction: str = "mean") -> Any:
    """Cross-entropy of independent yes-or-no logits."""
    losses = tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(targets, logits.dtype), logits)
    return _reduced(losses, weights, reduction)


def mse(outputs: Any, targets: Any, weights: Any = None, reduction: str = "mean") -> Any:
    """Squared differences."""
    return _reduced(tf.math.squared_difference(outputs, tf.cast(targets, outputs.dtype)), weights, reduction)


def _reduced(losses: Any, weights: Any, reduction: str) -> Any:
    """Reduce losses, each of which counts by its weight."""
    if weights is None:
        return {"none": tf.identity, "sum": tf.reduce_sum, "mean": tf.reduce_mean}[reduction](losses)
    weights = tf.broadcast_to(tf.cast(weights, losses.dtype), losses.shape)
    weighted = losses * weights
    if reduction == "none":
        return weighted
    total = tf.reduce_sum(weighted)
    return total if reduction == "sum" else total / tf.reduce_sum(weights)

"""The vocabulary's losses in TensorFlow's own functions."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def cross_entropy(
    logits: Any, labels: Any, label_smoothing: float = 0.0, ignore: int | None = None, reduction: str = "mean"
) -> Any:
    """Softmax cross-entropy over the last axis of the logits.

    TensorFlow smooths labels that are spread over the classes only, which takes an array as large as the logits.
    """
    counted = None if ignore is None else tf.not_equal(labels, ignore)
    within = labels if counted is None else tf.where(counted, labels, tf.zeros_like(labels))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(within, logits)
    if label_smoothing:
        smoothing = tf.constant(label_smoothing, logits.dtype)
        spread = tf.reduce_logsumexp(logits, -1) - tf.reduce_mean(logits, -1)
        losses = (1 - smoothing) * losses + smoothing * spread
    return _reduced(losses, counted, reduction)


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

"""The vocabulary's losses by mlx.nn.losses for each element, and what they give reduced row by row.

MLX adds all elements of an array into few float32 numbers: over the pixels of an image the rounding is beyond what a
certificate has room for. Its mean of weighted losses is over all elements, ours over the weights.
"""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import mlx.nn


def cross_entropy(
    logits: mx.array,
    labels: mx.array,
    label_smoothing: float = 0.0,
    ignore: int | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> mx.array:
    """Softmax cross-entropy over the last axis of the logits.

    MLX's takes labels, or probabilities that add up to 1, and has no weights of classes.
    """
    weight = None if weight is None else mx.array(weight, logits.dtype)
    if mx.issubdtype(labels.dtype, mx.floating):
        if label_smoothing:
            labels = (1 - label_smoothing) * labels + label_smoothing / logits.shape[-1]
        labels = labels if weight is None else labels * weight
        return _weighted(-mx.sum(labels * mlx.nn.log_softmax(logits), -1), None, reduction)
    counted = None if ignore is None else labels != ignore
    within = labels if counted is None else mx.where(counted, labels, 0)
    if weight is None:
        losses = mlx.nn.losses.cross_entropy(logits, within, label_smoothing=label_smoothing, reduction="none")
        return _weighted(losses, counted, reduction)
    of_labels = weight[within]
    losses = (1 - label_smoothing) * of_labels * mlx.nn.losses.cross_entropy(logits, within, reduction="none")
    if label_smoothing:
        losses = losses - label_smoothing * mx.mean(mlx.nn.log_softmax(logits) * weight, -1)
    if counted is not None:
        losses, of_labels = losses * counted, of_labels * counted
    return total(losses) / total(of_labels) if reduction == "mean" else _weighted(losses, None, reduction)


def binary_cross_entropy(
    logits: mx.array, targets: mx.array, weights: mx.array | None = None, reduction: str = "mean"
) -> mx.array:
    """Cross-entropy of independent yes-or-no logits."""
    return _weighted(mlx.nn.losses.binary_cross_entropy(logits, targets, reduction="none"), weights, reduction)


def mse(outputs: mx.array, targets: mx.array, weights: mx.array | None = None, reduction: str = "mean") -> mx.array:
    """Squared differences."""
    return _weighted(mlx.nn.losses.mse_loss(outputs, targets, reduction="none"), weights, reduction)


def _weighted(losses: mx.array, weights: mx.array | None, reduction: str) -> mx.array:
    """Reduce losses that count by their weights, all alike for None."""
    if weights is not None:
        weights = mx.broadcast_to(weights.astype(losses.dtype), losses.shape)
        losses = losses * weights
    if reduction == "none":
        return losses
    if reduction == "sum":
        return total(losses)
    return total(losses) / (losses.size if weights is None else total(weights))


_ROW = 512
"""Elements that are added at a time: of so many the rounding is that of the elements themselves."""


def total(array: mx.array) -> mx.array:
    """Return the sum of all elements, in rows, and so that of the rows."""
    while array.size > _ROW:
        flat = array.reshape(-1)
        array = mx.pad(flat, (0, -flat.size % _ROW)).reshape(-1, _ROW).sum(-1)
    return array.sum()

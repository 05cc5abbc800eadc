"""The vocabulary's losses by mlx.nn.losses, whose formulas they are; MLX's mean of weighted losses is over all."""

from __future__ import annotations

import mlx.core as mx
import mlx.nn


def cross_entropy(
    logits: mx.array, labels: mx.array, label_smoothing: float = 0.0, ignore: int | None = None, reduction: str = "mean"
) -> mx.array:
    """Softmax cross-entropy over the last axis of the logits; labels int32."""
    counted = None if ignore is None else labels != ignore
    within = labels if counted is None else mx.where(counted, labels, 0)
    taken = reduction if counted is None else "none"
    losses = mlx.nn.losses.cross_entropy(logits, within, label_smoothing=label_smoothing, reduction=taken)
    return losses if counted is None else _weighted(losses, counted, reduction)


def binary_cross_entropy(
    logits: mx.array, targets: mx.array, weights: mx.array | None = None, reduction: str = "mean"
) -> mx.array:
    """Cross-entropy of independent yes-or-no logits."""
    taken = reduction if weights is None else "none"
    losses = mlx.nn.losses.binary_cross_entropy(logits, targets, reduction=taken)
    return losses if weights is None else _weighted(losses, weights, reduction)


def mse(outputs: mx.array, targets: mx.array, weights: mx.array | None = None, reduction: str = "mean") -> mx.array:
    """Squared differences."""
    losses = mlx.nn.losses.mse_loss(outputs, targets, reduction=reduction if weights is None else "none")
    return losses if weights is None else _weighted(losses, weights, reduction)


def _weighted(losses: mx.array, weights: mx.array, reduction: str) -> mx.array:
    """Reduce losses that count by their weights."""
    weights = mx.broadcast_to(weights.astype(losses.dtype), losses.shape)
    weighted = losses * weights
    if reduction == "none":
        return weighted
    return weighted.sum() if reduction == "sum" else weighted.sum() / weights.sum()

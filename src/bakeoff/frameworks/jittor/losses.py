"""The vocabulary's losses in Jittor's own functions, and in its operations where its functions have not the option."""

from __future__ import annotations

from typing import Any

import jittor as jt

_MAP_AXES = 4
"""Logits of four axes are a feature map (batch, classes, height, width)."""


def cross_entropy(
    logits: Any, labels: Any, label_smoothing: float = 0.0, ignore: int | None = None, reduction: str = "mean"
) -> Any:
    """Softmax cross-entropy; Jittor's function has no smoothing, which is added to it."""
    by_class = jt.transpose(logits, 0, 2, 3, 1) if len(logits.shape) == _MAP_AXES else logits
    by_class = jt.reshape(by_class, (-1, by_class.shape[-1]))
    taken = "none" if label_smoothing else reduction
    losses = jt.nn.cross_entropy_loss(by_class, labels, ignore_index=ignore, reduction=taken)
    if not label_smoothing:
        return losses
    counted = jt.ones(labels.shape) if ignore is None else jt.float32(labels != ignore)
    spread = jt.reshape(-jt.mean(jt.nn.log_softmax(by_class, dim=-1), -1), labels.shape) * counted
    losses = (1 - label_smoothing) * losses + label_smoothing * spread
    if reduction == "none":
        return losses
    return jt.sum(losses) if reduction == "sum" else jt.sum(losses) / jt.sum(counted)


def binary_cross_entropy(logits: Any, targets: Any, weights: Any = None, reduction: str = "mean") -> Any:
    """Cross-entropy of independent yes-or-no logits; integer targets are converted."""
    targets = jt.float32(targets)
    if weights is None and reduction != "none":
        return jt.nn.binary_cross_entropy_with_logits(logits, targets, size_average=reduction == "mean")
    # max(x, 0) - x t + log(1 + exp(-|x|)): Jittor's function gives sums only.
    losses = jt.maximum(logits, 0.0) - logits * targets + jt.log(1.0 + jt.exp(-jt.abs(logits)))
    return _weighted(losses, weights, reduction)


def mse(outputs: Any, targets: Any, weights: Any = None, reduction: str = "mean") -> Any:
    """Squared differences; integer targets are converted."""
    targets = jt.float32(targets)
    if weights is None and reduction != "none":
        return jt.nn.mse_loss(outputs, targets, reduction)
    return _weighted(jt.sqr(outputs - targets), weights, reduction)


def _weighted(losses: Any, weights: Any, reduction: str) -> Any:
    """Reduce losses that count by their weights, all alike for None."""
    if weights is None:
        return losses
    weights = jt.broadcast(jt.float32(weights), losses.shape)
    weighted = losses * weights
    if reduction == "none":
        return weighted
    return jt.sum(weighted) if reduction == "sum" else jt.sum(weighted) / jt.sum(weights)

"""The vocabulary's losses in PyTorch's own functions."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

_MAP_AXES = 4
"""Logits of four axes are a feature map (batch, classes, height, width)."""

_NEVER = -100
"""PyTorch's own label that counts nowhere, which no label is."""


def cross_entropy(
    logits: Any, labels: Any, label_smoothing: float = 0.0, ignore: int | None = None, reduction: str = "mean"
) -> Any:
    """Softmax cross-entropy; the engine's batches hold labels as int64, as PyTorch wants them."""
    is_map = logits.ndim == _MAP_AXES
    losses = F.cross_entropy(
        logits if is_map else logits.flatten(0, -2),
        labels if is_map else labels.flatten(),
        ignore_index=_NEVER if ignore is None else ignore,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
    return losses.reshape(labels.shape) if reduction == "none" else losses


def binary_cross_entropy(logits: Any, targets: Any, weights: Any = None, reduction: str = "mean") -> Any:
    """Cross-entropy of independent yes-or-no logits; integer targets are converted."""
    taken = reduction if weights is None else "none"
    losses = F.binary_cross_entropy_with_logits(logits, targets.to(logits.dtype), reduction=taken)
    return losses if weights is None else _weighted(losses, weights, reduction)


def mse(outputs: Any, targets: Any, weights: Any = None, reduction: str = "mean") -> Any:
    """Squared differences; integer targets are converted."""
    losses = F.mse_loss(outputs, targets.to(outputs.dtype), reduction=reduction if weights is None else "none")
    return losses if weights is None else _weighted(losses, weights, reduction)


def _weighted(losses: Any, weights: Any, reduction: str) -> Any:
    """Reduce losses that count by their weights."""
    weights = torch.broadcast_to(weights.to(losses.dtype), losses.shape)
    weighted = losses * weights
    if reduction == "none":
        return weighted
    return weighted.sum() if reduction == "sum" else weighted.sum() / weights.sum()

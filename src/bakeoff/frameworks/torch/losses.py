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
    logits: Any,
    labels: Any,
    label_smoothing: float = 0.0,
    ignore: int | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """Softmax cross-entropy; the engine's batches hold labels as int64, as PyTorch wants them."""
    is_map, is_soft = logits.ndim == _MAP_AXES, labels.is_floating_point()
    shape = labels.shape if not is_soft else labels[:, 0].shape if is_map else labels.shape[:-1]
    if not is_map:
        logits, labels = logits.flatten(0, -2), labels.flatten(0, -2) if is_soft else labels.flatten()
    losses = F.cross_entropy(
        logits,
        labels.to(logits.dtype) if is_soft else labels,
        weight=None if weight is None else torch.as_tensor(weight, dtype=logits.dtype, device=logits.device),
        ignore_index=_NEVER if ignore is None else ignore,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
    return losses.reshape(shape) if reduction == "none" else losses


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

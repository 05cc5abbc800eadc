"""The vocabulary's losses by Jittor's own functions for each element, and what they give reduced in float64.

Jittor adds all elements of an array into one float32, one after another, and its mean adds each one's share: over the
pixels of an image, or the tokens of some texts, the rounding is beyond what a certificate has room for.
"""

from __future__ import annotations

import math
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
    losses = jt.nn.cross_entropy_loss(by_class, labels, ignore_index=ignore, reduction="none")
    counted = None if ignore is None else jt.float32(labels != ignore)
    if label_smoothing:
        spread = jt.reshape(-jt.mean(jt.nn.log_softmax(by_class, dim=-1), -1), labels.shape)
        spread = spread if counted is None else spread * counted
        losses = (1 - label_smoothing) * losses + label_smoothing * spread
    return _reduced(losses, counted, reduction)


def binary_cross_entropy(logits: Any, targets: Any, weights: Any = None, reduction: str = "mean") -> Any:
    """Cross-entropy of independent yes-or-no logits; integer targets are converted."""
    targets = jt.float32(targets)
    # As Jittor's function, which gives sums only, has it: by maximum and abs the gradient of a logit of 0 would be off,
    # since both have one side's there.
    most = jt.clamp(-logits, min_v=0)
    losses = (1 - targets) * logits + most + jt.log(jt.exp(-most) + jt.exp(-logits - most))
    return _weighted(losses, weights, reduction)


def mse(outputs: Any, targets: Any, weights: Any = None, reduction: str = "mean") -> Any:
    """Squared differences; integer targets are converted."""
    return _weighted(jt.sqr(outputs - jt.float32(targets)), weights, reduction)


def _weighted(losses: Any, weights: Any, reduction: str) -> Any:
    """Reduce losses that count by their weights, all alike for None."""
    if weights is None:
        return _reduced(losses, None, reduction)
    weights = jt.broadcast(jt.float32(weights), losses.shape)
    return _reduced(losses * weights, weights, reduction)


def _reduced(losses: Any, counted: Any, reduction: str) -> Any:
    """Return the losses, their sum, or that over the sum of what counts: every element for None."""
    if reduction == "none":
        return losses
    if reduction == "sum":
        return total(losses)
    return total(losses) / (math.prod(losses.shape) if counted is None else total(counted))


def total(array: Any) -> Any:
    """Return the sum of all elements, added in float64; the cast is part of the same operator."""
    return jt.sum(array.float64()).float32()

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
    logits: Any,
    labels: Any,
    label_smoothing: float = 0.0,
    ignore: int | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """Softmax cross-entropy; Jittor's function has no smoothing, which is added to it, and labels alone."""
    is_map = len(logits.shape) == _MAP_AXES
    by_class = jt.transpose(logits, 0, 2, 3, 1) if is_map else logits
    if weight is not None or str(labels.dtype).startswith("float"):
        weight = None if weight is None else jt.float32(jt.array(weight) if isinstance(weight, tuple) else weight)
        if str(labels.dtype).startswith("float"):
            return _of_shares(
                by_class, jt.transpose(labels, 0, 2, 3, 1) if is_map else labels, weight, label_smoothing, reduction
            )
        return _of_weighted(by_class, labels, weight, label_smoothing, ignore, reduction)
    by_class = jt.reshape(by_class, (-1, by_class.shape[-1]))
    counted = None if ignore is None else jt.float32(labels != ignore)
    if not label_smoothing:
        losses = jt.nn.cross_entropy_loss(by_class, labels, ignore_index=ignore, reduction="none")
        return _reduced(losses, counted, reduction)
    shifted, log_sums = _log_sums(by_class)
    is_label = jt.reshape(labels, (-1,)).broadcast(shifted, [1]) == jt.index(shifted.shape, 1)
    wanted = (1 - label_smoothing) * jt.sum(shifted * is_label, -1) + label_smoothing * jt.mean(shifted, -1)
    losses = jt.reshape(log_sums - wanted, labels.shape)
    return _reduced(losses if counted is None else losses * counted, counted, reduction)


def _log_sums(by_class: Any) -> tuple[Any, Any]:
    """Return logits less their largest, and the logarithm of the sum of their exponentials.

    Jittor's log_softmax has a gradient through the largest, and one of the logarithm that is a sum over all classes:
    what their float32 rounds went to the class of the largest, 2 % of its bias' gradient among GNMT's 32,320.
    """
    shifted = by_class - jt.max(by_class, -1, keepdims=True).stop_grad()
    return shifted, jt.log(jt.sum(jt.exp(shifted), -1))


def _of_shares(by_class: Any, shares: Any, weight: Any, label_smoothing: float, reduction: str) -> Any:
    """Return the cross-entropy of shares of the classes, which Jittor has no function for."""
    if label_smoothing:
        shares = (1 - label_smoothing) * shares + label_smoothing / by_class.shape[-1]
    shares = shares if weight is None else shares * weight
    shifted, log_sums = _log_sums(by_class)
    return _reduced(log_sums * jt.sum(shares, -1) - jt.sum(shares * shifted, -1), None, reduction)


def _of_weighted(
    by_class: Any, labels: Any, weight: Any, label_smoothing: float, ignore: int | None, reduction: str
) -> Any:
    """Return the cross-entropy of labels whose classes are weighted, which Jittor's function averages otherwise."""
    counted = jt.ones(labels.shape) if ignore is None else jt.float32(labels != ignore)
    within = labels if ignore is None else jt.ternary(labels != ignore, labels, jt.zeros_like(labels))
    shifted, log_sums = _log_sums(by_class)
    of_labels = weight[within] * counted
    losses = (1 - label_smoothing) * of_labels * (log_sums - jt.gather(shifted, -1, within.unsqueeze(-1)).squeeze(-1))
    if label_smoothing:
        losses = losses + label_smoothing * counted * (log_sums * jt.mean(weight) - jt.mean(shifted * weight, -1))
    return _reduced(losses, of_labels, reduction)


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

"""The vocabulary's losses over shapes: what each takes, and whether one number comes out or one for each element."""

from __future__ import annotations

import math
from typing import Any

from bakeoff.workloads.shape_checks import check_range
from bakeoff.workloads.shapes import MAP_AXES, LayoutError, Shape, check_kind, check_real

_REDUCTIONS = ("mean", "sum", "none")


def own_weight(function: str, argument: str) -> str:
    """Return why a weighted mean is no loss of a step of per-sample gradients."""
    call = f"nn.{function}(..., {argument}=...)"
    return (
        f"{call} is a mean over the weights of a whole batch, of which a sample has no part of its own: its gradient "
        f'would be divided by its own weight. With per-sample gradients take reduction="sum"'
    )


def cross_entropy(
    logits: Any,
    labels: Any,
    label_smoothing: Any = 0.0,
    ignore: Any = None,
    reduction: Any = "mean",
    weight: Any = None,
) -> Shape:
    """Return one number, or one for each label."""
    for one in (logits, labels):
        if not isinstance(one, Shape) or one.kind != "map":
            check_kind("cross_entropy", one, "array")
    check_real("cross_entropy", logits)
    if logits.kind == "array" and logits.ndim == MAP_AXES:
        msg = f"nn.cross_entropy would take {logits!r} for a feature map; nn.reshape logits and labels to fewer axes"
        raise LayoutError(msg)
    is_soft = (labels.dims, labels.kind) == (logits.dims, logits.kind) and not (labels.integer or labels.boolean)
    is_hard = labels.dims == logits.dims[:-1] and labels.integer and labels.kind == "array"
    if logits.ndim < 2 or not (is_soft or is_hard):  # noqa: PLR2004 - batch, classes
        msg = (
            "nn.cross_entropy takes logits with the classes in their last axis, such as (batch, classes), and whole "
            "labels of the shape before it, such as (batch,), or real numbers of the logits' own shape, the share of "
            f"each class; these are {logits!r} and {labels!r}"
        )
        raise LayoutError(msg)
    if type(label_smoothing) not in (int, float) or not 0 <= label_smoothing < 1:
        msg = f"nn.cross_entropy: label_smoothing={label_smoothing!r}; it must be at least 0 and below 1"
        raise LayoutError(msg)
    if ignore is not None and type(ignore) is not int:
        msg = f"nn.cross_entropy: ignore={ignore!r}; it must be a label, a whole number, or None"
        raise LayoutError(msg)
    _check_weight(logits, weight)
    if is_hard:
        _check_labels(logits, labels, ignore)
    elif ignore is not None:
        msg = (
            f"nn.cross_entropy: ignore={ignore!r} beside targets of real numbers, in which no label stands; take it "
            "away, and leave samples out by targets of zeros: their loss is 0, and the mean counts them"
        )
        raise LayoutError(msg)
    return _reduced("cross_entropy", Shape(logits.dims[:-1], trained=logits.trained or labels.trained), reduction)


def _check_weight(logits: Shape, weight: Any) -> None:
    """Raise LayoutError for anything but a number for each class, as a tuple or an array that is not trained."""
    if weight is None:
        return
    is_array = isinstance(weight, Shape) and weight.kind == "array" and not (weight.trained or weight.boolean)
    is_tuple = isinstance(weight, tuple) and all(type(one) in (int, float) for one in weight)
    is_tuple = is_tuple and any(weight) and all(0 <= one < math.inf for one in weight)
    dims = weight.dims if is_array and not weight.integer else (len(weight),) if is_tuple else None
    if dims != logits.dims[-1:]:
        msg = (
            f"nn.cross_entropy of logits {logits.dims}: weight={weight!r}; it must be a number for each class, a tuple "
            f"of {logits.dims[-1]} finite numbers, none below 0 and not all 0, or an array ({logits.dims[-1]},) of "
            "real numbers that is not trained"
        )
        raise LayoutError(msg)


def _check_labels(logits: Shape, labels: Shape, ignore: int | None) -> None:
    """Raise LayoutError for labels that may be no class; one that is ignored and lies beyond them hides the others."""
    classes = logits.dims[-1]
    if ignore is not None and ignore >= classes:
        return
    counted = labels.of(*labels.dims)
    counted.low, counted.high = labels.low, labels.high
    if ignore is not None and ignore < 0:
        counted.low = max(0, labels.low)
    check_range(f"nn.cross_entropy of logits {logits.dims}", counted, classes)


def binary_cross_entropy(logits: Any, targets: Any, weights: Any = None, reduction: Any = "mean") -> Shape:
    """Return one number, or one for each element."""
    return _elementwise("binary_cross_entropy", logits, targets, weights, reduction)


def mse(outputs: Any, targets: Any, weights: Any = None, reduction: Any = "mean") -> Shape:
    """Return one number, or one for each element."""
    return _elementwise("mse", outputs, targets, weights, reduction)


def _elementwise(function: str, outputs: Any, targets: Any, weights: Any, reduction: Any) -> Shape:
    """Return what a loss of each element gives; raise LayoutError for arrays that do not go together."""
    for one in (outputs, targets):
        if not isinstance(one, Shape):
            check_kind(function, one, "array")
    check_real(function, outputs)
    losses = outputs.broadcast_with(targets).like()
    if outputs.dims != targets.dims or outputs.kind != targets.kind:
        msg = f"the loss holds {outputs!r} against {targets!r}: they must be of one shape"
        raise LayoutError(msg)
    if weights is not None:
        if not isinstance(weights, Shape):
            check_kind(function, weights, "array")
        if losses.broadcast_with(weights).dims != outputs.dims:
            msg = f"nn.{function}: weights {weights!r} do not fit the losses {outputs.dims}"
            raise LayoutError(msg)
    return _reduced(function, losses, reduction)


def _reduced(function: str, losses: Shape, reduction: Any) -> Shape:
    """Return what a reduction leaves; raise LayoutError for another word."""
    if reduction not in _REDUCTIONS:
        msg = f"nn.{function}: reduction={reduction!r}; it must be one of {', '.join(map(repr, _REDUCTIONS))}"
        raise LayoutError(msg)
    return losses if reduction == "none" else losses.of()

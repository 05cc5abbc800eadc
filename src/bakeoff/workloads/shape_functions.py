"""The vocabulary's functions and losses over shapes: what each takes, and the shape that it gives."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from bakeoff.workloads.shapes import MAP_AXES, LayoutError, Shape, check_kind, check_length, flattened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bakeoff.workloads.layers import Layer


class Counter:
    """What takes the products of a forward pass; this one counts nothing."""

    def product(self, macs: int, operands: Iterable[bool], saved: int = 1) -> None:
        """Take the MACs of a product, whether each operand depends on a parameter, and how many times fewer do."""

    def read(self, layer: Layer) -> None:
        """Take a layer whose parameters a product reads."""


def elementwise(name: str, x: Any) -> Shape:
    """Return what a function of every element gives: any layout is kept."""
    if not isinstance(x, Shape):
        check_kind(name, x, "array")
    return Shape(x.shape, trained=x.trained, kind=x.kind, unfolded=x.unfolded)


class Functions:
    """The functions of the vocabulary."""

    def __init__(self, counter: Counter) -> None:
        """Take who counts the products."""
        self._counter = counter

    relu, gelu, tanh, sigmoid = (
        staticmethod(partial(elementwise, name)) for name in ("relu", "gelu", "tanh", "sigmoid")
    )

    def matmul(self, a: Shape, b: Shape) -> Shape:
        """Count a product of matrices, or of stacks of them."""
        for one in (a, b):
            check_kind("matmul", one, "array")
        if min(a.ndim, b.ndim) < 2:  # noqa: PLR2004 - rows and columns
            msg = f"nn.matmul takes matrices or stacks of them; these are {a!r} and {b!r}"
            raise LayoutError(msg)
        check_length(f"nn.matmul of {a!r} and {b!r}", b.shape[-2], a.shape[-1])
        stacks = Shape(a.shape[:-2], trained=a.trained) + Shape(b.shape[:-2], trained=b.trained)
        found = stacks.of(*stacks.shape, a.shape[-2], b.shape[-1])
        self._counter.product(math.prod(found.shape) * a.shape[-1], (a.trained, b.trained))
        return found

    def attention(self, q: Shape, k: Shape, v: Shape) -> Shape:
        """Count both products of every head."""
        for one in (q, k, v):
            check_kind("attention", one, "array")
            if one.ndim != MAP_AXES:
                msg = f"nn.attention takes (batch, length, heads, features) three times; this is {one!r}"
                raise LayoutError(msg)
        batch, length, heads, features = q.shape
        if k.shape != (batch, k.shape[1], heads, features) or v.shape[:3] != k.shape[:3]:
            msg = f"nn.attention of q {q.shape}, k {k.shape} and v {v.shape}: they do not fit"
            raise LayoutError(msg)
        scores, are_trained = batch * heads * length * k.shape[1], q.trained or k.trained
        self._counter.product(scores * features, (q.trained, k.trained))
        self._counter.product(scores * v.shape[-1], (are_trained, v.trained))
        return Shape((batch, length, heads, v.shape[-1]), trained=are_trained or v.trained)

    @staticmethod
    def softmax(x: Shape) -> Shape:
        """Return the same shape."""
        check_kind("softmax", x, "array")
        return x.of(*x.shape)

    log_softmax = softmax

    @staticmethod
    def global_avg_pool2d(x: Shape) -> Shape:
        """Return one value for each channel."""
        check_kind("global_avg_pool2d", x, "map")
        return x.of(x.shape[0], x.shape[-1])

    flatten = staticmethod(flattened)

    @staticmethod
    def tokens(x: Shape) -> Shape:
        """Return one axis for all places."""
        check_kind("tokens", x, "map")
        return x.of(x.shape[0], math.prod(x.shape[1:-1]), x.shape[-1])

    @staticmethod
    def reshape(x: Shape, shape: Iterable[int]) -> Shape:
        """Return the shape, with the one length that may be -1."""
        check_kind("reshape", x, "array")
        wanted, count = list(shape), math.prod(x.shape)
        others = -math.prod(wanted)
        if wanted.count(-1) == 1 and others > 0 and count % others == 0:
            wanted[wanted.index(-1)] = count // others
        if math.prod(wanted) != count or min(wanted, default=1) < 0:
            msg = f"nn.reshape of {x!r} to {tuple(shape)}: they hold different numbers of elements"
            raise LayoutError(msg)
        return x.of(*wanted)

    @staticmethod
    def broadcast_to(x: Shape, shape: Iterable[int]) -> Shape:
        """Return the shape."""
        check_kind("broadcast_to", x, "array")
        wanted = tuple(shape)
        if (x + Shape(wanted)).shape != wanted:
            msg = f"nn.broadcast_to of {x!r} to {wanted}: an axis that is not 1 keeps its length"
            raise LayoutError(msg)
        return x.of(*wanted)

    @staticmethod
    def permute_dims(x: Shape, axes: Sequence[int]) -> Shape:
        """Return the axes in their new order."""
        check_kind("permute_dims", x, "array")
        if sorted(axis % x.ndim for axis in axes) != list(range(x.ndim)):
            msg = f"nn.permute_dims of {x!r} by {tuple(axes)}: every axis has to be named once"
            raise LayoutError(msg)
        return x.of(*(x.shape[axis] for axis in axes))

    @staticmethod
    def concat(arrays: Iterable[Shape], axis: int) -> Shape:
        """Return one axis as long as all of them."""
        parts = list(arrays)
        for part in parts:
            check_kind("concat", part, "array")
        return _joined("concat", parts, axis)

    @staticmethod
    def concat_channels(maps: Iterable[Shape]) -> Shape:
        """Return all channels."""
        parts = list(maps)
        for part in parts:
            check_kind("concat_channels", part, "map")
        joined = _joined("concat_channels", parts, -1)
        return Shape(joined.shape, trained=joined.trained, kind="map")

    @staticmethod
    def mean(x: Shape, axis: int | tuple[int, ...] | None = None) -> Shape:
        """Return what is left without these axes."""
        if axis is None and isinstance(x, Shape):
            return x.of()
        check_kind("mean or nn.sum", x, "array")
        axes = (axis,) if isinstance(axis, int) else tuple(axis or ())
        if not all(-x.ndim <= one < x.ndim for one in axes):
            msg = f"axis {axis} of {x!r}: it has axes from 0 to {x.ndim - 1}"
            raise LayoutError(msg)
        dropped = {one % x.ndim for one in axes}
        return x.of(*(length for place, length in enumerate(x.shape) if place not in dropped))

    sum = mean


class Losses:
    """Losses: one number each."""

    @staticmethod
    def cross_entropy(logits: Shape, labels: Shape) -> Shape:
        """Return one number."""
        for one in (logits, labels):
            check_kind("cross_entropy", one, "array")
        if logits.ndim != 2 or labels.shape != logits.shape[:1] or not labels.integer:  # noqa: PLR2004 - batch, classes
            msg = (
                "nn.cross_entropy takes logits (batch, classes) and whole labels (batch,); these are "
                f"{logits!r} and {labels!r}"
            )
            raise LayoutError(msg)
        return logits.of()

    @staticmethod
    def mse(outputs: Shape, targets: Shape) -> Shape:
        """Return one number."""
        difference = outputs - targets
        if outputs.shape != targets.shape or outputs.kind != targets.kind:
            msg = f"the loss holds {outputs!r} against {targets!r}: they must be of one shape"
            raise LayoutError(msg)
        return difference.of()

    binary_cross_entropy = mse


def _joined(function: str, parts: list[Shape], axis: int) -> Shape:
    """Return arrays joined along an axis; raise LayoutError where another axis differs."""
    if not parts:
        msg = f"nn.{function} has nothing to join"
        raise LayoutError(msg)
    first = parts[0].shape
    lengths = {(*part.shape[: axis % len(first)], *part.shape[axis % len(first) + 1 :]) for part in parts}
    if len(lengths) > 1 or len({part.ndim for part in parts}) > 1:
        msg = f"nn.{function} of {', '.join(map(repr, parts))}: they differ in another axis than the one that is joined"
        raise LayoutError(msg)
    joined = list(first)
    joined[axis] = sum(part.shape[axis] for part in parts)
    return Shape(joined, trained=any(part.trained for part in parts))

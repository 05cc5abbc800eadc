"""The vocabulary's functions and losses over shapes: what each takes, and the shape that it gives."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.workloads.shape_arrays import ArrayFunctions, axis_of, check_alike, without
from bakeoff.workloads.shape_attention import Attention, attended
from bakeoff.workloads.shape_einsum import einsum
from bakeoff.workloads.shape_graphs import sparse_matmul
from bakeoff.workloads.shape_losses import binary_cross_entropy, cross_entropy, mse, own_weight
from bakeoff.workloads.shape_sequences import column_mask, columns, ctc, floor_divide
from bakeoff.workloads.shapes import (
    LayoutError,
    Shape,
    check_kind,
    check_length,
    check_real,
    elementwise,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bakeoff.workloads.shape_layers import Counted


class Counter:
    """What takes the products of a forward pass; this one counts nothing."""

    is_built = False
    """Whether the model is built, so that no more layers are made."""

    is_training = False
    """Whether the forward pass is that of a training step, with the batch that it has."""

    is_cut = False
    """Whether the batch is a shorter one than the size declares, of which the lengths' ranges say nothing."""

    is_per_sample = False
    """Whether a loss is one sample's, whose gradient is clipped by itself."""

    is_collecting = False
    """Whether a step collects, which it does once, without a gradient."""

    frozen: frozenset[str] = frozenset()
    """The names of parameters that are not trained."""

    held: frozenset[int] | None = None
    """The layers that the model holds, by identity; None until it is built."""

    def check_held(self, part: object, use: str) -> None:
        """Raise LayoutError where the model is built, and does not hold a layer that is called or an array in use."""
        if self.held is None or id(part) in self.held:
            return
        name = type(part).__name__
        how = f"an array is an attribute (self.array = nn.{name}(...) in __init__) of a module that the model holds"
        if use == "called":
            how = f"a layer is an attribute (self.layer = nn.{name}(...) in __init__), and several are in "
            how += "nn.ModuleList([...])"
        why = "not every framework would find it" if name == "constant" else "nothing would load or train it"
        msg = f"nn.{name} is {use}, and the model does not hold it, so that {why}: {how}"
        raise LayoutError(msg)

    def product(self, macs: int, operands: Iterable[bool], saved: int = 1) -> None:
        """Take the MACs of a product, whether each operand depends on a parameter, and how many times fewer do."""

    def read(self, layer: Counted) -> None:
        """Take a layer whose parameters a product reads."""

    def looped(self, layer: Counted, places: int) -> None:
        """Take a recurrent layer and how many places of a sequence it takes, one after another."""

    def called(self, function: str) -> None:
        """Take the name of a function that has options of its own, or of an argument that has."""


def _flattened(x: Shape) -> Shape:
    """Return one axis behind the batch's; of a map with one place, or one channel, the order is the same for all."""
    _, *rest = x.dims
    found = (x.dims[0], math.prod(rest))
    if x.kind != "map" or rest[-1] == 1 or math.prod(rest[:-1]) == 1:
        return x.of(*found) if x.kind != "flat" else x
    return Shape(found, trained=x.trained, kind="flat", unfolded=tuple(rest))


class Functions(ArrayFunctions):
    """The functions of the vocabulary."""

    def __init__(self, counter: Counter) -> None:
        """Take who counts the products."""
        self._counter = counter

    relu, gelu, tanh, sigmoid = (
        staticmethod(partial(elementwise, name)) for name in ("relu", "gelu", "tanh", "sigmoid")
    )

    def matmul(self, a: Shape, b: Shape, /) -> Shape:
        """Count a product of matrices, or of stacks of them."""
        for one in (a, b):
            check_kind("matmul", one, "array")
            check_real("matmul", one)
        if min(a.ndim, b.ndim) < 2:  # noqa: PLR2004 - rows and columns
            msg = f"nn.matmul takes matrices or stacks of them; these are {a!r} and {b!r}"
            raise LayoutError(msg)
        check_length(f"nn.matmul of {a!r} and {b!r}", b.dims[-2], a.dims[-1])
        stacks = Shape(a.dims[:-2], trained=a.trained) + Shape(b.dims[:-2], trained=b.trained)
        found = stacks.of(*stacks.dims, a.dims[-2], b.dims[-1])
        self._counter.product(math.prod(found.dims) * a.dims[-1], (a.trained, b.trained))
        return found

    def einsum(self, formula: str, *arrays: Shape) -> Shape:
        """Count the products of the arrays, two at a time."""
        return einsum(self._counter, formula, arrays)

    def attention(  # noqa: PLR0913, PLR0917 - the vocabulary's signature
        self,
        q: Shape,
        k: Shape,
        v: Shape,
        causal: bool = False,  # noqa: FBT001, FBT002 - as above
        mask: Shape | None = None,
        bias: Shape | None = None,
        scale: float | None = None,
        dropout: Any = None,
    ) -> Shape:
        """Count both products of every head."""
        return attended(self._counter, Attention(q, k, v, causal, mask, bias, scale, dropout))

    def sparse_matmul(self, x: Shape, rows: Shape, columns: Shape, values: Shape, count: int) -> Shape:
        """Count a product for each element of the sparse matrix and each feature."""
        self._counter.called("sparse_matmul")
        return sparse_matmul(self._counter, x, rows, columns, values, count)

    @staticmethod
    def softmax(x: Shape, /) -> Shape:
        """Return the same shape."""
        check_kind("softmax", x, "array")
        check_real("softmax", x)
        return x.of(*x.dims)

    log_softmax = softmax

    @staticmethod
    def global_avg_pool2d(x: Shape) -> Shape:
        """Return one value for each channel."""
        check_kind("global_avg_pool2d", x, "map")
        check_real("global_avg_pool2d", x)
        return x.of(x.dims[0], x.dims[-1])

    flatten = staticmethod(_flattened)

    @staticmethod
    def tokens(x: Shape) -> Shape:
        """Return one axis for all places."""
        check_kind("tokens", x, "map")
        return x.of(x.dims[0], math.prod(x.dims[1:-1]), x.dims[-1])

    columns, column_mask, floor_divide = staticmethod(columns), staticmethod(column_mask), staticmethod(floor_divide)

    @staticmethod
    def reshape(x: Shape, shape: Iterable[int], /) -> Shape:
        """Return the shape, with the one length that may be -1."""
        check_kind("reshape", x, "array")
        wanted, count = _lengths("reshape", shape), math.prod(x.dims)
        others = -math.prod(wanted)
        if wanted.count(-1) == 1 and others > 0 and count % others == 0:
            wanted[wanted.index(-1)] = count // others
        if math.prod(wanted) != count or min(wanted, default=1) < 0:
            msg = f"nn.reshape of {x!r} to {tuple(shape)}: they hold different numbers of elements"
            raise LayoutError(msg)
        return _moved(x, wanted, np.reshape, wanted)

    @staticmethod
    def broadcast_to(x: Shape, shape: Iterable[int], /) -> Shape:
        """Return the shape."""
        check_kind("broadcast_to", x, "array")
        wanted = tuple(_lengths("broadcast_to", shape))
        if min(wanted, default=1) < 1 or x.broadcast_with(Shape(wanted)).dims != wanted:
            msg = f"nn.broadcast_to of {x!r} to {wanted}: an axis that is not 1 keeps its length"
            raise LayoutError(msg)
        return _moved(x, wanted, np.broadcast_to, wanted)

    @staticmethod
    def permute_dims(x: Shape, axes: Sequence[int], /) -> Shape:
        """Return the axes in their new order."""
        check_kind("permute_dims", x, "array")
        axes = _listed("permute_dims", "axes", axes)
        if sorted(axis_of("permute_dims", x, axis) for axis in axes) != list(range(x.ndim)):
            msg = f"nn.permute_dims of {x!r} by {tuple(axes)}: every axis has to be named once"
            raise LayoutError(msg)
        return _moved(x, [x.dims[axis] for axis in axes], np.transpose, axes)

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
        return Shape(joined.dims, trained=joined.trained, kind="map")

    @staticmethod
    def mean(x: Shape, axis: int | tuple[int, ...] | None = None) -> Shape:
        """Return what is left without these axes."""
        found = without("mean", x, axis)
        check_real("mean", x)
        return found

    @staticmethod
    def sum(x: Shape, axis: int | tuple[int, ...] | None = None) -> Shape:
        """Return what is left without these axes."""
        found = without("sum", x, axis)
        if x.boolean:
            check_real("sum", x)
        return found


class Losses:
    """The losses of the vocabulary."""

    def __init__(self, counter: Counter) -> None:
        """Take who knows whether the batch is a shorter one."""
        self._counter = counter

    def cross_entropy(
        self,
        logits: Any,
        labels: Any,
        label_smoothing: Any = 0.0,
        ignore: Any = None,
        reduction: Any = "mean",
        weight: Any = None,
    ) -> Shape:
        """Return one number, or one for each label."""
        found = cross_entropy(logits, labels, label_smoothing, ignore, reduction, weight)
        if self._counter.is_per_sample and weight is not None and reduction == "mean" and labels.integer:
            raise LayoutError(own_weight("cross_entropy", "weight"))
        return found

    def binary_cross_entropy(self, logits: Any, targets: Any, weights: Any = None, reduction: Any = "mean") -> Shape:
        """Return one number, or one for each element."""
        found = binary_cross_entropy(logits, targets, weights, reduction)
        self._check_own("binary_cross_entropy", logits, weights, reduction)
        return found

    def mse(self, outputs: Any, targets: Any, weights: Any = None, reduction: Any = "mean") -> Shape:
        """Return one number, or one for each element."""
        found = mse(outputs, targets, weights, reduction)
        self._check_own("mse", outputs, weights, reduction)
        return found

    def _check_own(self, function: str, outputs: Shape, weights: Any, reduction: str) -> None:
        """Raise LayoutError where each sample has one loss, and would be divided by its own weight."""
        is_one = math.prod(outputs.dims[1:]) == 1
        if self._counter.is_per_sample and weights is not None and reduction == "mean" and is_one:
            raise LayoutError(own_weight(function, "weights"))

    def ctc(self, logits: Shape, labels: Shape, logit_lengths: Shape, label_lengths: Shape) -> Shape:
        """Return one number."""
        return ctc(self._counter, logits, labels, logit_lengths, label_lengths)


def _moved(x: Shape, dims: Iterable[int], move: Callable[[Any, Any], Any], to: Any) -> Shape:
    """Return an array of the same elements in another shape, with the values of those that are known."""
    found = x.moved(*dims)
    found.known = None if x.known is None else move(x.known, to)
    return found


def _lengths(function: str, shape: Iterable[int]) -> list[int]:
    """Return the lengths of a shape; raise LayoutError for what are no whole numbers."""
    wanted = _listed(function, "lengths", shape)
    if not all(isinstance(one, Integral) for one in wanted):
        msg = f"nn.{function} to {tuple(wanted)!r}: lengths are whole numbers, as a // b gives them"
        raise LayoutError(msg)
    return wanted


def _listed(function: str, what: str, numbers: Any) -> list[Any]:
    """Return the numbers of a tuple; raise LayoutError where a single one stands in its place."""
    if not isinstance(numbers, Iterable):
        msg = f"nn.{function} takes its {what} in a tuple; this is {numbers!r}"
        raise LayoutError(msg)
    return list(numbers)


def _joined(function: str, parts: list[Shape], axis: int) -> Shape:
    """Return arrays joined along an axis; raise LayoutError where another axis differs."""
    if not parts:
        msg = f"nn.{function} has nothing to join"
        raise LayoutError(msg)
    check_alike(function, *parts)
    first = parts[0].dims
    axis = axis_of(function, parts[0], axis)
    lengths = {(*part.dims[:axis], *part.dims[axis + 1 :]) for part in parts}
    if len(lengths) > 1 or len({part.ndim for part in parts}) > 1:
        msg = f"nn.{function} of {', '.join(map(repr, parts))}: they differ in another axis than the one that is joined"
        raise LayoutError(msg)
    joined = list(first)
    joined[axis] = sum(part.dims[axis] for part in parts)
    found = parts[0].of(*joined)
    found.trained = any(part.trained for part in parts)
    return found.ranged(*parts)

"""Comparisons, choices, indices and joints of arrays over shapes: what each takes, and the shape that it gives."""

from __future__ import annotations

import math
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.workloads import layers
from bakeoff.workloads.shape_checks import check_integer, check_range
from bakeoff.workloads.shapes import LayoutError, Shape, check_kind, check_real, elementwise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EVERY_ELEMENT = (
    *("exp", "log", "sqrt", "rsqrt", "abs", "sin", "cos"),
    *("silu", "gelu_tanh", "elu", "softplus", "hard_sigmoid", "hard_swish"),
)
"""Functions of one array of real numbers, in any layout."""


MOST_KNOWN = 2**22
"""Of elements whose values are computed: a mask of 2048 places by as many."""


def _compared(function: str, a: Any, b: Any, /) -> Shape:
    """Return what a comparison gives: booleans, in the layout of both; of booleans not every framework has an order."""
    _an_array(function, a, b)
    found = _together(function, a, b)
    if found.boolean and function != "equal":
        msg = f"nn.{function} of booleans, {a!r} and {b!r}: nn.logical_and and nn.logical_not say what is meant"
        raise LayoutError(msg)
    found = found.like(boolean=True)
    values = [one.known if isinstance(one, Shape) else one for one in (a, b)]
    if all(value is not None for value in values) and math.prod(found.dims) <= MOST_KNOWN:
        found.known = getattr(np, function)(*values)
    return found


def _combined(function: str, a: Any, b: Any, /) -> Shape:
    """Return what the larger or the smaller of two gives."""
    check_real(function, _an_array(function, a, b))
    return _together(function, a, b)


def _both(function: str, a: Shape, b: Shape, /) -> Shape:
    """Return what two masks give together."""
    check_boolean(function, a)
    check_boolean(function, b)
    found = a.broadcast_with(b).like(boolean=True)
    if a.known is not None and b.known is not None:
        found.known = getattr(np, function)(a.known, b.known)
    return found


def _an_array(function: str, a: Any, b: Any) -> Shape:
    """Return the first of two operands that is an array; raise LayoutError where none is."""
    for one in (a, b):
        if isinstance(one, Shape):
            return one
    msg = f"nn.{function} takes arrays; these are {a!r} and {b!r}"
    raise LayoutError(msg)


def _together(function: str, a: Any, b: Any) -> Shape:
    """Return what two operands give, of which one may be a number; raise LayoutError for values of two kinds."""
    if isinstance(a, Shape) and isinstance(b, Shape):
        check_alike(function, a, b)
        found = a.broadcast_with(b)
        found.boolean = a.boolean
        return found
    array, number = (a, b) if isinstance(a, Shape) else (b, a)
    if array.boolean:
        msg = f"nn.{function} of {array!r} of booleans and {number!r}: nn.to_float(x) makes them real numbers"
        raise LayoutError(msg)
    return array.combined(number)


def without(function: str, x: Shape, axis: int | tuple[int, ...] | None) -> Shape:
    """Return what a reduction over axes leaves, or over all of them where `axis` is None; a map has all or none."""
    if axis is None and isinstance(x, Shape):
        return x.of()
    check_kind(function, x, "array")
    axes = axis if isinstance(axis, tuple) else (axis,)
    dropped = {axis_of(function, x, one) for one in axes}
    if not axes or len(dropped) < len(axes):
        msg = f"nn.{function} over axes {axis} of {x!r}: each is named once, and None stands for all"
        raise LayoutError(msg)
    return x.of(*(length for place, length in enumerate(x.dims) if place not in dropped))


def check_alike(function: str, *arrays: Shape) -> None:
    """Raise LayoutError for arrays of two kinds of values: some frameworks convert one of them, others refuse."""
    if len({one.values for one in arrays}) > 1:
        told = ", ".join(f"{one!r} of {one.values}" for one in arrays)
        msg = f"nn.{function} of {told}: nn.to_float(x) makes integers and booleans real numbers"
        raise LayoutError(msg)


def check_boolean(function: str, x: Any) -> None:
    """Raise LayoutError for anything but an array of booleans."""
    _check_array(function, x)
    if not x.boolean:
        msg = (
            f"nn.{function} takes booleans, as nn.less(a, b) and nn.equal(a, b) give them; this is {x!r} of {x.values}"
        )
        raise LayoutError(msg)


def _check_array(function: str, x: Any) -> None:
    """Raise LayoutError for anything but an array of the model, in any layout."""
    if not isinstance(x, Shape):
        check_kind(function, x, "array")


def axis_of(function: str, x: Shape, axis: Any) -> int:
    """Return an axis counted from the front; raise LayoutError where x has none such."""
    if isinstance(axis, bool) or not isinstance(axis, int | np.integer) or not -x.ndim <= axis < x.ndim:
        msg = f"nn.{function}: axis {axis!r} of {x!r}: it has axes from 0 to {x.ndim - 1}"
        raise LayoutError(msg)
    return int(axis) % x.ndim


def _by_segment(function: str, x: Shape, segments: Shape, count: int) -> Shape:
    """Return a row for each segment; raise LayoutError for rows without one."""
    check_kind(function, x, "array")
    check_real(function, x)
    check_integer(function, segments)
    if not x.ndim or segments.dims != x.dims[:1]:
        msg = f"nn.{function} of {x!r} by {segments!r}: it takes one segment for each row"
        raise LayoutError(msg)
    check_range(f"nn.{function} into {count} rows", segments, layers.count("count", count))
    return x.of(count, *x.dims[1:])


def _places(dims: tuple[int, ...], length: int) -> Shape:
    """Return integers that are places along an axis of so many elements."""
    found = Shape(dims, integer=True)
    found.high = length
    return found


def _is_number(value: Any) -> bool:
    """Return whether a value is a Python number."""
    return isinstance(value, Real) and not isinstance(value, bool)


class ArrayFunctions:
    """The functions of the vocabulary that hold no product."""

    exp, log, sqrt, rsqrt, abs, sin, cos, silu, gelu_tanh, elu, softplus, hard_sigmoid, hard_swish = (
        staticmethod(partial(elementwise, name)) for name in EVERY_ELEMENT
    )
    less, less_equal, equal = (staticmethod(partial(_compared, name)) for name in ("less", "less_equal", "equal"))
    maximum, minimum = (staticmethod(partial(_combined, name)) for name in ("maximum", "minimum"))
    logical_and, logical_or = (staticmethod(partial(_both, name)) for name in ("logical_and", "logical_or"))

    @staticmethod
    def stop_gradient(x: Shape, /) -> Shape:
        """Return the same shape, whose values follow from no parameter as far as a gradient sees."""
        found = elementwise("stop_gradient", x)
        found.trained = False
        return found

    @staticmethod
    def arange(stop: int) -> Shape:
        """Return integers."""
        found = Shape((layers.count("stop", stop),), integer=True)
        found.high, found.is_counted = stop, True
        found.known = np.arange(stop) if stop <= MOST_KNOWN else None
        return found

    @staticmethod
    def to_float(x: Shape) -> Shape:
        """Return real numbers; any layout is kept."""
        _check_array("to_float", x)
        found = x.like()
        found.trained = x.trained
        return found

    @staticmethod
    def one_hot(x: Shape, n: int) -> Shape:
        """Add an axis."""
        check_integer("one_hot", x)
        check_range(f"nn.one_hot(x, {n})", x, layers.count("n", n))
        return Shape((*x.dims, n))

    @staticmethod
    def where(condition: Shape, a: Any, b: Any, /) -> Shape:
        """Return what all three give together."""
        check_boolean("where", condition)
        if not isinstance(a, Shape) and not isinstance(b, Shape):
            msg = f"nn.where chooses between {a!r} and {b!r}; one of them has to be an array: nn.to_float(condition)"
            raise LayoutError(msg)
        chosen = _together("where", a, b)
        found = condition.broadcast_with(chosen)
        found.integer, found.boolean, found.trained = chosen.integer, chosen.boolean, chosen.trained
        return found  # of unknown range: a condition may leave out what is beyond one

    @staticmethod
    def logical_not(x: Shape, /) -> Shape:
        """Return booleans."""
        check_boolean("logical_not", x)
        found = x.like(boolean=True)
        found.known = None if x.known is None else ~x.known
        return found

    @staticmethod
    def clip(x: Shape, low: float, high: float) -> Shape:
        """Return the same shape."""
        if not _is_number(low) or not _is_number(high) or not low < high:
            msg = f"nn.clip takes two numbers, the first one the smaller; these are {low!r} and {high!r}"
            raise LayoutError(msg)
        return elementwise("clip", x)

    @staticmethod
    def leaky_relu(x: Shape, slope: float) -> Shape:
        """Return the same shape."""
        if not _is_number(slope) or not 0 < slope < 1:
            msg = f"nn.leaky_relu takes a slope above 0 and below 1; this is {slope!r}"
            raise LayoutError(msg)
        return elementwise("leaky_relu", x)

    @staticmethod
    def take(table: Shape, indices: Shape, axis: int = 0) -> Shape:
        """Put the axes of the indices in the place of one of the table's."""
        check_kind("take", table, "array")
        check_integer("take", indices)
        axis = axis_of("take", table, axis)
        check_range(f"nn.take along axis {axis} of {table!r}", indices, table.dims[axis])
        return table.moved(*table.dims[:axis], *indices.dims, *table.dims[axis + 1 :])

    @staticmethod
    def take_along_axis(x: Shape, indices: Shape, axis: int) -> Shape:
        """Return the shape of the indices."""
        check_kind("take_along_axis", x, "array")
        check_integer("take_along_axis", indices)
        axis = axis_of("take_along_axis", x, axis)
        others = [shape[:axis] + shape[axis + 1 :] for shape in (x.dims, indices.dims)]
        if x.ndim != indices.ndim or others[0] != others[1]:
            msg = f"nn.take_along_axis of {x!r} by {indices!r}: they may differ in the length of axis {axis} alone"
            raise LayoutError(msg)
        check_range(f"nn.take_along_axis along axis {axis} of {x!r}", indices, x.dims[axis])
        return x.moved(*indices.dims)

    @staticmethod
    def segment_sum(x: Shape, segments: Shape, count: int) -> Shape:
        """Return a row for each segment."""
        return _by_segment("segment_sum", x, segments, count)

    @staticmethod
    def segment_max(x: Shape, segments: Shape, count: int) -> Shape:
        """Return a row for each segment."""
        return _by_segment("segment_max", x, segments, count)

    @staticmethod
    def argmax(x: Shape, axis: int) -> Shape:
        """Return integers below the length of the axis that is left out."""
        check_kind("argmax", x, "array")
        check_real("argmax", x)
        place = axis_of("argmax", x, axis)
        return _places((*x.dims[:place], *x.dims[place + 1 :]), x.dims[place])

    @staticmethod
    def top_k(x: Shape, k: int) -> tuple[Shape, Shape]:
        """Return values, and integers below the length of the last axis."""
        check_kind("top_k", x, "array")
        check_real("top_k", x)
        most = x.dims[axis_of("top_k", x, -1)]
        if layers.count("k", k) > most:
            msg = f"nn.top_k of {x!r}: k={k} is more than the {most} numbers of its last axis"
            raise LayoutError(msg)
        return x.of(*x.dims[:-1], k), _places((*x.dims[:-1], k), most)

    @staticmethod
    def stack(arrays: Iterable[Shape], axis: int) -> Shape:
        """Return a new axis as long as there are arrays."""
        parts = list(arrays)
        if not parts:
            msg = "nn.stack has nothing to join"
            raise LayoutError(msg)
        for part in parts:
            check_kind("stack", part, "array")
        check_alike("stack", *parts)
        if len({part.dims for part in parts}) > 1:
            msg = f"nn.stack of {', '.join(map(repr, parts))}: they must be of one shape"
            raise LayoutError(msg)
        first = parts[0]
        place = axis_of("stack", Shape((*first.dims, 1)), axis)
        found = first.of(*first.dims[:place], len(parts), *first.dims[place:])
        found.trained = any(part.trained for part in parts)
        return found.ranged(*parts)

    @staticmethod
    def split(x: Shape, sizes: Sequence[int], axis: int) -> list[Shape]:
        """Return the parts of these lengths."""
        check_kind("split", x, "array")
        place = axis_of("split", x, axis)
        if not isinstance(sizes, (tuple, list)) or sum(layers.count("sizes", size) for size in sizes) != x.dims[place]:
            msg = f"nn.split of {x!r} to {sizes!r}: it takes the lengths of all parts, together those of axis {axis}"
            raise LayoutError(msg)
        return [x.moved(*x.dims[:place], size, *x.dims[place + 1 :]) for size in sizes]

    @staticmethod
    def cumsum(x: Shape, axis: int) -> Shape:
        """Return the same shape."""
        check_kind("cumsum", x, "array")
        if x.boolean:
            check_real("cumsum", x)
        axis_of("cumsum", x, axis)
        return x.of(*x.dims)

    @staticmethod
    def max(x: Shape, axis: int | tuple[int, ...] | None = None) -> Shape:
        """Return what is left without these axes."""
        found = without("max", x, axis)
        check_real("max", x)
        return found

    @staticmethod
    def flip(x: Shape, axis: int) -> Shape:
        """Return the same shape."""
        check_kind("flip", x, "array")
        axis_of("flip", x, axis)
        return x.moved(*x.dims)

    @staticmethod
    def roll(x: Shape, shift: int, axis: int) -> Shape:
        """Return the same shape."""
        if isinstance(shift, bool) or not isinstance(shift, int):
            msg = f"nn.roll takes a whole number of places; this is {shift!r}"
            raise LayoutError(msg)
        check_kind("roll", x, "array")
        axis_of("roll", x, axis)
        return x.moved(*x.dims)

    @staticmethod
    def pad(x: Shape, widths: Sequence[tuple[int, int]], value: float = 0.0) -> Shape:
        """Return longer axes."""
        check_kind("pad", x, "array")
        check_real("pad", x)
        fits = isinstance(widths, (tuple, list)) and len(widths) == x.ndim
        if not fits or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in widths):  # noqa: PLR2004 - before, after
            msg = f"nn.pad of {x!r} by {widths!r}: it takes (before, after) for each axis"
            raise LayoutError(msg)
        if not _is_number(value) or not math.isfinite(value):
            msg = f"nn.pad fills with a finite number; this is {value!r}"
            raise LayoutError(msg)
        added = [sum(layers.count("widths", width, 0) for width in pair) for pair in widths]
        return x.of(*(length + more for length, more in zip(x.dims, added, strict=True)))

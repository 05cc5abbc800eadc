"""Elementwise functions, comparisons, choices, indices and joints in Jittor's own functions."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

import jittor as jt
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "EmbeddingBag",
    "RandomNormal",
    "abs",
    "arange",
    "argmax",
    "clip",
    "constant",
    "cos",
    "cumsum",
    "einsum",
    "elu",
    "equal",
    "exp",
    "flip",
    "gelu_tanh",
    "hard_sigmoid",
    "hard_swish",
    "leaky_relu",
    "less",
    "less_equal",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "max",
    "maximum",
    "minimum",
    "one_hot",
    "pad",
    "roll",
    "rsqrt",
    "segment_max",
    "segment_sum",
    "silu",
    "sin",
    "softplus",
    "split",
    "sqrt",
    "stack",
    "stop_gradient",
    "take",
    "take_along_axis",
    "to_float",
    "top_k",
    "where",
]


_LEAST = float(np.finfo(np.float32).min)
"""What the largest of no numbers is to Jittor."""


class ConstantArray:
    """An array that a Module keeps apart: every array of a module is taken for a parameter."""

    _known: ClassVar[WeakValueDictionary[int, ConstantArray]] = WeakValueDictionary()
    """Those that are alive, by the identity of their arrays."""

    def __init__(self, array: Any) -> None:
        """Take the array, which is alive as long as this is."""
        self.array = array
        self._known[id(array)] = self

    @classmethod
    def of(cls, value: Any) -> ConstantArray | None:
        """Return the constant that a value is, or that a Module has given the array of; None for anything else."""
        return value if isinstance(value, cls) else cls._known.get(id(value))


def constant(array: NDArray[Any]) -> ConstantArray:
    """Make Jittor's array: real numbers as float32, integers as int32."""
    dtype = {"i": np.int32, "f": np.float32}.get(array.dtype.kind, array.dtype)
    return ConstantArray(jt.array(array.astype(dtype)).stop_grad())


class EmbeddingBag(jt.nn.Embedding):
    """Sum or mean of a sample's rows."""

    def __init__(self, entries: int, features: int, mode: str) -> None:
        """Make the table (entries, features)."""
        super().__init__(entries, features)
        self._reduce = {"sum": jt.sum, "mean": jt.mean}[mode]

    def execute(self, x: Any) -> Any:
        """Take all rows and add them up: Jittor fuses both."""
        return self._reduce(super().execute(x), 1)


class RandomNormal(jt.Module):
    """Draws of Jittor's generator in training, zeros in evaluation."""

    def execute(self, x: Any) -> Any:
        """Draw in float32."""
        return jt.randn(tuple(x.shape), requires_grad=False) if self.is_training() else jt.zeros(tuple(x.shape))


# --- Element by element -----------------------------------------------------------------------------------------------

exp, log, sqrt, abs = jt.exp, jt.log, jt.sqrt, jt.abs  # noqa: A001 - the array API's name
sin, cos = jt.sin, jt.cos
less, less_equal, equal = operator.lt, operator.le, operator.eq
logical_and, logical_or, logical_not = jt.logical_and, jt.logical_or, jt.logical_not
silu, softplus = jt.nn.silu, jt.nn.softplus
maximum, minimum = jt.maximum, jt.minimum


def stop_gradient(x: Any) -> Any:
    """Return x in a variable of its own: Jittor's `stop_grad` would mark the one that others take, too."""
    return x.detach()


def rsqrt(x: Any) -> Any:
    """Return 1 / sqrt(x)."""
    return 1 / jt.sqrt(x)


def clip(x: Any, low: float, high: float) -> Any:
    """Return low below low, and high above high."""
    return jt.clamp(x, low, high)


def elu(x: Any) -> Any:
    """Return exp(x) - 1 below 0; Jittor's own takes exp above it, too, whose overflow leaves no slope beyond 88."""
    return jt.nn.relu(x) + jt.nn.elu(jt.minimum(x, 0.0))


def leaky_relu(x: Any, slope: float) -> Any:
    """Return slope * x below 0."""
    return jt.nn.leaky_relu(x, slope)


def gelu_tanh(x: Any) -> Any:
    """Return the approximation by tanh, written as x * sigmoid(2 y): Jittor's slope of tanh overflows beyond 44."""
    return x * jt.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))


def hard_sigmoid(x: Any) -> Any:
    """Return clip(x + 3, 0, 6) / 6, for which Jittor has no function."""
    return jt.nn.relu6(x + 3) / 6


def hard_swish(x: Any) -> Any:
    """Return x * hard_sigmoid(x)."""
    return x * hard_sigmoid(x)


def to_float(x: Any) -> Any:
    """Return real numbers."""
    return jt.float32(x)


def where(condition: Any, a: Any, b: Any) -> Any:
    """Choose between two, which Jittor takes in one shape."""
    arrays = [one for one in (condition, a, b) if isinstance(one, jt.Var)]
    shape = np.broadcast_shapes(*(tuple(one.shape) for one in arrays))
    dtype = next(one.dtype for one in (a, b) if isinstance(one, jt.Var))
    full = [one if isinstance(one, jt.Var) else jt.full(shape, one, dtype) for one in (a, b)]
    return jt.ternary(*(jt.broadcast(one, shape) if tuple(one.shape) != shape else one for one in (condition, *full)))


# --- Indices and joints -----------------------------------------------------------------------------------------------


def arange(stop: int) -> Any:
    """Return integers, as batches have them."""
    return jt.arange(stop)


def one_hot(x: Any, n: int) -> Any:
    """Return real numbers."""
    return jt.float32(jt.nn.one_hot(x, n))


def stack(arrays: Sequence[Any], axis: int) -> Any:
    """Join arrays along a new axis."""
    return jt.stack(list(arrays), axis)


def split(x: Any, sizes: Sequence[int], axis: int) -> Any:
    """Return the parts of these lengths, of which Jittor makes a tuple."""
    return list(jt.split(x, list(sizes), axis))


def take(table: Any, indices: Any, axis: int = 0) -> Any:
    """Return what stands at each index."""
    return table[(slice(None),) * (axis % table.ndim) + (indices,)]


def take_along_axis(x: Any, indices: Any, axis: int) -> Any:
    """Return one element for each index."""
    return jt.gather(x, axis % x.ndim, indices)


def segment_sum(x: Any, segments: Any, count: int) -> Any:
    """Return the sum of each segment's rows."""
    places = ["@e0(i0)", *(f"i{axis}" for axis in range(1, x.ndim))]
    return x.reindex_reduce("add", (count, *x.shape[1:]), places, extras=[segments])


def segment_max(x: Any, segments: Any, count: int) -> Any:
    """Return the largest of each segment's rows, and zeros where it has none, of which Jittor has the least number."""
    places = ["@e0(i0)", *(f"i{axis}" for axis in range(1, x.ndim))]
    found = x.reindex_reduce("maximum", (count, *x.shape[1:]), places, extras=[segments])
    return jt.ternary(found <= _LEAST, jt.zeros_like(found), found)


def argmax(x: Any, axis: int) -> Any:
    """Return the place of the largest along an axis, of equal ones the first."""
    return jt.argmax(x, axis % x.ndim)[0]


def top_k(x: Any, k: int) -> tuple[Any, Any]:
    """Return the largest k of the last axis, and their places."""
    values, places = jt.topk(x, k)
    return values, places


def einsum(formula: str, *arrays: Any) -> Any:
    """Multiply along the letters, and add up over those that the result lacks, by matrix products where it can."""
    return jt.linalg.einsum(formula, *arrays)


def cumsum(x: Any, axis: int) -> Any:
    """Return sums up to each element."""
    return jt.cumsum(x, axis % x.ndim)


def max(x: Any, axis: int | tuple[int, ...] | None = None) -> Any:  # noqa: A001 - the array API's name
    """Return the largest along axes, or of all."""
    return jt.max(x) if axis is None else jt.max(x, axis)


def flip(x: Any, axis: int) -> Any:
    """Return an axis the other way round."""
    return jt.flip(x, axis % x.ndim)


def roll(x: Any, shift: int, axis: int) -> Any:
    """Move elements along an axis, from its end to its start."""
    return jt.roll(x, shift, axis % x.ndim)


def pad(x: Any, widths: Sequence[tuple[int, int]], value: float = 0.0) -> Any:
    """Make axes longer; Jittor counts them from the last one, and its code for a fraction as their value is no C++."""
    sides = [width for pair in reversed(widths) for width in pair]
    padded = jt.nn.pad(x, sides)
    return padded if not value else padded + value * (1.0 - jt.nn.pad(jt.ones(tuple(x.shape)), sides))

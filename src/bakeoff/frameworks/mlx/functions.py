"""Elementwise functions, comparisons, choices, indices and joints in MLX's own functions."""

from __future__ import annotations

import operator
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

import mlx.core as mx
import mlx.nn
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


class ConstantArray:
    """An array that a Module keeps apart: MLX takes every array of a module for a parameter."""

    _known: ClassVar[WeakValueDictionary[int, ConstantArray]] = WeakValueDictionary()
    """Those that are alive, by the identity of their arrays."""

    def __init__(self, array: mx.array) -> None:
        """Take the array, which is alive as long as this is."""
        self.array = array
        self._known[id(array)] = self

    @classmethod
    def of(cls, value: Any) -> ConstantArray | None:
        """Return the constant that a value is, or that a Module has given the array of; None for anything else."""
        return value if isinstance(value, cls) else cls._known.get(id(value))


def constant(array: NDArray[Any]) -> ConstantArray:
    """Put an array on the device: real numbers as float32, integers as int32."""
    return ConstantArray(mx.array(array.astype({"i": np.int32, "f": np.float32}.get(array.dtype.kind, array.dtype))))


class EmbeddingBag(mlx.nn.Embedding):
    """Sum or mean of a sample's rows."""

    def __init__(self, entries: int, features: int, mode: str) -> None:
        """Make the table (entries, features)."""
        super().__init__(entries, features)
        self._reduce = {"sum": mx.sum, "mean": mx.mean}[mode]

    def __call__(self, x: mx.array) -> mx.array:
        """Take all rows and add them up."""
        return self._reduce(super().__call__(x), axis=1)


class RandomNormal(mlx.nn.Module):
    """Draws of MLX's generator in training, zeros in evaluation."""

    def __call__(self, x: mx.array) -> mx.array:
        """Draw in the type of x."""
        return mx.random.normal(x.shape, dtype=x.dtype) if self.training else mx.zeros_like(x)


# --- Element by element -----------------------------------------------------------------------------------------------

exp, log, sqrt, rsqrt, abs = mx.exp, mx.log, mx.sqrt, mx.rsqrt, mx.abs  # noqa: A001 - the array API's name
sin, cos = mx.sin, mx.cos
stop_gradient = mx.stop_gradient
less, less_equal, equal = operator.lt, operator.le, operator.eq
logical_and, logical_or, logical_not = mx.logical_and, mx.logical_or, mx.logical_not
silu, softplus = mlx.nn.silu, mlx.nn.softplus
gelu_tanh, hard_swish = mlx.nn.gelu_approx, mlx.nn.hardswish
maximum, minimum, where = mx.maximum, mx.minimum, mx.where


def clip(x: mx.array, low: float, high: float) -> mx.array:
    """Return low below low, and high above high."""
    return mx.clip(x, low, high)


def elu(x: mx.array) -> mx.array:
    """Return exp(x) - 1 below 0; MLX's own takes exp above it, too, whose overflow leaves no slope beyond 88."""
    return mlx.nn.relu(x) + mlx.nn.elu(mx.minimum(x, 0.0))


def leaky_relu(x: mx.array, slope: float) -> mx.array:
    """Return slope * x below 0."""
    return mlx.nn.leaky_relu(x, slope)


def hard_sigmoid(x: mx.array) -> mx.array:
    """Return clip(x + 3, 0, 6) / 6, for which MLX has no function."""
    return mlx.nn.relu6(x + 3) / 6


def to_float(x: mx.array) -> mx.array:
    """Return real numbers."""
    return x.astype(mx.float32)


# --- Indices and joints -----------------------------------------------------------------------------------------------


def arange(stop: int) -> mx.array:
    """Return integers, as batches have them."""
    return mx.arange(stop, dtype=mx.int32)


def one_hot(x: mx.array, n: int) -> mx.array:
    """Return real numbers, by comparison: MLX has no function for it."""
    return (x[..., None] == mx.arange(n)).astype(mx.float32)


def stack(arrays: Sequence[mx.array], axis: int) -> mx.array:
    """Join arrays along a new axis."""
    return mx.stack(list(arrays), axis)


def split(x: mx.array, sizes: Sequence[int], axis: int) -> list[mx.array]:
    """Return the parts of these lengths; MLX takes the places where they meet."""
    return mx.split(x, list(accumulate(sizes))[:-1], axis)


def take(table: mx.array, indices: mx.array, axis: int = 0) -> mx.array:
    """Return what stands at each index."""
    return mx.take(table, indices, axis)


def take_along_axis(x: mx.array, indices: mx.array, axis: int) -> mx.array:
    """Return one element for each index."""
    return mx.take_along_axis(x, indices, axis)


def segment_sum(x: mx.array, segments: mx.array, count: int) -> mx.array:
    """Return the sum of each segment's rows."""
    return mx.zeros((count, *x.shape[1:]), x.dtype).at[segments].add(x)


def segment_max(x: mx.array, segments: mx.array, count: int) -> mx.array:
    """Return the largest of each segment's rows, and zeros where it has none."""
    found = mx.full((count, *x.shape[1:]), -mx.inf, x.dtype).at[segments].maximum(x)
    return mx.where(found == -mx.inf, 0.0, found)


def argmax(x: mx.array, axis: int) -> mx.array:
    """Return the place of the largest along an axis, of equal ones the first."""
    return mx.stop_gradient(mx.argmax(x, axis=axis)).astype(mx.int32)


def top_k(x: mx.array, k: int) -> tuple[mx.array, mx.array]:
    """Return the largest k of the last axis, and their places, by sorting these: mx.topk gives values in no order."""
    places = mx.stop_gradient(mx.argsort(-x, axis=-1)[..., :k])
    return mx.take_along_axis(x, places, axis=-1), places.astype(mx.int32)


def einsum(formula: str, *arrays: mx.array) -> mx.array:
    """Multiply along the letters, and add up over those that the result lacks."""
    return mx.einsum(formula, *arrays)


def cumsum(x: mx.array, axis: int) -> mx.array:
    """Return sums up to each element."""
    return mx.cumsum(x, axis=axis)


def max(x: mx.array, axis: int | tuple[int, ...] | None = None) -> mx.array:  # noqa: A001 - the array API's name
    """Return the largest along axes, or of all."""
    return mx.max(x, axis=axis)


def flip(x: mx.array, axis: int) -> mx.array:
    """Return an axis the other way round, by a slice: MLX has no function for it."""
    return x[(slice(None),) * (axis % x.ndim) + (slice(None, None, -1),)]


def roll(x: mx.array, shift: int, axis: int) -> mx.array:
    """Move elements along an axis, from its end to its start."""
    return mx.roll(x, shift, axis)


def pad(x: mx.array, widths: Sequence[tuple[int, int]], value: float = 0.0) -> mx.array:
    """Make axes longer."""
    return mx.pad(x, list(widths), constant_values=value)

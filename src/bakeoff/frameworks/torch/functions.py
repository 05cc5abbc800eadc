"""Elementwise functions, comparisons, choices, indices and joints in PyTorch's own functions.

Arrays that are made within a step are where `settle` says: on the step's device, real numbers as its parameters are.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F

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

_LINEAR = 40.0
"""From where on PyTorch has softplus(x) as x: by default from 20, where exp(-20) = 2e-9 is lost of float64."""


class _Settled:
    """Where arrays are made."""

    device = "cpu"
    dtype = torch.float32


def settle(device: str, dtype: torch.dtype) -> None:
    """Set the device of what is made within a step, and the type of real numbers."""
    _Settled.device, _Settled.dtype = device, dtype


def constant(array: NDArray[Any]) -> torch.nn.Buffer:
    """Make a buffer, which goes to the device and into the precision with its module; integers as batches have them."""
    dtype = {"i": torch.int64, "f": _Settled.dtype}.get(array.dtype.kind)
    return torch.nn.Buffer(torch.tensor(array, dtype=dtype), persistent=False)


class EmbeddingBag(torch.nn.EmbeddingBag):
    """Sum or mean of a sample's rows."""

    def __init__(self, entries: int, features: int, mode: str) -> None:
        """Take the vocabulary's arguments, which mean the same here."""
        super().__init__(entries, features, mode=mode)


class RandomNormal(torch.nn.Module):
    """Draws of the device's generator in training, zeros in evaluation."""

    def forward(self, x: Any) -> Any:
        """Draw in the type of x."""
        return torch.randn_like(x) if self.training else torch.zeros_like(x)


# --- Element by element -----------------------------------------------------------------------------------------------

exp, log, sqrt, rsqrt, abs = torch.exp, torch.log, torch.sqrt, torch.rsqrt, torch.abs  # noqa: A001 - the array API's name
sin, cos = torch.sin, torch.cos
less, less_equal, equal = operator.lt, operator.le, operator.eq
logical_and, logical_or, logical_not = torch.logical_and, torch.logical_or, torch.logical_not
silu, elu, hard_swish = F.silu, F.elu, F.hardswish
where = torch.where


def stop_gradient(x: Any) -> Any:
    """Return x, as autograd knows nothing of it."""
    return x.detach()


def clip(x: Any, low: float, high: float) -> Any:
    """Return low below low, and high above high."""
    return torch.clamp(x, low, high)


def hard_sigmoid(x: Any) -> Any:
    """Return clip(x + 3, 0, 6) / 6.

    The derivative of PyTorch's own has a sixth in float32 even in float64 (2.13: off by 3e-8 of it), and so would every
    reference: there it is made of ReLU6.
    """
    return F.relu6(x + 3.0) / 6.0 if x.dtype == torch.float64 else F.hardsigmoid(x)


def leaky_relu(x: Any, slope: float) -> Any:
    """Return slope * x below 0."""
    return F.leaky_relu(x, slope)


def gelu_tanh(x: Any) -> Any:
    """Return the approximation by tanh."""
    return F.gelu(x, approximate="tanh")


def softplus(x: Any) -> Any:
    """Return log(1 + exp(x))."""
    return F.softplus(x, threshold=_LINEAR)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two arrays, or of an array and a number, for which PyTorch has a function of its own."""
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return torch.maximum(a, b)
    return torch.clamp(a, min=b) if isinstance(a, torch.Tensor) else torch.clamp(b, min=a)


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two arrays, or of an array and a number."""
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return torch.minimum(a, b)
    return torch.clamp(a, max=b) if isinstance(a, torch.Tensor) else torch.clamp(b, max=a)


def to_float(x: Any) -> Any:
    """Return real numbers."""
    return x.to(_Settled.dtype)


# --- Indices and joints -----------------------------------------------------------------------------------------------


def arange(stop: int) -> Any:
    """Return integers, as batches have them."""
    return torch.arange(stop, device=_Settled.device)


def one_hot(x: Any, n: int) -> Any:
    """Return real numbers."""
    return F.one_hot(x, n).to(_Settled.dtype)


def stack(arrays: Any, axis: int) -> Any:
    """Join arrays along a new axis."""
    return torch.stack(tuple(arrays), axis)


def split(x: Any, sizes: Sequence[int], axis: int) -> Any:
    """Return the parts of these lengths, of which PyTorch makes a tuple."""
    return list(torch.split(x, list(sizes), axis))


def take(table: Any, indices: Any, axis: int = 0) -> Any:
    """Return what stands at each index: rows of a matrix by PyTorch's lookup, all else by its selection."""
    if axis in (0, -table.ndim) and table.ndim == 2:  # noqa: PLR2004 - rows and columns
        return F.embedding(indices, table)
    axis %= table.ndim
    found = torch.index_select(table, axis, indices.reshape(-1))
    return found.reshape(*table.shape[:axis], *indices.shape, *table.shape[axis + 1 :])


def take_along_axis(x: Any, indices: Any, axis: int) -> Any:
    """Return one element for each index."""
    return torch.gather(x, axis, indices)


def segment_sum(x: Any, segments: Any, count: int) -> Any:
    """Return the sum of each segment's rows."""
    return torch.index_add(x.new_zeros((count, *x.shape[1:])), 0, segments, x)


def segment_max(x: Any, segments: Any, count: int) -> Any:
    """Return the largest of each segment's rows, and zeros where it has none."""
    rows = segments.reshape(-1, *[1] * (x.ndim - 1)).expand(x.shape)
    least = x.new_full((count, *x.shape[1:]), -math.inf)
    found = least.scatter_reduce(0, rows, x, "amax")
    return torch.where(found == -math.inf, 0.0, found)


def argmax(x: Any, axis: int) -> Any:
    """Return the place of the largest along an axis, of equal ones the first."""
    return torch.argmax(x, axis)


def top_k(x: Any, k: int) -> tuple[Any, Any]:
    """Return the largest k of the last axis, and their places."""
    values, places = torch.topk(x, k)
    return values, places


def einsum(formula: str, *arrays: Any) -> Any:
    """Multiply along the letters, and add up over those that the result lacks."""
    return torch.einsum(formula, *arrays)


def cumsum(x: Any, axis: int) -> Any:
    """Return sums up to each element."""
    return torch.cumsum(x, axis)


def max(x: Any, axis: int | tuple[int, ...] | None = None) -> Any:  # noqa: A001 - the array API's name
    """Return the largest along axes, or of all."""
    return torch.amax(x, () if axis is None else axis)


def flip(x: Any, axis: int) -> Any:
    """Return an axis the other way round."""
    return torch.flip(x, (axis,))


def roll(x: Any, shift: int, axis: int) -> Any:
    """Move elements along an axis, from its end to its start."""
    return torch.roll(x, shift, axis)


def pad(x: Any, widths: Sequence[tuple[int, int]], value: float = 0.0) -> Any:
    """Make axes longer; PyTorch counts them from the last one."""
    return F.pad(x, [width for pair in reversed(widths) for width in pair], value=value)

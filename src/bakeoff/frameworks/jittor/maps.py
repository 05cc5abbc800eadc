"""What Jittor does with feature maps, (batch, channels, height, width), beside convolutions."""

# ruff: noqa: FBT001, FBT002 - `count_padding` and `ceil_mode` are positional in the vocabulary

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import jittor as jt
import numpy as np

from bakeoff.frameworks import sampling
from bakeoff.frameworks.sampling import Pair, Sides, pair

if TYPE_CHECKING:
    from collections.abc import Sequence


_LOWEST = float(np.finfo(np.float32).min)


class GroupNorm(jt.nn.GroupNorm):
    """Normalise each group of channels of a sample."""

    canonical: ClassVar[dict[str, str]] = {"weight": "scale"}

    def __init__(self, groups: int, features: int, epsilon: float = 1e-5) -> None:
        """Take the vocabulary's arguments."""
        super().__init__(groups, features, eps=epsilon)

    def execute(self, x: Any) -> Any:
        """Normalise; of a sequence Jittor has the features before the length."""
        if x.ndim == 3:  # noqa: PLR2004 - batch, length, features
            return jt.transpose(super().execute(jt.transpose(x, 0, 2, 1)), 0, 2, 1)
        return super().execute(x)


class ChannelNorm(jt.nn.LayerNorm):
    """Normalise over the channels at each place: brought to the end and back."""

    canonical: ClassVar[dict[str, str]] = {"weight": "scale"}

    def __init__(self, features: int, epsilon: float = 1e-6) -> None:
        """Take the vocabulary's arguments."""
        super().__init__(features, eps=epsilon)

    def execute(self, x: Any) -> Any:
        """Normalise."""
        return jt.transpose(super().execute(jt.transpose(x, 0, 2, 3, 1)), 0, 3, 1, 2)


class RMSNorm(jt.Module):
    """Divide by the root of the mean of squares over the last axis; Jittor has no layer for it."""

    canonical: ClassVar[dict[str, str]] = {"weight": "scale"}

    def __init__(self, features: int, epsilon: float = 1e-6) -> None:
        """Take the vocabulary's arguments."""
        self.weight = jt.ones((features,))
        self.epsilon = epsilon

    def execute(self, x: Any) -> Any:
        """Normalise."""
        return x / jt.sqrt(jt.mean(x * x, dim=-1, keepdims=True) + self.epsilon) * self.weight


class StochasticDepth(jt.nn.DropPath):
    """Drop whole samples at `rate` in training, do nothing in evaluation."""

    def __init__(self, rate: float) -> None:
        """Take the vocabulary's argument; the network sets whether it is in training."""
        super().__init__(rate)


def max_pool2d(x: Any, kernel: Pair, stride: Pair | None = None, padding: Pair = 0, ceil_mode: bool = False) -> Any:
    """Largest value in each window; padding never wins.

    Jittor refuses a map that is not larger than the window: such a one gets rows and columns that never win, and what
    they add to the output is cut off. In `ceil_mode` so is the last window of Jittor's that begins behind the map.
    """
    function = functools.partial(jt.nn.max_pool2d, ceil_mode=ceil_mode)
    return _pooled(function, x, _windows_of(x, kernel, stride, padding), (0, 0), _LOWEST, ceil_mode)


def avg_pool2d(
    x: Any,
    kernel: Pair,
    stride: Pair | None = None,
    padding: Pair = 0,
    count_padding: bool = False,
    ceil_mode: bool = False,
) -> Any:
    """Mean of each window, with the padded zeros, which Jittor counts wherever it rounds the number of windows down.

    Jittor refuses a map that is not larger than the window: such a one gets zeros, which are not counted either. In
    its own `ceil_mode` it counts what lies behind the padding, too, so the map gets those zeros and is rounded down.
    """
    windows = _windows_of(x, kernel, stride, padding)
    ends = sampling.ends(*windows, ceil_mode=ceil_mode)
    pooled = _pooled(jt.nn.avg_pool2d, x, windows, ends, 0.0, ceil_mode)
    if not any(ends) and (count_padding or not any(windows.padding)):
        return pooled
    return pooled * _shares(windows, ends, windows.padding if count_padding else (0, 0))


def max_pool1d(x: Any, kernel: int, stride: int | None = None, padding: int = 0, ceil_mode: bool = False) -> Any:
    """Largest value in each window along the length: of maps of one channel, whose columns are the features."""
    return max_pool2d(x.unsqueeze(1), (kernel, 1), (stride or kernel, 1), (padding, 0), ceil_mode).squeeze(1)


class _Windows(NamedTuple):
    """The windows of a pool, each by height and width."""

    lengths: tuple[int, int]
    """Of the map."""
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int]


def _windows_of(x: Any, kernel: Pair, stride: Pair | None, padding: Pair) -> _Windows:
    """Return the windows over a map."""
    return _Windows(tuple(x.shape[2:]), pair(kernel), pair(stride or kernel), pair(padding))


def _pooled(function: Any, x: Any, windows: _Windows, ends: sampling.Ends, fill: float, ceil_mode: bool) -> Any:
    """Pool a map, longer by `ends` and larger than the window, and cut off the windows that this adds."""
    sizes = zip(windows.lengths, windows.kernel, ends, strict=True)
    more = [max(end, window + 1 - length) for length, window, end in sizes]
    if any(more):
        x = jt.nn.pad(x, [0, more[1], 0, more[0]], value=fill)
    pooled = function(x, *windows[1:])
    rows, columns = sampling.places(*windows, ceil_mode=ceil_mode)
    return pooled if tuple(pooled.shape[2:]) == (rows, columns) else pooled[:, :, :rows, :columns]


@functools.cache
def _shares(windows: _Windows, ends: sampling.Ends, edges: tuple[int, int]) -> Any:
    """Return by how much a window's mean with its padding is less than that of what counts, the map and its edges."""
    axes = zip(*windows, ends, edges, strict=True)
    counts = [sampling.counted(*axis, end=end, edge=edge) for *axis, end, edge in axes]
    return _constant(math.prod(windows.kernel) / np.multiply.outer(*counts))


def _constant(values: Any) -> Any:
    """Return an array that is no parameter."""
    return jt.array(np.asarray(values, np.float32)).stop_grad().sync()


def adaptive_avg_pool2d(x: Any, size: Pair) -> Any:
    """Mean of each of so many windows that cover the map: those of a pool where the size divides the map's.

    Jittor's own windows are of one size each, which are others than PyTorch's where they do not divide.
    """
    lengths, sizes = tuple(x.shape[2:]), pair(size)
    if not any(length % wanted for length, wanted in zip(lengths, sizes, strict=True)):
        return avg_pool2d(x, (lengths[0] // sizes[0], lengths[1] // sizes[1]))
    rows, columns = (_windows(length, wanted) for length, wanted in zip(lengths, sizes, strict=True))
    return jt.matmul(rows, jt.matmul(x, jt.transpose(columns, 1, 0)))


@functools.cache
def _windows(length: int, size: int) -> Any:
    """Return the matrix of an axis."""
    return _constant(sampling.shares(length, size))


def resize(x: Any, size: Pair, method: str) -> Any:
    """Another height and width, by half-pixel centres and without antialiasing.

    Jittor's own for "nearest" rounds its places in float32; whole factors are whole numbers here.
    """
    (height, width), (rows, columns) = x.shape[2:], pair(size)
    if method == "bilinear":
        return jt.nn.resize(x, (rows, columns), mode="bilinear")
    shape = [*x.shape[:2], rows, columns]
    return x.reindex(shape, ["i0", "i1", f"i2/{rows // height}", f"i3/{columns // width}"])


def map_size(x: Any) -> tuple[int, int]:
    """Return a map's height and width."""
    height, width = x.shape[-2:]
    return int(height), int(width)


def pad2d(x: Any, sides: Sides, mode: str = "zeros") -> Any:
    """A map with more around it."""
    return jt.nn.pad(x, [*sides[1], *sides[0]], "constant" if mode == "zeros" else mode)


def from_tokens(x: Any, size: Pair) -> Any:
    """(batch, height * width, channels) to a feature map."""
    return jt.reshape(jt.transpose(x, 0, 2, 1), (x.shape[0], x.shape[2], *pair(size)))


def per_channel(v: Any) -> Any:
    """(channels,) or (batch, channels) to what broadcasts over a map."""
    return jt.reshape(v, (-1, v.shape[-1], 1, 1))


def split_channels(x: Any, sizes: Sequence[int]) -> Any:
    """Part a map's channels."""
    return list(jt.split(x, list(sizes), 1))


def channel_shuffle(x: Any, groups: int) -> Any:
    """Put the first channels of all groups first, then the second ones, and so on."""
    batch, channels, height, width = x.shape
    parted = jt.reshape(x, (batch, groups, channels // groups, height, width))
    return jt.reshape(jt.transpose(parted, 0, 2, 1, 3, 4), x.shape)

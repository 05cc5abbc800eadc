"""What MLX does with feature maps, (batch, height, width, channels), beside convolutions."""

# ruff: noqa: FBT001, FBT002 - `count_padding` and `ceil_mode` are positional in the vocabulary

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import mlx.core as mx
import mlx.nn
import numpy as np

from bakeoff.frameworks import sampling
from bakeoff.frameworks.sampling import Pair, Sides, pair

if TYPE_CHECKING:
    from collections.abc import Sequence


class GroupNorm(mlx.nn.GroupNorm):
    """Normalise each group of channels of a sample; MLX's own groups are not of channels that are side by side."""

    canonical: ClassVar[dict[str, str]] = {"weight": "scale"}

    def __init__(self, groups: int, features: int, epsilon: float = 1e-5) -> None:
        """Take groups of neighbouring channels, as PyTorch does."""
        super().__init__(groups, features, eps=epsilon, pytorch_compatible=True)


class ChannelNorm(mlx.nn.LayerNorm):
    """Normalise over the channels at each place: channels are the last axis, over which MLX's LayerNorm goes."""

    canonical: ClassVar[dict[str, str]] = {"weight": "scale"}

    def __init__(self, features: int, epsilon: float = 1e-6) -> None:
        """Take the vocabulary's arguments."""
        super().__init__(features, eps=epsilon)


class RMSNorm(mlx.nn.RMSNorm):
    """Divide by the root of the mean of squares over the last axis."""

    canonical: ClassVar[dict[str, str]] = {"weight": "scale"}

    def __init__(self, features: int, epsilon: float = 1e-6) -> None:
        """Take the vocabulary's arguments."""
        super().__init__(features, eps=epsilon)


class StochasticDepth(mlx.nn.Module):
    """Drop whole samples at `rate` in training, do nothing in evaluation; MLX has no layer for it."""

    def __init__(self, rate: float) -> None:
        """Take the vocabulary's argument."""
        super().__init__()
        self._kept = 1 - rate

    def __call__(self, x: mx.array) -> mx.array:
        """Multiply every sample by 0 or by 1 / (1 - rate), as MLX's Dropout does with every element."""
        if not self.training or self._kept == 1:
            return x
        mask = mx.random.bernoulli(self._kept, (x.shape[0], *[1] * (x.ndim - 1)))
        return (1 / self._kept) * mask * x


def max_pool2d(
    x: mx.array, kernel: Pair, stride: Pair | None = None, padding: Pair = 0, ceil_mode: bool = False
) -> mx.array:
    """Largest of each window; MLX pads with minus infinity, which `ceil_mode` needs more of at the ends."""
    ends = sampling.ends(x.shape[1:3], kernel, stride or kernel, padding, ceil_mode=ceil_mode)
    if any(ends):
        x, padding = _around(x, pair(padding), ends, -math.inf), 0
    return _pool(mlx.nn.MaxPool2d, kernel, stride, padding)(x)


def avg_pool2d(
    x: mx.array,
    kernel: Pair,
    stride: Pair | None = None,
    padding: Pair = 0,
    count_padding: bool = False,
    ceil_mode: bool = False,
) -> mx.array:
    """Mean of each window, with the padded zeros, which MLX counts, or without them."""
    height, width = x.shape[1:3]
    windows, steps, sides = pair(kernel), pair(stride or kernel), pair(padding)
    ends = sampling.ends((height, width), windows, steps, sides, ceil_mode=ceil_mode)
    if any(ends):
        x, padding = _around(x, sides, ends, 0.0), 0
    means = _pool(mlx.nn.AvgPool2d, kernel, stride, padding)(x)
    if not any(ends) and (count_padding or not any(sides)):
        return means
    return means / _counted(windows, steps, sides, (height, width), ends, sides if count_padding else (0, 0))


def max_pool1d(
    x: mx.array, kernel: int, stride: int | None = None, padding: int = 0, ceil_mode: bool = False
) -> mx.array:
    """Largest of each window along the length."""
    end = sampling.end(x.shape[1], kernel, stride or kernel, padding) if ceil_mode else 0
    if end:
        x, padding = mx.pad(x, [(0, 0), (padding, padding + end), (0, 0)], constant_values=-math.inf), 0
    return _pool(mlx.nn.MaxPool1d, kernel, stride, padding)(x)


def _around(x: mx.array, sides: tuple[int, int], ends: tuple[int, int], value: float) -> mx.array:
    """Return a map with so much of a value on opposite sides, and more at its ends, which MLX's layers do not pad."""
    each = [(side, side + end) for side, end in zip(sides, ends, strict=True)]
    return mx.pad(x, [(0, 0), *each, (0, 0)], constant_values=value)


@cache
def _pool(layer: Any, kernel: Pair, stride: Pair | None, padding: Pair) -> Any:
    """Return MLX's layer for a pooling: it has no function for it, and making one at every call would cost a step."""
    return layer(kernel, stride=stride, padding=padding)


@cache
def _counted(
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int],
    lengths: tuple[int, int],
    ends: tuple[int, int],
    edges: tuple[int, int],
) -> mx.array:
    """Return the share of each window that counts, the map and its edges, (1, height, width, 1) of the pooled map."""
    sides = zip(lengths, kernel, stride, padding, ends, edges, strict=True)
    rows, columns = (sampling.counted(*axis, end=end, edge=edge) for *axis, end, edge in sides)
    return mx.array((np.outer(rows, columns) / math.prod(kernel))[None, :, :, None].astype(np.float32))


def adaptive_avg_pool2d(x: mx.array, size: Pair) -> mx.array:
    """Mean of each of so many windows that cover the map: those of a pool where the size divides the map's."""
    lengths, sizes = x.shape[1:3], pair(size)
    if not any(length % wanted for length, wanted in zip(lengths, sizes, strict=True)):
        return avg_pool2d(x, (lengths[0] // sizes[0], lengths[1] // sizes[1]))
    rows, columns = (_shares(length, wanted) for length, wanted in zip(lengths, sizes, strict=True))
    return mx.einsum("bhwc,yh,xw->byxc", x, rows, columns)


@cache
def _shares(length: int, size: int) -> mx.array:
    """Return the matrix of an axis."""
    return mx.array(sampling.shares(length, size).astype(np.float32))


def resize(x: mx.array, size: Pair, method: str) -> mx.array:
    """Another height and width, by half-pixel centres and without antialiasing."""
    return _upsample(x.shape[1:3], pair(size), {"nearest": "nearest", "bilinear": "linear"}[method])(x)


@cache
def _upsample(lengths: tuple[int, int], sizes: tuple[int, int], mode: Any) -> Any:
    """Return MLX's layer; it takes factors, and rounds a length times its factor down."""
    factors = (wanted / length for length, wanted in zip(lengths, sizes, strict=True))
    exact = [
        factor if int(factor * length) == wanted else math.nextafter(factor, math.inf)
        for factor, length, wanted in zip(factors, lengths, sizes, strict=True)
    ]
    return mlx.nn.Upsample((exact[0], exact[1]), mode=mode)


def map_size(x: mx.array) -> tuple[int, int]:
    """Return a map's height and width."""
    height, width = x.shape[-3:-1]
    return int(height), int(width)


def pad2d(x: mx.array, sides: Sides, mode: str = "zeros") -> mx.array:
    """A map with more around it."""
    return mx.pad(x, [(0, 0), *sides, (0, 0)], {"zeros": "constant", "replicate": "edge"}.get(mode, mode))


def from_tokens(x: mx.array, size: Pair) -> mx.array:
    """(batch, height * width, channels) to a feature map."""
    return mx.unflatten(x, 1, pair(size))


def per_channel(v: mx.array) -> mx.array:
    """(channels,) or (batch, channels) to what broadcasts over a map."""
    return mx.reshape(v, (-1, 1, 1, v.shape[-1]))


def split_channels(x: mx.array, sizes: Sequence[int]) -> Any:
    """Part a map's channels; MLX takes the places of the cuts."""
    return mx.split(x, list(itertools.accumulate(sizes))[:-1], axis=-1)


def channel_shuffle(x: mx.array, groups: int) -> mx.array:
    """Put the first channels of all groups first, then the second ones, and so on."""
    return mx.flatten(mx.unflatten(x, -1, (groups, -1)).swapaxes(-1, -2), -2)

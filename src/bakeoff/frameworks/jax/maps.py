"""What flax and JAX do with feature maps, (batch, height, width, channels), beside convolutions."""

# ruff: noqa: FBT001, FBT002 - `count_padding` and `ceil_mode` are positional in the vocabulary

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from flax import nnx

from bakeoff.frameworks import sampling
from bakeoff.frameworks.jax import variance
from bakeoff.frameworks.sampling import Pair, Sides, pair

if TYPE_CHECKING:
    from collections.abc import Sequence


class GroupNorm(nnx.GroupNorm):
    """Normalise each group of channels of a sample."""

    def __init__(self, groups: int, features: int, epsilon: float = 1e-5) -> None:
        """Hand on epsilon: flax's own default is 1e-6."""
        fast = variance.is_fast()
        super().__init__(features, num_groups=groups, epsilon=epsilon, use_fast_variance=fast, rngs=nnx.Rngs(0))


class ChannelNorm(nnx.LayerNorm):
    """Normalise over the channels at each place: channels are the last axis, over which flax's LayerNorm goes."""

    def __init__(self, features: int, epsilon: float = 1e-6) -> None:
        """Take the vocabulary's arguments."""
        super().__init__(features, epsilon=epsilon, use_fast_variance=variance.is_fast(), rngs=nnx.Rngs(0))


class RMSNorm(nnx.RMSNorm):
    """Divide by the root of the mean of squares over the last axis."""

    def __init__(self, features: int, epsilon: float = 1e-6) -> None:
        """Take the vocabulary's arguments."""
        super().__init__(features, epsilon=epsilon, rngs=nnx.Rngs(0))


def max_pool2d(
    x: jax.Array, kernel: Pair, stride: Pair | None = None, padding: Pair = 0, ceil_mode: bool = False
) -> jax.Array:
    """Return the maxima of windows; flax pads with -inf, at the ends by more where windows are cut there."""
    ends = sampling.ends(x.shape[1:3], kernel, stride or kernel, padding, ceil_mode=ceil_mode)
    return nnx.max_pool(x, pair(kernel), _strides(kernel, stride), _padding(padding, ends))


def avg_pool2d(
    x: jax.Array,
    kernel: Pair,
    stride: Pair | None = None,
    padding: Pair = 0,
    count_padding: bool = False,
    ceil_mode: bool = False,
) -> jax.Array:
    """Return the means of windows, with or without the padding; unpadded windows need no counts.

    What `ceil_mode` adds behind the padding is counted nowhere: padding that is counted is a part of the map then.
    """
    ends = sampling.ends(x.shape[1:3], kernel, stride or kernel, padding, ceil_mode=ceil_mode)
    if any(ends) and count_padding and any(pair(padding)):
        x, padding = jnp.pad(x, ((0, 0), *_padding(padding), (0, 0))), 0
    counts = not any(ends) and (count_padding or not any(pair(padding)))
    return nnx.avg_pool(x, pair(kernel), _strides(kernel, stride), _padding(padding, ends), count_include_pad=counts)


def max_pool1d(
    x: jax.Array, kernel: int, stride: int | None = None, padding: int = 0, ceil_mode: bool = False
) -> jax.Array:
    """Return the maxima of windows along the length."""
    step = kernel if stride is None else stride
    end = sampling.end(x.shape[1], kernel, step, padding) if ceil_mode else 0
    return nnx.max_pool(x, (kernel,), (step,), ((padding, padding + end),))


def adaptive_avg_pool2d(x: jax.Array, size: Pair) -> jax.Array:
    """Return the means of windows that cover the map: those of a pool where the size divides the map's."""
    lengths, sizes = x.shape[1:3], pair(size)
    if not any(length % wanted for length, wanted in zip(lengths, sizes, strict=True)):
        return avg_pool2d(x, (lengths[0] // sizes[0], lengths[1] // sizes[1]))
    return _mapped(x, sampling.shares(lengths[0], sizes[0]), sampling.shares(lengths[1], sizes[1]))


def _mapped(x: jax.Array, rows: Any, columns: Any) -> jax.Array:
    """Multiply height and width by a matrix each."""
    return jnp.einsum("bhwc,yh,xw->byxc", x, jnp.asarray(rows, x.dtype), jnp.asarray(columns, x.dtype))


def resize(x: jax.Array, size: Pair, method: str) -> jax.Array:
    """Return another height and width, by half-pixel centres; JAX would blur first where a map becomes smaller."""
    return jax.image.resize(x, (x.shape[0], *pair(size), x.shape[3]), method, antialias=False)


def map_size(x: jax.Array) -> tuple[int, int]:
    """Return a map's height and width."""
    height, width = x.shape[-3:-1]
    return int(height), int(width)


def pad2d(x: jax.Array, sides: Sides, mode: str = "zeros") -> jax.Array:
    """Return a map with more around it."""
    return jnp.pad(x, ((0, 0), *sides, (0, 0)), {"zeros": "constant", "replicate": "edge"}.get(mode, mode))


def from_tokens(x: jax.Array, size: Pair) -> jax.Array:
    """Return (batch, height * width, channels) as a feature map."""
    return jnp.reshape(x, (x.shape[0], *pair(size), x.shape[2]))


def per_channel(v: jax.Array) -> jax.Array:
    """Return (channels,) or (batch, channels) as what broadcasts over a map."""
    return jnp.reshape(v, (-1, 1, 1, v.shape[-1]))


def split_channels(x: jax.Array, sizes: Sequence[int]) -> list[jax.Array]:
    """Return the parts of a map's channels; JAX takes the places of the cuts."""
    return jnp.split(x, list(itertools.accumulate(sizes))[:-1], axis=-1)


def channel_shuffle(x: jax.Array, groups: int) -> jax.Array:
    """Return the first channels of all groups first, then the second ones, and so on."""
    parted = jnp.reshape(x, (*x.shape[:-1], groups, -1))
    return jnp.reshape(jnp.swapaxes(parted, -1, -2), x.shape)


def _strides(kernel: Pair, stride: Pair | None) -> tuple[int, int]:
    """Return the strides of a pool; None is the kernel, where flax would take 1."""
    return pair(kernel if stride is None else stride)


def _padding(padding: Pair, ends: tuple[int, int] = (0, 0)) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the same padding on opposite sides, but for what the ends get more."""
    vertical, horizontal = pair(padding)
    return (vertical, vertical + ends[0]), (horizontal, horizontal + ends[1])

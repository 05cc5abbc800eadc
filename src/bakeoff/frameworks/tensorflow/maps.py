"""What Keras and TensorFlow do with feature maps, (batch, height, width, channels), beside convolutions."""

# ruff: noqa: FBT001, FBT002 - `count_padding` and `ceil_mode` are positional in the vocabulary

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import keras
import tensorflow as tf

from bakeoff.frameworks import sampling
from bakeoff.frameworks.sampling import Pair, Sides, pair
from bakeoff.frameworks.tensorflow.padding import around, padded

if TYPE_CHECKING:
    from collections.abc import Sequence


class GroupNorm(keras.layers.GroupNormalization):
    """Normalise each group of channels of a sample."""

    attributes: ClassVar[dict[str, str]] = {"scale": "gamma", "bias": "beta"}

    def __init__(self, groups: int, features: int, epsilon: float = 1e-5) -> None:
        """Build the layer."""
        super().__init__(groups, axis=-1, epsilon=epsilon)
        self.build((None, features))
        self.input_spec = None  # Keras would take no other rank than the one that it was built for


class ChannelNorm(keras.layers.LayerNormalization):
    """Normalise over the channels at each place: channels are the last axis, over which Keras' layer goes."""

    attributes: ClassVar[dict[str, str]] = {"scale": "gamma", "bias": "beta"}

    def __init__(self, features: int, epsilon: float = 1e-6) -> None:
        """Build the layer."""
        super().__init__(axis=-1, epsilon=epsilon)
        self.build((None, None, None, features))


class RMSNorm(keras.layers.RMSNormalization):
    """Divide by the root of the mean of squares over the last axis."""

    attributes: ClassVar[dict[str, str]] = {"scale": "scale"}

    def __init__(self, features: int, epsilon: float = 1e-6) -> None:
        """Build the layer."""
        super().__init__(axis=-1, epsilon=epsilon)
        self.build((None, features))


def max_pool2d(x: Any, kernel: Pair, stride: Pair | None = None, padding: Pair = 0, ceil_mode: bool = False) -> Any:
    """Take the maximum of each window; padding never wins."""
    windows, steps, sides = pair(kernel), pair(stride or kernel), pair(padding)
    ends = sampling.ends(x.shape[1:3], windows, steps, sides, ceil_mode=ceil_mode)
    x, mode = padded(x, windows, steps, sides, -math.inf, ends=ends)
    return tf.nn.max_pool2d(x, windows, steps, mode)


def avg_pool2d(
    x: Any,
    kernel: Pair,
    stride: Pair | None = None,
    padding: Pair = 0,
    count_padding: bool = False,
    ceil_mode: bool = False,
) -> Any:
    """Take the mean of each window; padded zeros are counted where asked, which TensorFlow's "SAME" does not do."""
    windows, steps, sides = pair(kernel), pair(stride or kernel), pair(padding)
    ends = sampling.ends(x.shape[1:3], windows, steps, sides, ceil_mode=ceil_mode)
    if count_padding and any(sides):
        x, sides = around(x, sides, 0.0), (0, 0)
    enlarged, mode = padded(x, windows, steps, sides, 0.0, ends=ends)
    pooled = tf.nn.avg_pool2d(enlarged, windows, steps, mode)
    if enlarged is x:
        return pooled
    ones, mode = padded(tf.ones_like(x[:1, :, :, :1]), windows, steps, sides, 0.0, ends=ends)
    return pooled / tf.nn.avg_pool2d(ones, windows, steps, mode)


def max_pool1d(x: Any, kernel: int, stride: int | None = None, padding: int = 0, ceil_mode: bool = False) -> Any:
    """Take the maximum of each window along the length, of maps of one row as tf.nn.max_pool1d does."""
    return tf.squeeze(max_pool2d(x[:, tf.newaxis], (1, kernel), (1, stride or kernel), (0, padding), ceil_mode), 1)


def adaptive_avg_pool2d(x: Any, size: Pair) -> Any:
    """Take the means of windows that cover the map: those of a pool where the size divides the map's."""
    lengths, sizes = x.shape[1:3], pair(size)
    if not any(length % wanted for length, wanted in zip(lengths, sizes, strict=True)):
        return avg_pool2d(x, (lengths[0] // sizes[0], lengths[1] // sizes[1]))
    return _mapped(x, *(sampling.shares(length, wanted) for length, wanted in zip(lengths, sizes, strict=True)))


def resize(x: Any, size: Pair, method: str) -> Any:
    """Bring a map to another height and width, by half-pixel centres and without antialiasing.

    TensorFlow's operation gives float32 whatever its map is; in float64 both axes are products of matrices.
    """
    if method == "bilinear" and x.dtype == tf.float64:
        lengths = zip(x.shape[1:3], pair(size), strict=True)
        return _mapped(x, *(sampling.bilinear(length, wanted) for length, wanted in lengths))
    return tf.cast(tf.image.resize(x, pair(size), method), x.dtype)


def _mapped(x: Any, rows: Any, columns: Any) -> Any:
    """Multiply height and width by a matrix each."""
    return tf.einsum("bhwc,yh,xw->byxc", x, tf.constant(rows, x.dtype), tf.constant(columns, x.dtype))


def map_size(x: Any) -> tuple[int, int]:
    """Return a map's height and width."""
    height, width = x.shape[-3:-1]
    return int(height), int(width)


def pad2d(x: Any, sides: Sides, mode: str = "zeros") -> Any:
    """Put more around a map; tf.pad repeats no edges."""
    if mode != "replicate":
        return tf.pad(x, [(0, 0), *sides, (0, 0)], "CONSTANT" if mode == "zeros" else mode)
    for axis, (before, after) in enumerate(sides, 1):
        count = x.shape[axis]
        x = tf.gather(x, tf.clip_by_value(tf.range(-before, count + after), 0, count - 1), axis=axis)
    return x


def from_tokens(x: Any, size: Pair) -> Any:
    """(batch, height * width, channels) to a feature map."""
    return tf.reshape(x, (-1, *pair(size), x.shape[2]))


def per_channel(v: Any) -> Any:
    """(channels,) or (batch, channels) to what broadcasts over a map."""
    return tf.reshape(v, (-1, 1, 1, v.shape[-1]))


def split_channels(x: Any, sizes: Sequence[int]) -> Any:
    """Part a map's channels."""
    return tf.split(x, list(sizes), 3)


def channel_shuffle(x: Any, groups: int) -> Any:
    """Put the first channels of all groups first, then the second ones, and so on."""
    _, height, width, channels = x.shape
    parted = tf.reshape(x, (-1, height, width, groups, channels // groups))
    return tf.reshape(tf.linalg.matrix_transpose(parted), (-1, height, width, channels))

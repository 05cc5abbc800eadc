"""Convolutions as Keras' layers, with the symmetric padding that Keras lacks and TensorFlow's own operations behind.

Keras compiles a grouped convolution by XLA wherever it runs, since TensorFlow without oneDNN has no gradient of one on
a processor; there that takes a hundred times as long (415 ms against 2.9 ms for 64 channels in 8 groups of 28 x 28,
batch 8, one core). So `tf.nn` is called, and only what it refuses is done group by group.
"""

# ruff: noqa: FBT001, FBT002 - `bias` is positional in the vocabulary

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import keras
import tensorflow as tf

from bakeoff.frameworks.sampling import Pair, pair
from bakeoff.frameworks.tensorflow.devices import onednn
from bakeoff.frameworks.tensorflow.padding import padded

if TYPE_CHECKING:
    from collections.abc import Sequence


class Conv1d(keras.layers.Conv1D):
    """Cross-correlation along (batch, length, features), with the same zero padding on both sides."""

    attributes: ClassVar[dict[str, str]] = {"weight": "kernel", "bias": "bias"}

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel: int,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        """Build the layer."""
        super().__init__(out_channels, kernel, groups=groups, use_bias=bias, kernel_initializer="zeros")
        self._way = (1, stride), (0, padding), (1, dilation)
        self.build((None, None, in_channels))

    def call(self, inputs: Any) -> Any:
        """Convolve maps of one row, as tf.nn.conv1d does."""
        found = tf.squeeze(convolve(inputs[:, tf.newaxis], self.kernel[tf.newaxis], *self._way), 1)
        return found if self.bias is None else tf.nn.bias_add(found, self.bias)


class Conv2d(keras.layers.Conv2D):
    """Cross-correlation with the same zero padding on opposite sides."""

    attributes: ClassVar[dict[str, str]] = {"weight": "kernel", "bias": "bias"}

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel: Pair,
        stride: Pair = 1,
        padding: Pair = 0,
        dilation: Pair = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        """Build the layer."""
        super().__init__(
            out_channels,
            kernel,
            groups=groups,
            use_bias=bias,
            data_format="channels_last",
            kernel_initializer="zeros",
        )
        self._way = pair(stride), pair(padding), pair(dilation)
        self.build((None, None, None, in_channels))

    def convolution_op(self, inputs: Any, kernel: Any) -> Any:
        """Convolve with the symmetric padding that Keras lacks."""
        return convolve(inputs, kernel, *self._way)


class ConvTranspose2d(keras.layers.Conv2DTranspose):
    """The gradient of Conv2d by its input; Keras' kernel is that convolution's, as the canonical one is."""

    attributes: ClassVar[dict[str, str]] = {"weight": "kernel", "bias": "bias"}

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel: Pair,
        stride: Pair = 1,
        padding: Pair = 0,
        output_padding: Pair = 0,
        bias: bool = True,
    ) -> None:
        """Build the layer."""
        super().__init__(
            out_channels,
            kernel,
            use_bias=bias,
            data_format="channels_last",
            kernel_initializer="zeros",
        )
        self._steps, self._sides, self._more = pair(stride), pair(padding), pair(output_padding)
        self.build((None, None, None, in_channels))

    def call(self, inputs: Any) -> Any:
        """Convolve: by TensorFlow's "SAME" where that cuts off the same, else all of it, and then cut."""
        axes = zip(inputs.shape[1:3], self.kernel_size, self._steps, self._more, strict=True)
        whole = [(size - 1) * step + window + more for size, window, step, more in axes]
        kept = [length - 2 * side for length, side in zip(whole, self._sides, strict=True)]
        axes = zip(inputs.shape[1:3], kept, self._steps, self._more, strict=True)
        is_same = any(self._sides) and all(-(-out // step) == size and not more for size, out, step, more in axes)
        shape = (tf.shape(inputs)[0], *(kept if is_same else whole), self.filters)
        found = tf.nn.conv2d_transpose(inputs, self.kernel, shape, self._steps, "SAME" if is_same else "VALID")
        if any(self._sides) and not is_same:
            (top, left), (rows, columns) = self._sides, kept
            found = found[:, top : top + rows, left : left + columns]
        return found if self.bias is None else tf.nn.bias_add(found, self.bias)


def convolve(x: Any, kernel: Any, strides: tuple[int, int], sides: tuple[int, int], dilations: tuple[int, int]) -> Any:
    """Convolve a map, by TensorFlow's own operation for depthwise kernels where it takes these strides and dilations.

    tf.nn.conv2d takes explicit paddings too, but its gradient is then several times slower on a processor.
    """
    groups, outputs = x.shape[3] // kernel.shape[2], kernel.shape[3]
    if (groups > 1 or max(dilations) > 1) and _lacks_gradients(x):
        kernel, dilations = _spread(kernel, dilations), (1, 1)
        if groups > 1 and not _is_depthwise(kernel, strides, dilations):
            parts = zip(tf.split(x, groups, 3), tf.split(kernel, groups, 3), strict=True)
            return tf.concat([convolve(part, own, strides, sides, dilations) for part, own in parts], 3)
    spans = [(window - 1) * apart + 1 for window, apart in zip(kernel.shape[:2], dilations, strict=True)]
    x, padding = padded(x, spans, strides, sides, 0.0)
    if groups > 1 and _is_depthwise(kernel, strides, dilations):
        own = tf.reshape(kernel, (*kernel.shape[:2], groups, outputs // groups))
        return tf.nn.depthwise_conv2d(x, own, (1, *strides, 1), padding)
    return tf.nn.conv2d(x, kernel, strides, padding, dilations=dilations)


def _is_depthwise(kernel: Any, strides: Sequence[int], dilations: Sequence[int]) -> bool:
    """Return whether tf.nn.depthwise_conv2d computes it: it takes one stride, and a wrong one with a dilation."""
    return bool(kernel.shape[2] == 1 and strides[0] == strides[1] and max(dilations) == 1)


def _lacks_gradients(x: Any) -> bool:
    """Return whether only TensorFlow's own kernels are there, which have no gradients of groups and of dilations.

    Nor do they fuse a convolution in groups with what comes behind it, as Grappler asks of them. On a processor oneDNN
    has them for float32 and bfloat16, and for float16 on the newest processors alone; cuDNN has them for all three.
    float64 is the certificate's.
    """
    if tf.config.get_visible_devices("GPU"):
        return bool(x.dtype == tf.float64)
    return x.dtype not in (tf.float32, tf.bfloat16) or onednn() == "off"


def _spread(kernel: Any, dilations: tuple[int, int]) -> Any:
    """Return a kernel whose points are set apart by zeros."""
    down, across = dilations
    if max(dilations) == 1:
        return kernel
    height, width, *channels = kernel.shape
    apart = tf.pad(kernel[:, None, :, None], [[0, 0], [0, down - 1], [0, 0], [0, across - 1], [0, 0], [0, 0]])
    joined = tf.reshape(apart, (height * down, width * across, *channels))
    return joined[: (height - 1) * down + 1, : (width - 1) * across + 1]

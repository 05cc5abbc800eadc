"""The vocabulary in native Keras 3 layers and tf.nn functions; feature maps are NHWC.

A Module is a tf.Module that holds Keras layers, not itself a keras.Layer: a Layer reserves attributes that models like
to use (`self.output`, `self.input`), and costs more per call in eager mode. In a traced step neither leaves anything.
Layers are built when they are constructed, with zeros: `load` gives every parameter its value.
"""

# ruff: noqa: FBT001, FBT002 - `bias` is positional in the vocabulary

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import keras
import tensorflow as tf

from bakeoff.frameworks.tensorflow import functions, phase
from bakeoff.frameworks.tensorflow.attention import attention
from bakeoff.frameworks.tensorflow.functions import *  # noqa: F403 - its names are part of this vocabulary
from bakeoff.frameworks.tensorflow.losses import binary_cross_entropy, cross_entropy, mse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "BatchNorm",
    "Conv2d",
    "Dropout",
    "Embedding",
    "LayerNorm",
    "Linear",
    "Module",
    "ModuleList",
    "Parameter",
    "attention",
    "avg_pool2d",
    "binary_cross_entropy",
    "broadcast_to",
    "concat",
    "concat_channels",
    "cross_entropy",
    "flatten",
    "gelu",
    "global_avg_pool2d",
    "in_training",
    "log_softmax",
    "matmul",
    "max_pool2d",
    "mean",
    "mse",
    "permute_dims",
    "relu",
    "reshape",
    "sigmoid",
    "softmax",
    "sum",
    "tanh",
    "tokens",
]
__all__ += functions.__all__

RUNNING_VARIANCE: Literal["biased"] = "biased"
"""Which variance of the batch Keras' normalisation moves the running one towards."""


def in_training(module: tf.Module) -> bool:
    """Return whether a training step is being traced or run."""
    del module
    return phase.in_training()


# --- Layers -------------------------------------------------------------------------------------------------------


class Module(tf.Module):
    """Base class: layers are attributes set in __init__, computation is forward(self, x, ...)."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; every model defines its own."""
        msg = f"{type(self).__name__} has no method forward"
        raise NotImplementedError(msg)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call forward."""
        return self.forward(*args, **kwargs)


class ModuleList(tf.Module):
    """Layers in a list, iterable and indexable."""

    def __init__(self, modules: Iterable[Any]) -> None:
        """Keep the modules in their order."""
        super().__init__()
        self._modules = list(modules)

    def __iter__(self) -> Iterator[Any]:
        """Go through the modules in order."""
        return iter(self._modules)

    def __getitem__(self, index: int) -> Any:
        """Return the module at an index."""
        return self._modules[index]

    def __len__(self) -> int:
        """Count the modules."""
        return len(self._modules)


class Linear(keras.layers.Dense):
    """x @ weight + bias over the last axis."""

    attributes: ClassVar[dict[str, str]] = {"weight": "kernel", "bias": "bias"}

    def __init__(self, in_features: int | tuple[int, ...], out_features: int, bias: bool = True) -> None:
        """Build the layer; a flattened feature map (height, width, channels) is in canonical order here as it is."""
        super().__init__(out_features, use_bias=bias, kernel_initializer="zeros")
        self.build((None, math.prod(in_features) if isinstance(in_features, tuple) else in_features))


class Conv2d(keras.layers.Conv2D):
    """Cross-correlation with the same zero padding on opposite sides."""

    attributes: ClassVar[dict[str, str]] = {"weight": "kernel", "bias": "bias"}

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel: int | tuple[int, int],
        stride: int = 1,
        padding: int | tuple[int, int] = 0,
        bias: bool = True,
    ) -> None:
        """Build the layer."""
        super().__init__(
            out_channels,
            kernel,
            strides=stride,
            use_bias=bias,
            data_format="channels_last",
            kernel_initializer="zeros",
        )
        self._pad = padding
        self.build((None, None, None, in_channels))

    def convolution_op(self, inputs: Any, kernel: Any) -> Any:
        """Convolve with the symmetric padding that Keras lacks.

        tf.nn.conv2d takes explicit paddings too, but its gradient is then several times slower on a processor.
        """
        x, padding = _padded(inputs, self.kernel_size, self.strides[0], self._pad, 0.0)
        return tf.nn.conv2d(x, kernel, self.strides, padding)


class LayerNorm(keras.layers.LayerNormalization):
    """Layer normalisation over the last axis."""

    attributes: ClassVar[dict[str, str]] = {"scale": "gamma", "bias": "beta"}

    def __init__(self, features: int, epsilon: float = 1e-5) -> None:
        """Build the layer."""
        super().__init__(axis=-1, epsilon=epsilon)
        self.build((None, features))


class BatchNorm(keras.layers.BatchNormalization):
    """Batch normalisation of each channel of a feature map, or each feature of (batch, features)."""

    attributes: ClassVar[dict[str, str]] = {
        "scale": "gamma",
        "bias": "beta",
        "running_mean": "moving_mean",
        "running_variance": "moving_variance",
    }

    def __init__(self, features: int, momentum: float = 0.1, epsilon: float = 1e-5) -> None:
        """Build the layer; what Keras calls momentum is the weight of the old value."""
        super().__init__(momentum=1 - momentum, epsilon=epsilon)
        self.build((None, features))
        self.input_spec = None  # Keras would take no other rank than the one that it was built for

    def call(self, inputs: Any) -> Any:
        """Normalise by the batch if the step is in training, else by the running statistics."""
        return super().call(inputs, training=phase.in_training())

    def _moments(self, inputs: Any, mask: None) -> tuple[Any, Any]:
        """Return mean and biased variance over all axes but the last, whatever the rank; nothing here is masked."""
        del mask
        return keras.ops.moments(inputs, axes=tuple(range(len(inputs.shape) - 1)))


def Parameter(shape: tuple[int, ...]) -> keras.Variable:  # noqa: N802 - the vocabulary's name for it
    """Make an array that is trained by itself."""
    return keras.Variable(tf.zeros(shape), dtype=keras.config.floatx())


class Embedding(keras.layers.Embedding):
    """Rows by integer index."""

    attributes: ClassVar[dict[str, str]] = {"weight": "embeddings"}

    def __init__(self, entries: int, features: int) -> None:
        """Build the layer."""
        super().__init__(entries, features, embeddings_initializer="zeros")
        self.build((None,))

    def attend(self, x: Any) -> Any:
        """X @ weight^T over the last axis, as one product of two matrices."""
        product = tf.linalg.matmul(tf.reshape(x, (-1, self.output_dim)), self.embeddings, transpose_b=True)
        return tf.reshape(product, (-1, *x.shape[1:-1], self.input_dim))


class Dropout(keras.layers.Dropout):
    """Scaled by 1 / (1 - rate) in training, nothing in evaluation."""

    attributes: ClassVar[dict[str, str]] = {}

    def __init__(self, rate: float) -> None:
        """Set up a random stream for each layer, the same in every process."""
        super().__init__(rate, seed=phase.next_seed())

    def call(self, inputs: Any) -> Any:
        """Drop if the step is in training."""
        return super().call(inputs, training=phase.in_training())


# --- Functions ----------------------------------------------------------------------------------------------------


def relu(x: Any) -> Any:
    """max(x, 0)."""
    return tf.nn.relu(x)


def gelu(x: Any) -> Any:
    """Return the exact form, with the error function.

    TensorFlow's function has the root of 2 in float32 whatever x is; in float64 it is written out with a root of that
    precision.
    """
    if x.dtype == tf.float64:
        return 0.5 * x * (1.0 + tf.math.erf(x / tf.constant(math.sqrt(2.0), tf.float64)))
    return tf.nn.gelu(x, approximate=False)


def tanh(x: Any) -> Any:
    """Hyperbolic tangent."""
    return tf.math.tanh(x)


def sigmoid(x: Any) -> Any:
    """Logistic function."""
    return tf.math.sigmoid(x)


def softmax(x: Any) -> Any:
    """Softmax over the last axis."""
    return tf.nn.softmax(x, axis=-1)


def log_softmax(x: Any) -> Any:
    """Logarithm of the softmax over the last axis."""
    return tf.nn.log_softmax(x, axis=-1)


def max_pool2d(x: Any, kernel: int, stride: int | None = None, padding: int = 0) -> Any:
    """Take the maximum of each window; padding never wins."""
    stride = stride or kernel
    x, mode = _padded(x, kernel, stride, padding, -math.inf)
    return tf.nn.max_pool2d(x, kernel, stride, mode)


def avg_pool2d(x: Any, kernel: int, stride: int | None = None, padding: int = 0) -> Any:
    """Take the mean of each window; padded zeros are not counted, as TensorFlow's "SAME" does not count them either."""
    stride = stride or kernel
    padded, mode = _padded(x, kernel, stride, padding, 0.0)
    pooled = tf.nn.avg_pool2d(padded, kernel, stride, mode)
    if padded is x:
        return pooled
    ones, mode = _padded(tf.ones_like(x[:1, :, :, :1]), kernel, stride, padding, 0.0)
    return pooled / tf.nn.avg_pool2d(ones, kernel, stride, mode)


def global_avg_pool2d(x: Any) -> Any:
    """Feature map to (batch, channels)."""
    return tf.reduce_mean(x, axis=(1, 2))


def flatten(x: Any) -> Any:
    """Everything but the batch axis into one."""
    return tf.reshape(x, (-1, math.prod(x.shape[1:])))


def reshape(x: Any, shape: Sequence[int]) -> Any:
    """Reshape; the shape includes the batch axis."""
    return tf.reshape(x, shape)


def tokens(x: Any) -> Any:
    """Feature map to (batch, height * width, channels)."""
    return tf.reshape(x, (-1, math.prod(x.shape[1:3]), x.shape[3]))


def concat(arrays: Sequence[Any], axis: int) -> Any:
    """Join arrays along an existing axis."""
    return tf.concat(arrays, axis)


def concat_channels(maps: Sequence[Any]) -> Any:
    """Join feature maps by their channels."""
    return tf.concat(maps, 3)


def broadcast_to(x: Any, shape: Sequence[int]) -> Any:
    """Repeat x to a shape."""
    return tf.broadcast_to(x, shape)


def permute_dims(x: Any, axes: Sequence[int]) -> Any:
    """Reorder the axes."""
    return tf.transpose(x, axes)


def matmul(a: Any, b: Any) -> Any:
    """Multiply matrices, over leading batch axes."""
    return tf.linalg.matmul(a, b)


def mean(x: Any, axis: int | Sequence[int] | None = None) -> Any:
    """Mean over one axis, several or all."""
    return tf.reduce_mean(x, axis)


def sum(x: Any, axis: int | Sequence[int] | None = None) -> Any:  # noqa: A001  the name in the array API standard
    """Sum over one axis, several or all."""
    return tf.reduce_sum(x, axis)


def _padded(
    x: Any, kernel: int | tuple[int, int], stride: int, padding: int | tuple[int, int], value: float
) -> tuple[Any, str]:
    """Return x and TensorFlow's word for its padding: padded here only where "SAME" would not do the same.

    "SAME" pads so that ceil(size / stride) windows fit, the odd row or column at the end.
    """
    windows = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    sides = padding if isinstance(padding, tuple) else (padding, padding)
    if not any(sides):
        return x, "VALID"
    axes = zip(x.shape[1:3], windows, sides, strict=True)
    if all((-(-size // stride) - 1) * stride + window - size == 2 * side for size, window, side in axes):
        return x, "SAME"
    return tf.pad(x, [[0, 0], *([side, side] for side in sides), [0, 0]], constant_values=value), "VALID"

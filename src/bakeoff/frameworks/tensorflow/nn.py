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
from bakeoff.frameworks.tensorflow.conv_layers import Conv1d, Conv2d, ConvTranspose2d
from bakeoff.frameworks.tensorflow.functions import (  # noqa: F401 - their names are in __all__, below
    EmbeddingBag,
    RandomNormal,
    abs,  # noqa: A004 - the vocabulary has this name
    arange,
    argmax,
    clip,
    constant,
    cos,
    cumsum,
    einsum,
    elu,
    equal,
    exp,
    flip,
    gelu_tanh,
    hard_sigmoid,
    hard_swish,
    leaky_relu,
    less,
    less_equal,
    log,
    logical_and,
    logical_not,
    logical_or,
    max,  # noqa: A004 - the vocabulary has this name
    maximum,
    minimum,
    one_hot,
    pad,
    roll,
    rsqrt,
    segment_max,
    segment_sum,
    silu,
    sin,
    softplus,
    split,
    sqrt,
    stack,
    stop_gradient,
    take,
    take_along_axis,
    to_float,
    top_k,
    where,
)
from bakeoff.frameworks.tensorflow.graphs import sparse_matmul
from bakeoff.frameworks.tensorflow.losses import binary_cross_entropy, cross_entropy, mse
from bakeoff.frameworks.tensorflow.maps import (
    ChannelNorm,
    GroupNorm,
    RMSNorm,
    adaptive_avg_pool2d,
    avg_pool2d,
    channel_shuffle,
    from_tokens,
    map_size,
    max_pool1d,
    max_pool2d,
    pad2d,
    per_channel,
    resize,
    split_channels,
)
from bakeoff.frameworks.tensorflow.module import Module
from bakeoff.frameworks.tensorflow.recurrent import GRU, LSTM, GRUCell, LSTMCell, scan
from bakeoff.frameworks.tensorflow.replicas import BatchStatistics, averaging, drawing_apart
from bakeoff.frameworks.tensorflow.sequence_losses import ctc
from bakeoff.frameworks.tensorflow.time_maps import column_mask, columns, floor_divide

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "GRU",
    "LSTM",
    "BatchNorm",
    "ChannelNorm",
    "Conv1d",
    "Conv2d",
    "ConvTranspose2d",
    "Dropout",
    "Embedding",
    "GRUCell",
    "GroupNorm",
    "LSTMCell",
    "LayerNorm",
    "Linear",
    "Module",
    "ModuleList",
    "Parameter",
    "RMSNorm",
    "StochasticDepth",
    "adaptive_avg_pool2d",
    "attention",
    "avg_pool2d",
    "binary_cross_entropy",
    "broadcast_to",
    "channel_shuffle",
    "column_mask",
    "columns",
    "concat",
    "concat_channels",
    "cross_entropy",
    "ctc",
    "flatten",
    "floor_divide",
    "from_tokens",
    "gelu",
    "global_avg_pool2d",
    "in_training",
    "log_softmax",
    "map_size",
    "matmul",
    "max_pool1d",
    "max_pool2d",
    "mean",
    "mse",
    "pad2d",
    "per_channel",
    "permute_dims",
    "relu",
    "reshape",
    "resize",
    "scan",
    "sigmoid",
    "softmax",
    "sparse_matmul",
    "split_channels",
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
        self.build((None, math.prod(in_features) if isinstance(in_features, (tuple, list)) else in_features))


class LayerNorm(keras.layers.LayerNormalization):
    """Layer normalisation over the last axis."""

    attributes: ClassVar[dict[str, str]] = {"scale": "gamma", "bias": "beta"}

    def __init__(self, features: int, epsilon: float = 1e-5, bias: bool = True) -> None:
        """Build the layer; Keras centres by its bias."""
        super().__init__(axis=-1, epsilon=epsilon, center=bias)
        self.build((None, features))


class BatchNorm(keras.layers.BatchNormalization):
    """Batch normalisation of each channel of a feature map, or each feature of what has its features last."""

    attributes: ClassVar[dict[str, str]] = {
        "scale": "gamma",
        "bias": "beta",
        "running_mean": "moving_mean",
        "running_variance": "moving_variance",
    }

    def __init__(self, features: int, momentum: float = 0.1, epsilon: float = 1e-5) -> None:
        """Build the layer; what Keras calls momentum is the weight of the old value."""
        super().__init__(momentum=1 - momentum, epsilon=epsilon, synchronized=BatchStatistics.of_all)
        self.build((None, features))
        self.input_spec = None  # Keras would take no other rank than the one that it was built for

    def add_weight(self, *args: Any, trainable: bool = True, **options: Any) -> Any:
        """Add a parameter, or a running statistic, of which each replica of a strategy has its own."""
        with averaging(wanted=not trainable):
            return super().add_weight(*args, trainable=trainable, **options)

    def call(self, inputs: Any) -> Any:
        """Normalise by the batch if the step is in training, else by the running statistics."""
        return super().call(inputs, training=phase.in_training())

    def _moments(self, inputs: Any, mask: None) -> tuple[Any, Any]:
        """Return mean and biased variance over all axes but the last, whatever the rank; nothing here is masked."""
        del mask
        axes = tuple(range(len(inputs.shape) - 1))
        return keras.ops.moments(inputs, axes, synchronized=self.synchronized)


def Parameter(shape: tuple[int, ...], std: float = 1.0) -> keras.Variable:  # noqa: ARG001, N802 - the vocabulary's; values are loaded
    """Make an array that is trained by itself."""
    return keras.Variable(tf.zeros(shape), dtype=keras.config.floatx())


class Embedding(keras.layers.Embedding):
    """Rows by integer index."""

    attributes: ClassVar[dict[str, str]] = {"weight": "embeddings"}

    def __init__(self, entries: int, features: int, std: float = 1.0) -> None:  # noqa: ARG002 - weights are loaded
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
        if rate:
            drawing_apart(self.seed_generator)

    def call(self, inputs: Any) -> Any:
        """Drop if the step is in training."""
        return super().call(inputs, training=phase.in_training())


class StochasticDepth(Dropout):
    """Whole samples dropped: Keras' Dropout of one draw for each, which all other axes share."""

    def call(self, inputs: Any) -> Any:
        """Drop if the step is in training."""
        self.noise_shape = (None, *[1] * (len(inputs.shape) - 1))
        return super().call(inputs)


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


def concat(arrays: Iterable[Any], axis: int) -> Any:
    """Join arrays along an existing axis."""
    return tf.concat([tf.convert_to_tensor(one) for one in arrays], axis)


def concat_channels(maps: Iterable[Any]) -> Any:
    """Join feature maps by their channels."""
    return tf.concat(list(maps), 3)


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

"""Elementwise functions, comparisons, choices, indices and joints in TensorFlow's own functions.

Some of those hold a number in float32 whatever their argument is: in float64 they are written out.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, ClassVar

import keras
import tensorflow as tf

from bakeoff.frameworks.tensorflow import devices, phase
from bakeoff.frameworks.tensorflow.replicas import drawing_apart

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


class EmbeddingBag(keras.layers.Embedding):
    """Sum or mean of a sample's rows."""

    attributes: ClassVar[dict[str, str]] = {"weight": "embeddings"}

    def __init__(self, entries: int, features: int, mode: str) -> None:
        """Build the layer."""
        super().__init__(entries, features, embeddings_initializer="zeros")
        self.build((None,))
        self._reduce = {"sum": tf.reduce_sum, "mean": tf.reduce_mean}[mode]

    def call(self, inputs: Any) -> Any:
        """Take all rows and add them up."""
        return self._reduce(super().call(inputs), axis=1)


class RandomNormal(keras.layers.Layer):
    """Draws of a stream of its own in training, zeros in evaluation."""

    attributes: ClassVar[dict[str, str]] = {}

    def __init__(self) -> None:
        """Set up the stream, as Keras' layers that draw do."""
        super().__init__()
        self.seed_generator = drawing_apart(keras.random.SeedGenerator(phase.next_seed()))

    def call(self, inputs: Any) -> Any:
        """Draw in the type of the inputs."""
        if not phase.in_training():
            return tf.zeros_like(inputs)
        return keras.random.normal(inputs.shape, dtype=inputs.dtype, seed=self.seed_generator)


def constant(array: NDArray[Any]) -> Any:
    """Put an array on the device: real numbers in the computation's precision, integers as batches have them."""
    return devices.placed(array, keras.config.dtype_policy().compute_dtype)


# --- Element by element -----------------------------------------------------------------------------------------------

exp, log, sqrt, rsqrt, abs = tf.exp, tf.math.log, tf.sqrt, tf.math.rsqrt, tf.abs  # noqa: A001 - the array API's name
sin, cos = tf.sin, tf.cos
stop_gradient = tf.stop_gradient
less, less_equal, equal = operator.lt, operator.le, operator.eq
logical_and, logical_or, logical_not = tf.logical_and, tf.logical_or, tf.logical_not
silu, elu, softplus = tf.nn.silu, tf.nn.elu, tf.nn.softplus
hard_sigmoid, hard_swish = keras.ops.hard_sigmoid, keras.ops.hard_silu


def leaky_relu(x: Any, slope: float) -> Any:
    """Return slope * x below 0; TensorFlow's function holds the slope in float32."""
    if x.dtype == tf.float64:
        return tf.where(x > 0, x, slope * x)
    return tf.nn.leaky_relu(x, slope)


def clip(x: Any, low: float, high: float) -> Any:
    """Return low below low, and high above high."""
    return tf.clip_by_value(x, low, high)


def gelu_tanh(x: Any) -> Any:
    """Return the approximation by tanh; TensorFlow's function holds its numbers in float32."""
    if x.dtype == tf.float64:
        return 0.5 * x * (1.0 + tf.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return tf.nn.gelu(x, approximate=True)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger."""
    return tf.maximum(*_alike(a, b))


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller."""
    return tf.minimum(*_alike(a, b))


def where(condition: Any, a: Any, b: Any) -> Any:
    """Choose between two."""
    return tf.where(condition, *_alike(a, b))


def _alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Return both as tensors, a number in the type of the other: TensorFlow would make it one of float32."""
    if isinstance(a, (int, float)):
        b = tf.convert_to_tensor(b)
        return tf.constant(a, b.dtype), b
    a = tf.convert_to_tensor(a)
    return a, tf.constant(b, a.dtype) if isinstance(b, (int, float)) else b


def to_float(x: Any) -> Any:
    """Return real numbers."""
    return tf.cast(x, phase.real())


# --- Indices and joints -----------------------------------------------------------------------------------------------


def arange(stop: int) -> Any:
    """Return integers, as batches have them."""
    return tf.range(stop, dtype=devices.index_type())


def one_hot(x: Any, n: int) -> Any:
    """Return real numbers."""
    return tf.one_hot(x, n, dtype=phase.real())


def stack(arrays: Sequence[Any], axis: int) -> Any:
    """Join arrays along a new axis."""
    return tf.stack([tf.convert_to_tensor(one) for one in arrays], axis)


def split(x: Any, sizes: Sequence[int], axis: int) -> Any:
    """Return the parts of these lengths."""
    return tf.split(x, list(sizes), axis)


def take(table: Any, indices: Any, axis: int = 0) -> Any:
    """Return what stands at each index."""
    return tf.gather(table, indices, axis=axis)


def take_along_axis(x: Any, indices: Any, axis: int) -> Any:
    """Return one element for each index, by Keras: TensorFlow has a function of that kind for the last axis only."""
    return keras.ops.take_along_axis(x, indices, axis)


def segment_sum(x: Any, segments: Any, count: int) -> Any:
    """Return the sum of each segment's rows."""
    return tf.math.unsorted_segment_sum(x, segments, count)


def segment_max(x: Any, segments: Any, count: int) -> Any:
    """Return the largest of each segment's rows, and zeros where it has none, of which TensorFlow has the least number.

    XLA has minus infinity there.
    """
    found = tf.math.unsorted_segment_max(x, segments, count)
    return tf.where(found <= found.dtype.min, tf.zeros_like(found), found)


def argmax(x: Any, axis: int) -> Any:
    """Return the place of the largest along an axis, of equal ones the first."""
    return tf.argmax(x, axis, devices.index_type())


def top_k(x: Any, k: int) -> tuple[Any, Any]:
    """Return the largest k of the last axis, and their places."""
    values, places = tf.math.top_k(x, k)
    return values, tf.cast(places, devices.index_type())


def einsum(formula: str, *arrays: Any) -> Any:
    """Multiply along the letters, and add up over those that the result lacks."""
    return tf.einsum(formula, *arrays)


def cumsum(x: Any, axis: int) -> Any:
    """Return sums up to each element."""
    return tf.cumsum(x, axis)


def max(x: Any, axis: int | tuple[int, ...] | None = None) -> Any:  # noqa: A001 - the array API's name
    """Return the largest along axes, or of all."""
    return tf.reduce_max(x, axis)


def flip(x: Any, axis: int) -> Any:
    """Return an axis the other way round."""
    return tf.reverse(x, [axis])


def roll(x: Any, shift: int, axis: int) -> Any:
    """Move elements along an axis, from its end to its start."""
    return tf.roll(x, shift, axis)


def pad(x: Any, widths: Sequence[tuple[int, int]], value: float = 0.0) -> Any:
    """Make axes longer."""
    return tf.pad(x, [list(pair) for pair in widths], constant_values=value)

"""Elementwise functions, comparisons, choices, indices and joints in JAX's own functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from bakeoff.frameworks.jax import floats, phase

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


class EmbeddingBag(nnx.Embed):
    """Sum or mean of a sample's rows."""

    canonical = {"embedding": "weight"}  # noqa: RUF012 - a constant

    def __init__(self, entries: int, features: int, mode: str) -> None:
        """Make the table (entries, features)."""
        super().__init__(entries, features, embedding_init=nnx.initializers.zeros, rngs=nnx.Rngs(0))
        self.dtype = None  # that of the table, whatever is loaded: flax has noted the zeros' float32
        self.reduce = {"sum": jnp.sum, "mean": jnp.mean}[mode]

    def __call__(self, x: jax.Array) -> jax.Array:
        """Take all rows and add them up: XLA fuses both."""
        return self.reduce(super().__call__(x), axis=1)


class RandomNormal(nnx.Module):
    """Draws from the step's key, as Dropout's; zeros in evaluation."""

    def __call__(self, x: jax.Array) -> jax.Array:
        """Draw in the type of x."""
        key = phase.next_key()
        return jnp.zeros_like(x) if key is None else jax.random.normal(key, x.shape, x.dtype)


def constant(array: NDArray[Any]) -> jax.Array:
    """Put an array on the device: real numbers in the computation's precision, integers as batches have them."""
    return jnp.array(array, {"i": np.dtype(np.int32), "f": floats.Floats.compute}.get(array.dtype.kind))


# --- Element by element -----------------------------------------------------------------------------------------------

exp, log, sqrt, rsqrt, abs = jnp.exp, jnp.log, jnp.sqrt, jax.lax.rsqrt, jnp.abs  # noqa: A001 - the array API's name
sin, cos = jnp.sin, jnp.cos
stop_gradient = jax.lax.stop_gradient
less, less_equal, equal = jnp.less, jnp.less_equal, jnp.equal
logical_and, logical_or, logical_not = jnp.logical_and, jnp.logical_or, jnp.logical_not
silu, elu, softplus = nnx.silu, nnx.elu, nnx.softplus
hard_sigmoid, hard_swish = nnx.hard_sigmoid, nnx.hard_swish
maximum, minimum, where = jnp.maximum, jnp.minimum, jnp.where


def clip(x: jax.Array, low: float, high: float) -> jax.Array:
    """Return low below low, and high above high."""
    return jnp.clip(x, low, high)


def leaky_relu(x: jax.Array, slope: float) -> jax.Array:
    """Return slope * x below 0."""
    return nnx.leaky_relu(x, slope)


def gelu_tanh(x: jax.Array) -> jax.Array:
    """Return the approximation by tanh."""
    return nnx.gelu(x, approximate=True)


def to_float(x: jax.Array) -> jax.Array:
    """Return real numbers."""
    return x.astype(floats.current())


# --- Indices and joints -----------------------------------------------------------------------------------------------


def arange(stop: int) -> jax.Array:
    """Return integers, as batches have them."""
    return jnp.arange(stop, dtype=jnp.int32)


def one_hot(x: jax.Array, n: int) -> jax.Array:
    """Return real numbers."""
    return nnx.one_hot(x, n, dtype=floats.current())


def stack(arrays: Sequence[jax.Array], axis: int) -> jax.Array:
    """Join arrays along a new axis."""
    return jnp.stack(list(arrays), axis)


def split(x: jax.Array, sizes: Sequence[int], axis: int) -> list[jax.Array]:
    """Return the parts of these lengths; JAX takes the places where they meet."""
    return jnp.split(x, np.cumsum(sizes)[:-1].tolist(), axis)


def take(table: jax.Array, indices: jax.Array, axis: int = 0) -> jax.Array:
    """Return what stands at each index."""
    return jnp.take(table, indices, axis=axis)


def take_along_axis(x: jax.Array, indices: jax.Array, axis: int) -> jax.Array:
    """Return one element for each index."""
    return jnp.take_along_axis(x, indices, axis=axis)


def segment_sum(x: jax.Array, segments: jax.Array, count: int) -> jax.Array:
    """Return the sum of each segment's rows."""
    return jax.ops.segment_sum(x, segments, num_segments=count)


def segment_max(x: jax.Array, segments: jax.Array, count: int) -> jax.Array:
    """Return the largest of each segment's rows, and zeros where it has none, of which JAX has minus infinity."""
    found = jax.ops.segment_max(x, segments, num_segments=count)
    return jnp.where(found == -jnp.inf, 0.0, found)


def argmax(x: jax.Array, axis: int) -> jax.Array:
    """Return the place of the largest along an axis, of equal ones the first."""
    return jnp.argmax(x, axis=axis).astype(jnp.int32)


def top_k(x: jax.Array, k: int) -> tuple[jax.Array, jax.Array]:
    """Return the largest k of the last axis, and their places; a primitive of JAX takes no parameter as it is."""
    values, places = jax.lax.top_k(jnp.asarray(x), k)
    return values, places


def einsum(formula: str, *arrays: jax.Array) -> jax.Array:
    """Multiply along the letters, and add up over those that the result lacks."""
    return jnp.einsum(formula, *arrays)


def cumsum(x: jax.Array, axis: int) -> jax.Array:
    """Return sums up to each element."""
    return jnp.cumsum(x, axis=axis)


def max(x: jax.Array, axis: int | tuple[int, ...] | None = None) -> jax.Array:  # noqa: A001 - the array API's name
    """Return the largest along axes, or of all."""
    return jnp.max(x, axis=axis)


def flip(x: jax.Array, axis: int) -> jax.Array:
    """Return an axis the other way round."""
    return jnp.flip(x, axis)


def roll(x: jax.Array, shift: int, axis: int) -> jax.Array:
    """Move elements along an axis, from its end to its start."""
    return jnp.roll(x, shift, axis)


def pad(x: jax.Array, widths: Sequence[tuple[int, int]], value: float = 0.0) -> jax.Array:
    """Make axes longer."""
    return jnp.pad(x, widths, constant_values=value)

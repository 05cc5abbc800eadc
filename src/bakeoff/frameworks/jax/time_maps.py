"""Feature maps of time: which of JAX's axes the columns are; and lengths in them."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def columns(x: jax.Array) -> jax.Array:
    """Return (batch, width, height * channels), the channels of each row together."""
    return jnp.reshape(jnp.swapaxes(x, 1, 2), (x.shape[0], x.shape[2], -1))


def column_mask(x: jax.Array, lengths: jax.Array) -> jax.Array:
    """Return 1 in the columns before each sample's length and 0 from there on, in one row and one channel."""
    is_real = jnp.arange(x.shape[2]) < lengths[:, None]
    return is_real.astype(x.dtype)[:, None, :, None]


def floor_divide(x: jax.Array, number: int) -> jax.Array:
    """Divide integers, rounded down."""
    return jnp.floor_divide(x, number)

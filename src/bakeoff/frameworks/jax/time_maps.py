"""Feature maps of time: which of JAX's axes the columns are; and lengths in them."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def columns(x: jax.Array) -> jax.Array:
    """Return (batch, width, height * channels), the channels of each row together."""
    return jnp.reshape(jnp.swapaxes(x, 1, 2), (x.shape[0], x.shape[2], -1))


def per_column(values: jax.Array) -> jax.Array:
    """Return (batch, width) as a map of one row and one channel."""
    return values[:, None, :, None]


def floor_divide(x: jax.Array, number: int) -> jax.Array:
    """Divide integers and leave out what is left."""
    return jnp.floor_divide(x, number)

"""Feature maps of time: which of MLX's axes the columns are; and lengths in them."""

from __future__ import annotations

import mlx.core as mx


def columns(x: mx.array) -> mx.array:
    """Return (batch, width, height * channels), the channels of each row together."""
    return mx.flatten(mx.swapaxes(x, 1, 2), 2)


def per_column(values: mx.array) -> mx.array:
    """Return (batch, width) as a map of one row and one channel."""
    return values[:, None, :, None]


def floor_divide(x: mx.array, number: int) -> mx.array:
    """Divide integers and leave out what is left."""
    return mx.floor_divide(x, number)

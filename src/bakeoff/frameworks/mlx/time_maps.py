"""Feature maps of time: which of MLX's axes the columns are; and lengths in them."""

from __future__ import annotations

import mlx.core as mx


def columns(x: mx.array) -> mx.array:
    """Return (batch, width, height * channels), the channels of each row together."""
    return mx.flatten(mx.swapaxes(x, 1, 2), 2)


def column_mask(x: mx.array, lengths: mx.array) -> mx.array:
    """Return 1 in the columns before each sample's length and 0 from there on, in one row and one channel."""
    is_real = mx.arange(x.shape[2]) < lengths[:, None]
    return is_real.astype(x.dtype)[:, None, :, None]


def floor_divide(x: mx.array, number: int) -> mx.array:
    """Divide integers, rounded down."""
    return mx.floor_divide(x, number)

"""Feature maps of time: which of TensorFlow's axes the columns are; and lengths in them."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def columns(x: Any) -> Any:
    """Return (batch, width, height * channels), the channels of each row together."""
    return tf.reshape(tf.transpose(x, (0, 2, 1, 3)), (-1, x.shape[2], x.shape[1] * x.shape[3]))


def column_mask(x: Any, lengths: Any) -> Any:
    """Return 1 in the columns before each sample's length and 0 from there on, in one row and one channel."""
    return tf.sequence_mask(lengths, x.shape[2], x.dtype)[:, None, :, None]


def floor_divide(x: Any, number: int) -> Any:
    """Divide integers, rounded down."""
    return tf.math.floordiv(x, number)

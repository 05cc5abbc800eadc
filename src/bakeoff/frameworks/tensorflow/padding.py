"""The same padding on opposite sides, which TensorFlow has no word for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Sequence


def padded(
    x: Any, windows: Sequence[int], strides: Sequence[int], sides: Sequence[int], value: float
) -> tuple[Any, str]:
    """Return x and TensorFlow's word for its padding: padded here only where "SAME" would not do the same.

    "SAME" pads so that ceil(size / stride) windows fit, the odd row or column at the end.
    """
    if not any(sides):
        return x, "VALID"
    axes = zip(x.shape[1:3], windows, strides, sides, strict=True)
    if all((-(-size // stride) - 1) * stride + window - size == 2 * side for size, window, stride, side in axes):
        return x, "SAME"
    return around(x, sides, value), "VALID"


def around(x: Any, sides: Sequence[int], value: float) -> Any:
    """Return a map with so many rows above and below it, and columns on both sides, of one value."""
    return tf.pad(x, [[0, 0], *([side, side] for side in sides), [0, 0]], constant_values=value)

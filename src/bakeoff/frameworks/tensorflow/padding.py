"""The same padding on opposite sides, which TensorFlow has no word for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Sequence


def padded(
    x: Any,
    windows: Sequence[int],
    strides: Sequence[int],
    sides: Sequence[int],
    value: float,
    *,
    ends: Sequence[int] = (0, 0),
) -> tuple[Any, str]:
    """Return x and TensorFlow's word for its padding: padded here only where "SAME" would not do the same.

    "SAME" pads so that ceil(size / stride) windows fit, the odd row or column at the end. `ends` are rows below and
    columns on the right beside those of both sides.
    """
    if not any(sides) and not any(ends):
        return x, "VALID"
    axes = zip(x.shape[1:3], windows, strides, sides, ends, strict=True)
    if all(_is_same(*axis) for axis in axes):
        return x, "SAME"
    return around(x, sides, value, ends=ends), "VALID"


def _is_same(size: int, window: int, stride: int, side: int, end: int) -> bool:
    """Return whether "SAME" pads an axis so, and not more at its end than one point."""
    return end <= 1 and (-(-size // stride) - 1) * stride + window - size == 2 * side + end


def around(x: Any, sides: Sequence[int], value: float, *, ends: Sequence[int] = (0, 0)) -> Any:
    """Return a map with so many rows above and below it, and columns on both sides, of one value."""
    each = ([side, side + end] for side, end in zip(sides, ends, strict=True))
    return tf.pad(x, [[0, 0], *each, [0, 0]], constant_values=value)

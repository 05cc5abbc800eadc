"""Feature maps of time: which of Jittor's axes the columns are; and lengths in them."""

from __future__ import annotations

from typing import Any

import jittor as jt


def columns(x: Any) -> Any:
    """Return (batch, width, height * channels), the channels of each row together."""
    return jt.flatten(jt.transpose(x, 0, 3, 2, 1), 2)


def column_mask(x: Any, lengths: Any) -> Any:
    """Return 1 in the columns before each sample's length and 0 from there on, in one row and one channel."""
    is_real = jt.arange(x.shape[3]).unsqueeze(0) < lengths.unsqueeze(1)
    return is_real.float32().unsqueeze(1).unsqueeze(1)


def floor_divide(x: Any, number: int) -> Any:
    """Divide integers, rounded down."""
    return jt.floor_divide(x, number)

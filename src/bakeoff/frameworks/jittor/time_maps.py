"""Feature maps of time: which of Jittor's axes the columns are; and lengths in them."""

from __future__ import annotations

from typing import Any

import jittor as jt


def columns(x: Any) -> Any:
    """Return (batch, width, height * channels), the channels of each row together."""
    return jt.flatten(jt.transpose(x, 0, 3, 2, 1), 2)


def per_column(values: Any) -> Any:
    """Return (batch, width) as a map of one row and one channel, (batch, 1, 1, width) here."""
    return values.unsqueeze(1).unsqueeze(1)


def floor_divide(x: Any, number: int) -> Any:
    """Divide integers and leave out what is left."""
    return jt.floor_divide(x, number)

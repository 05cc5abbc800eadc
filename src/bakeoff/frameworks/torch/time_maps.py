"""Feature maps of time: which of PyTorch's axes the columns are; and lengths in them."""

from __future__ import annotations

from typing import Any

import torch


def columns(x: Any) -> Any:
    """Return (batch, width, height * channels), the channels of each row together."""
    return x.permute(0, 3, 2, 1).flatten(2)


def per_column(values: Any) -> Any:
    """Return (batch, width) as a map of one row and one channel, (batch, 1, 1, width) here."""
    return values[:, None, None, :]


def floor_divide(x: Any, number: int) -> Any:
    """Divide integers and leave out what is left."""
    return torch.div(x, number, rounding_mode="floor")

"""Feature maps of time: which of PyTorch's axes the columns are; and lengths in them."""

from __future__ import annotations

from typing import Any

import torch


def columns(x: Any) -> Any:
    """Return (batch, width, height * channels), the channels of each row together."""
    return x.permute(0, 3, 2, 1).flatten(2)


def column_mask(x: Any, lengths: Any) -> Any:
    """Return 1 in the columns before each sample's length and 0 from there on, in one row and one channel."""
    is_real = torch.arange(x.shape[3], device=x.device) < lengths[:, None]
    return is_real.to(x.dtype)[:, None, None, :]


def floor_divide(x: Any, number: int) -> Any:
    """Divide integers, rounded down."""
    return torch.div(x, number, rounding_mode="floor")

"""Attention by PyTorch's own function, whose kernels the option `attention` chooses among."""

# ruff: noqa: FBT001, FBT002 - `causal` is positional in the vocabulary

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional as F

from bakeoff.spec.errors import UnsupportedError


def attention(  # noqa: PLR0913, PLR0917 - the vocabulary's signature
    q: Any, k: Any, v: Any, causal: bool = False, mask: Any = None, bias: Any = None, scale: float | None = None
) -> Any:
    """Scaled dot-product attention of (batch, length, heads, features), by PyTorch's fused kernels.

    PyTorch takes either its own causal mask or an array, which is boolean or added.
    """
    added = mask if bias is None else bias.to(q.dtype)
    if causal and added is not None:
        earlier = torch.ones(q.shape[1], q.shape[1], dtype=torch.bool, device=q.device).tril()
        mask = earlier if mask is None else mask & earlier
        added = mask if bias is None else added
    if bias is not None and mask is not None:
        added = torch.where(mask, added, -math.inf)
    try:
        attended = F.scaled_dot_product_attention(
            q.transpose(1, 2),
            k.transpose(1, 2),
            v.transpose(1, 2),
            attn_mask=added,
            is_causal=causal and added is None,
            scale=scale,
            enable_gqa=k.shape[2] != q.shape[2],
        )
    except RuntimeError as error:
        if "No available kernel" not in str(error):
            raise
        raise UnsupportedError(_NO_KERNEL) from error
    return attended.transpose(1, 2)


_NO_KERNEL = (
    "none of PyTorch's kernels that attention=... allows computes this attention: flash, efficient and cudnn take "
    "neither a trained bias nor values of other features than the keys'; on CUDA flash takes no mask, and flash and "
    "cudnn take bfloat16 and float16 alone; choose attention=default or math"
)

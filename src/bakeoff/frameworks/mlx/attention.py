"""Attention by MLX's own fast function; which kernels it takes, MLX does not report."""
# ruff: noqa: FBT001, FBT002 - `causal` is positional in the vocabulary

from __future__ import annotations

import math
from typing import Any

import mlx.core as mx


def attention(  # noqa: PLR0913, PLR0917 - the vocabulary's signature
    q: mx.array,
    k: mx.array,
    v: mx.array,
    causal: bool = False,
    mask: Any = None,
    bias: Any = None,
    scale: float | None = None,
) -> mx.array:
    """Scaled dot-product attention of (batch, length, heads, features), by MLX's own fast function.

    It takes the word "causal" or one array, which is boolean or added.
    """
    given = "causal" if causal else mask
    if bias is not None or (causal and mask is not None):
        if causal:
            earlier = mx.tril(mx.ones((q.shape[1], q.shape[1]), mx.bool_))
            mask = earlier if mask is None else mx.logical_and(mask, earlier)
        given = mask if bias is None else bias
        if bias is not None and mask is not None:
            given = mx.where(mask, bias, mx.finfo(bias.dtype).min)
    heads_first = (one.swapaxes(1, 2) for one in (q, k, v))
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    return mx.fast.scaled_dot_product_attention(*heads_first, scale=scale, mask=given).swapaxes(1, 2)

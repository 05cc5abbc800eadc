"""Attention by Jittor's own function where that computes it, and by its plain form with a mask or fewer heads."""

# ruff: noqa: FBT001, FBT002 - `causal` is positional in the vocabulary

from __future__ import annotations

import functools
from typing import Any

import jittor as jt
import numpy as np
from jittor.attention import scaled_dot_product_attention

_LOWEST = float(np.finfo(np.float32).min)


def attention(  # noqa: PLR0913, PLR0917 - the vocabulary's signature
    q: Any,
    k: Any,
    v: Any,
    causal: bool = False,
    mask: Any = None,
    bias: Any = None,
    scale: float | None = None,
    dropout: Any = None,
) -> Any:
    """Scaled dot-product attention of (batch, length, heads, features).

    Jittor's own function takes no boolean mask (it reads a variable that it has not set), and makes its causal mask
    anew in every call; what is added to the logits here is what it would add.
    """
    q, k, v = (jt.transpose(x, 1, 2) for x in (q, k, v))
    if q.shape[1] != k.shape[1]:
        k, v = (_repeated(x, q.shape[1] // x.shape[1]) for x in (k, v))
    if causal:
        earlier = _earlier(q.shape[2])
        bias = earlier if bias is None else bias + earlier
    if mask is not None:
        excluded = jt.ternary(mask, jt.float32(0), jt.float32(_LOWEST))
        bias = excluded if bias is None else jt.maximum(bias + excluded, _LOWEST)
    rate = dropout.p if dropout is not None and dropout.is_train else 0.0
    return jt.transpose(scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=rate, scale=scale), 1, 2)


def _repeated(x: Any, times: int) -> Any:
    """Return (batch, heads, length, features) with each head several times in a row."""
    batch, heads, length, features = x.shape
    wide = jt.broadcast(jt.reshape(x, (batch, heads, 1, length, features)), (batch, heads, times, length, features))
    return jt.reshape(wide, (batch, heads * times, length, features))


@functools.cache
def _earlier(length: int) -> Any:
    """Return what keeps each position from those after it, (length, length)."""
    return jt.array(np.triu(np.full((length, length), _LOWEST, np.float32), 1)).stop_grad().sync()

"""Attention by MLX's own fast function, which takes no dropout: with it, by its formula. What was computed is noted."""
# ruff: noqa: FBT001, FBT002 - `causal` is positional in the vocabulary

from __future__ import annotations

import math
from typing import Any

import mlx.core as mx

from bakeoff.frameworks.dropping import drops

FUSED = "mx.fast.scaled_dot_product_attention"
"""Which kernels it takes, MLX does not report."""

_taken: set[str] = set()


def forget() -> None:
    """Begin anew: what was computed before is another model's."""
    _taken.clear()


def taken() -> str:
    """Return what has computed attention; that of a model without dropout on its weights where none was computed."""
    return ", ".join(sorted(_taken)) or FUSED


def attention(  # noqa: PLR0913, PLR0917 - the vocabulary's signature
    q: mx.array,
    k: mx.array,
    v: mx.array,
    causal: bool = False,
    mask: Any = None,
    bias: Any = None,
    scale: float | None = None,
    dropout: Any = None,
) -> mx.array:
    """Scaled dot-product attention of (batch, length, heads, features), by MLX's own fast function.

    It takes the word "causal" or one array, which is boolean or added.
    """
    is_dropped = dropout is not None and dropout.training and drops(dropout, 1 - dropout._p_1)  # noqa: SLF001 - MLX keeps it there
    given = "causal" if causal and not is_dropped else mask
    if bias is not None or (causal and (mask is not None or is_dropped)):
        if causal:
            earlier = mx.tril(mx.ones((q.shape[1], q.shape[1]), mx.bool_))
            mask = earlier if mask is None else mx.logical_and(mask, earlier)
        given = mask if bias is None else bias
        if bias is not None and mask is not None:
            given = mx.where(mask, bias, mx.finfo(bias.dtype).min)
    q, k, v = (one.swapaxes(1, 2) for one in (q, k, v))
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    _taken.add("math" if is_dropped else FUSED)
    if is_dropped:
        return _dropped(q, k, v, given, scale, dropout).swapaxes(1, 2)
    return mx.fast.scaled_dot_product_attention(q, k, v, scale=scale, mask=given).swapaxes(1, 2)


def _dropped(q: mx.array, k: mx.array, v: mx.array, given: Any, scale: float, dropout: Any) -> mx.array:
    """Return the same of (batch, heads, length, features) by its formula, with weights dropped."""
    if q.shape[1] != k.shape[1]:
        k, v = (mx.repeat(one, q.shape[1] // one.shape[1], axis=1) for one in (k, v))
    logits = (q * scale) @ k.swapaxes(-1, -2)
    if given is not None:
        is_mask = given.dtype == mx.bool_
        logits = mx.where(given, logits, mx.finfo(logits.dtype).min) if is_mask else logits + given
    return dropout(mx.softmax(logits, axis=-1, precise=True)) @ v

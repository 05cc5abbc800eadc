"""Attention by Keras' own operation, which TensorFlow computes by einsum."""

# ruff: noqa: FBT001, FBT002 - `causal` is positional in the vocabulary

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf


def attention(  # noqa: PLR0913, PLR0917 - the vocabulary's signature
    q: Any, k: Any, v: Any, causal: bool = False, mask: Any = None, bias: Any = None, scale: float | None = None
) -> Any:
    """Scaled dot-product attention of (batch, length, heads, features), as Keras' own operation computes it."""
    # A plain number would be rounded to float32 on its way.
    scale = tf.constant(q.shape[-1] ** -0.5 if scale is None else scale, q.dtype)
    if k.shape[2] == 1 < q.shape[2]:  # Keras repeats a few heads of keys, but not a single one
        k, v = (tf.repeat(one, q.shape[2], axis=2) for one in (k, v))
    return keras.ops.dot_product_attention(q, k, v, bias=bias, mask=mask, scale=scale, is_causal=causal)

"""Attention by Keras' own operation, which TensorFlow computes by einsum."""

# ruff: noqa: FBT001, FBT002 - `causal` is positional in the vocabulary

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from bakeoff.frameworks.dropping import drops
from bakeoff.frameworks.tensorflow import phase


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
    """Scaled dot-product attention of (batch, length, heads, features), as Keras' own operation computes it.

    Where weights are dropped, which that does not take, it is written out, as Keras' MultiHeadAttention does then.
    """
    # A plain number would be rounded to float32 on its way.
    scale = tf.constant(q.shape[-1] ** -0.5 if scale is None else scale, q.dtype)
    if k.shape[2] == 1 < q.shape[2]:  # Keras repeats a few heads of keys, but not a single one
        k, v = (tf.repeat(one, q.shape[2], axis=2) for one in (k, v))
    if phase.in_training() and drops(dropout, getattr(dropout, "rate", 0.0)):
        return _dropped(q, k, v, causal, mask, bias, scale, dropout)
    return keras.ops.dot_product_attention(q, k, v, bias=bias, mask=mask, scale=scale, is_causal=causal)


def _dropped(  # noqa: PLR0913, PLR0917 - as above
    q: Any, k: Any, v: Any, causal: bool, mask: Any, bias: Any, scale: Any, dropout: Any
) -> Any:
    """Return the same with weights dropped; as in Keras' operation the softmax is in no less than float32."""
    if k.shape[2] < q.shape[2]:
        k, v = (tf.repeat(one, q.shape[2] // one.shape[2], axis=2) for one in (k, v))
    precise = tf.float64 if q.dtype == tf.float64 else tf.float32
    logits = tf.cast(tf.einsum("bqhf,bkhf->bhqk", q, k), precise) * tf.cast(scale, precise)
    if bias is not None:
        logits += tf.cast(bias, precise)
    if causal:
        earlier = tf.linalg.band_part(tf.ones(logits.shape[-2:], tf.bool), -1, 0)
        mask = earlier if mask is None else tf.logical_and(mask, earlier)
    if mask is not None:
        logits = tf.where(mask, logits, precise.min)
    weights = tf.cast(tf.nn.softmax(logits), q.dtype)
    return tf.einsum("bhqk,bkhf->bqhf", dropout(weights), v)

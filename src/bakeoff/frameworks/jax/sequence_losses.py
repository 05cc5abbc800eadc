"""Losses of sequences: connectionist temporal classification by optax."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax


def ctc(logits: jax.Array, labels: jax.Array, logit_lengths: jax.Array, label_lengths: jax.Array) -> jax.Array:
    """Return the sum over the samples, over the batch size; optax takes paddings in place of lengths.

    A sample whose labels do not fit has about 1e5 in optax, its stand-in for infinity, and here nothing.
    """
    logit_paddings, label_paddings = (
        (jnp.arange(count) >= lengths[:, None]).astype(logits.dtype)
        for count, lengths in ((logits.shape[1], logit_lengths), (labels.shape[1], label_lengths))
    )
    losses = optax.ctc_loss(logits, logit_paddings, labels, label_paddings, blank_id=0)
    again = (labels[:, 1:] == labels[:, :-1]) * (1 - label_paddings[:, 1:])
    fits = label_lengths + jnp.sum(again, axis=1) <= logit_lengths
    return jnp.sum(jnp.where(fits, losses, 0)) / logits.shape[0]

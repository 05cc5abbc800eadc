"""Losses of sequences: connectionist temporal classification by TensorFlow's kernels, or by its recursion for XLA."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

LOWEST = -1e30
"""The logarithm of a probability of zero: finite, so that no gradient is lost in a difference of infinities."""


class Way:
    """How the loss is computed in this process."""

    by_kernel = True
    """Whether TensorFlow's own kernels may be taken; XLA has none of them."""


def ctc(logits: Any, labels: Any, logit_lengths: Any, label_lengths: Any) -> Any:
    """Sum over the samples, over the batch size.

    Labels are handed over sparse: TensorFlow's kernels on a processor and cuDNN's take these, and for dense ones it
    multiplies matrices of all states by all states in each frame. Both are of float32; anything else, and XLA, gets the
    recursion. The kernels fail where labels do not fit: such a sample has one label here, and no part in the sum.
    """
    again = tf.cast(labels[:, 1:] == labels[:, :-1], tf.int32) * _valid(label_lengths, labels.shape[1])[:, 1:]
    fits = label_lengths + tf.reduce_sum(again, 1) <= logit_lengths
    label_lengths = tf.where(fits, label_lengths, 1)
    if Way.by_kernel and logits.dtype == tf.float32:
        losses = tf.nn.ctc_loss(
            _sparse(labels, label_lengths), logits, None, logit_lengths, logits_time_major=False, blank_index=0
        )
    else:
        losses = -_log_likelihoods(logits, labels, logit_lengths, label_lengths)
    return tf.reduce_sum(tf.where(fits, losses, tf.zeros_like(losses))) / logits.shape[0]


def _valid(lengths: Any, count: int) -> Any:
    """Return 1 for each place before a sample's length, (batch, count)."""
    return tf.sequence_mask(lengths, count, tf.int32)


def _sparse(labels: Any, lengths: Any) -> Any:
    """Return the labels that count as a sparse tensor."""
    places = tf.where(_valid(lengths, labels.shape[1]) > 0)
    return tf.SparseTensor(places, tf.gather_nd(labels, places), tf.shape(labels, tf.int64))


def _log_likelihoods(logits: Any, labels: Any, logit_lengths: Any, label_lengths: Any) -> Any:
    """Return log p of each sample's labels, by the forward recursion of Graves et al. 2006, equations 5 to 8."""
    batch, frames, _ = logits.shape
    states = tf.reshape(tf.stack([tf.zeros_like(labels), labels], 2), (batch, -1))
    states = tf.pad(states, [[0, 0], [0, 1]])  # blank, label, blank, ..., label, blank
    emitted = tf.gather(tf.nn.log_softmax(logits), states, axis=2, batch_dims=1)
    lowest = tf.constant(LOWEST, logits.dtype)
    place = tf.range(states.shape[1])
    may_skip = (states != 0) & (states != tf.pad(states, [[0, 0], [2, 0]])[:, :-2])

    def moved(alpha: Any, by: int) -> Any:
        return tf.pad(alpha, [[0, 0], [by, 0]], constant_values=lowest)[:, :-by]

    def step(alpha: Any, at: Any) -> Any:
        one, is_in = at
        ways = tf.stack([alpha, moved(alpha, 1), tf.where(may_skip, moved(alpha, 2), lowest)])
        return tf.where(is_in[:, None], tf.reduce_logsumexp(ways, 0) + one, alpha)

    first = tf.where(place < 2, emitted[:, 0], lowest)  # noqa: PLR2004 - the first blank or the first label
    later = (tf.transpose(emitted[:, 1:], (1, 0, 2)), tf.transpose(_valid(logit_lengths, frames)[:, 1:] > 0))
    alpha = tf.scan(step, later, first)[-1] if frames > 1 else first
    ends = (place == 2 * label_lengths[:, None]) | (place == 2 * label_lengths[:, None] - 1)
    return tf.reduce_logsumexp(tf.where(ends, alpha, lowest), 1)

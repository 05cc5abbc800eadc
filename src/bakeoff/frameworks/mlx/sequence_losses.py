"""Losses of sequences: connectionist temporal classification, which MLX has none of, written out in its functions."""

from __future__ import annotations

import mlx.core as mx

LOWEST = -1e30
"""The logarithm of a probability of zero: finite, so that no gradient is lost in a difference of infinities."""


def ctc(logits: mx.array, labels: mx.array, logit_lengths: mx.array, label_lengths: mx.array) -> mx.array:
    """Sum over the samples, over the batch size; a sample whose labels do not fit adds nothing."""
    again = (labels[:, 1:] == labels[:, :-1]) & (mx.arange(1, labels.shape[1]) < label_lengths[:, None])
    fits = label_lengths + mx.sum(again, axis=1) <= logit_lengths
    losses = -_log_likelihoods(logits, labels, logit_lengths, label_lengths)
    return mx.sum(mx.where(fits, losses, 0)) / logits.shape[0]


def _log_likelihoods(logits: mx.array, labels: mx.array, logit_lengths: mx.array, label_lengths: mx.array) -> mx.array:
    """Return log p of each sample's labels, by the forward recursion of Graves et al. 2006, equations 5 to 8.

    MLX has no loop over an axis: the graph has every frame.
    """
    batch, frames, _ = logits.shape
    states = mx.pad(mx.flatten(mx.stack([mx.zeros_like(labels), labels], 2), 1), ((0, 0), (0, 1)))
    places = mx.broadcast_to(states[:, None], (batch, frames, states.shape[1]))
    emitted = mx.take_along_axis(logits - mx.logsumexp(logits, axis=2, keepdims=True), places, 2)
    place = mx.arange(states.shape[1])
    may_skip = (states != 0) & (states != mx.pad(states, ((0, 0), (2, 0)))[:, :-2])
    alpha = mx.where(place < 2, emitted[:, 0], LOWEST)  # noqa: PLR2004 - the first blank or the first label
    for frame in range(1, frames):
        one, two = (mx.pad(alpha[:, :-by], ((0, 0), (by, 0)), constant_values=LOWEST) for by in (1, 2))
        reached = mx.logaddexp(mx.logaddexp(alpha, one), mx.where(may_skip, two, LOWEST)) + emitted[:, frame]
        alpha = mx.where(frame < logit_lengths[:, None], reached, alpha)
    ends = (place == 2 * label_lengths[:, None]) | (place == 2 * label_lengths[:, None] - 1)
    return mx.logsumexp(mx.where(ends, alpha, LOWEST), axis=1)

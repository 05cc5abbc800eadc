"""Losses of sequences: connectionist temporal classification by Jittor's own kernels."""

from __future__ import annotations

from typing import Any

import jittor as jt


def ctc(logits: Any, labels: Any, logit_lengths: Any, label_lengths: Any) -> Any:
    """Sum over the samples, over the batch size.

    A sample whose labels do not fit has about 1e30 in Jittor, its stand-in for infinity, and here nothing.
    """
    batch, count = labels.shape
    log_probs = jt.transpose(jt.nn.log_softmax(logits, dim=-1), 1, 0, 2)
    losses = jt.ctc_loss(log_probs, labels, logit_lengths, label_lengths, reduction="none")
    needed = label_lengths
    if count > 1:
        place = jt.arange(1, count).unsqueeze(0)
        again = (labels[:, 1:] == labels[:, :-1]).logical_and(place < label_lengths.unsqueeze(1))
        needed = needed + again.int32().sum(1)
    fits = needed <= logit_lengths
    return jt.where(fits, losses, jt.zeros_like(losses)).sum() / batch

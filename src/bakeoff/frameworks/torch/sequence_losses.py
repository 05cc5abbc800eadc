"""Losses of sequences: connectionist temporal classification by PyTorch's own function."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F


def ctc(logits: Any, labels: Any, logit_lengths: Any, label_lengths: Any) -> Any:
    """Sum over the samples by torch's kernels, over the batch size: its own "mean" divides by the labels' lengths too.

    A sample whose labels do not fit is infinite to PyTorch, and nothing by its own zero_infinity.
    """
    log_probs = torch.log_softmax(logits, -1).transpose(0, 1)
    total = F.ctc_loss(log_probs, labels, logit_lengths, label_lengths, blank=0, reduction="sum", zero_infinity=True)
    return total / logits.shape[0]

"""Losses of sequences over shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.workloads.shapes import LayoutError, check_kind

if TYPE_CHECKING:
    from bakeoff.workloads.shapes import Shape

SEQUENCE_AXES = 3
"""Batch, time, classes."""


def ctc(logits: Shape, labels: Shape, logit_lengths: Shape, label_lengths: Shape) -> Shape:
    """Return one number."""
    given = {"logits": logits, "labels": labels, "logit_lengths": logit_lengths, "label_lengths": label_lengths}
    for one in given.values():
        check_kind("ctc", one, "array")
    if logits.ndim != SEQUENCE_AXES or logits.integer or logits.shape[-1] < 2:  # noqa: PLR2004 - the blank and a label
        msg = f"nn.ctc takes logits (batch, time, classes), class 0 the blank; these are {logits!r}"
        raise LayoutError(msg)
    batch = logits.shape[0]
    wanted = {"labels": (batch, labels.shape[-1] if labels.ndim else 0), "logit_lengths": (batch,)}
    for name, shape in (wanted | {"label_lengths": (batch,)}).items():
        one = given[name]
        if one.shape != shape or not one.integer:
            words = "(batch, most labels)" if name == "labels" else "(batch,)"
            msg = f"nn.ctc takes {name} {words} of dtype int32, for a batch of {batch}; this is {one!r}"
            raise LayoutError(msg if one.integer else f"{msg} of numbers")
    return logits.of()

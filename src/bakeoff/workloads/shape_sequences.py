"""Maps of time, lengths in them and losses of sequences, over shapes."""

from __future__ import annotations

from typing import Any

from bakeoff.workloads.layers import count
from bakeoff.workloads.shapes import LayoutError, Shape, check_kind

SEQUENCE_AXES = 3
"""Batch, time, classes."""


def columns(x: Shape) -> Shape:
    """Return one axis for the rows and channels of each column."""
    check_kind("columns", x, "map")
    batch, height, width, channels = x.shape
    return x.of(batch, width, height * channels)


def column_mask(x: Shape, lengths: Shape) -> Shape:
    """Return a map of one row and one channel."""
    check_kind("column_mask", x, "map")
    check_kind("column_mask", lengths, "array")
    batch, _, width, _ = x.shape
    if lengths.shape != (batch,) or not lengths.integer:
        msg = f"nn.column_mask takes lengths ({batch},) of dtype int32; this is {lengths!r} of {lengths.values}"
        raise LayoutError(msg)
    return Shape((batch, 1, width, 1), kind="map")


def floor_divide(x: Shape, number: Any) -> Shape:
    """Return integers of the same shape."""
    check_kind("floor_divide", x, "array")
    if not x.integer:
        msg = f"nn.floor_divide takes integers, as an input of dtype int32; this is {x!r} of {x.values}"
        raise LayoutError(msg)
    count("number", number)
    return x


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
            found = f"{one!r} of {one.values}"
            msg = f"nn.ctc takes {name} {words} of dtype int32, for a batch of {batch}; this is {found}"
            raise LayoutError(msg)
    return logits.of()

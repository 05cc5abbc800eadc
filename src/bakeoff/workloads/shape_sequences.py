"""Maps of time, lengths in them and losses of sequences, over shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.workloads.layers import count
from bakeoff.workloads.shape_checks import check_integer, check_lengths, check_range
from bakeoff.workloads.shapes import SEQUENCE_AXES, LayoutError, Shape, check_kind, check_real

if TYPE_CHECKING:
    from bakeoff.workloads.shape_functions import Counter


def columns(x: Shape) -> Shape:
    """Return one axis for the rows and channels of each column."""
    check_kind("columns", x, "map")
    batch, height, width, channels = x.dims
    return x.of(batch, width, height * channels)


def column_mask(x: Shape, lengths: Shape) -> Shape:
    """Return a map of one row and one channel."""
    check_kind("column_mask", x, "map")
    batch, _, width, _ = x.dims
    check_lengths("column_mask", lengths, batch)
    return Shape((batch, 1, width, 1), kind="map")


def floor_divide(x: Shape, number: Any) -> Shape:
    """Return integers of the same shape; raise LayoutError for those below 0, which not every framework rounds down."""
    check_integer("floor_divide", x)
    count("number", number)
    found = x.of(*x.dims)
    if x.high is None:
        return found
    if x.low < 0:
        why = "by its low and what is subtracted"
        msg = f"nn.floor_divide takes integers from 0 on; {x!r} has them from {x.low} on, {why}"
        raise LayoutError(msg)
    found.low, found.high = x.low // number, (x.high - 1) // number + 1
    return found


def ctc(counter: Counter, logits: Shape, labels: Shape, logit_lengths: Shape, label_lengths: Shape) -> Shape:
    """Return one number."""
    check_kind("ctc", logits, "array")
    if logits.ndim != SEQUENCE_AXES or logits.dims[-1] < 2:  # noqa: PLR2004 - the blank and a label
        msg = f"nn.ctc takes logits (batch, time, classes), class 0 the blank; these are {logits!r}"
        raise LayoutError(msg)
    check_real("ctc", logits)
    batch = logits.dims[0]
    check_integer("ctc", labels)
    if labels.ndim != 2 or labels.dims[0] != batch:  # noqa: PLR2004 - batch, most labels
        msg = f"nn.ctc takes labels (batch, most labels), for a batch of {batch}; these are {labels!r}"
        raise LayoutError(msg)
    check_range(f"nn.ctc of logits {logits.dims}", labels, logits.dims[-1])
    if labels.least is not None and labels.least < 1:
        msg = (
            f"nn.ctc takes labels from 1 on, and 0 is the blank; {labels!r} has them from {labels.least} on. Declare "
            'low=1, and length="the array with their lengths", beyond which there may be zeros'
        )
        raise LayoutError(msg)
    for name, lengths, sequence in (("logit_lengths", logit_lengths, logits), ("label_lengths", label_lengths, labels)):
        most = None if counter.is_cut else sequence.dims[1]
        check_lengths("ctc", lengths, batch, name, least=1, most=most)
    return logits.of()

from __future__ import annotations

import pytest

from bakeoff.workloads.shape_functions import Losses
from bakeoff.workloads.shapes import LayoutError, Shape

LOGITS, LABELS, LENGTHS = Shape((4, 9, 5), trained=True), Shape((4, 3), integer=True), Shape((4,), integer=True)


def test_ctc_gives_one_number_that_hangs_on_its_logits() -> None:
    """Of logits, labels and both lengths."""
    found = Losses.ctc(LOGITS, LABELS, LENGTHS, LENGTHS)
    assert found.shape == ()
    assert found.trained


@pytest.mark.parametrize(
    ("place", "given", "told"),
    [
        (0, Shape((4, 9, 2, 5), kind="map"), "a feature map (4, 9, 2, 5)"),
        (0, Shape((4, 5)), "logits (batch, time, classes)"),
        (0, Shape((4, 9, 1)), "class 0 the blank"),
        (0, Shape((4, 9, 5), integer=True), "takes logits"),
        (1, Shape((4, 3)), "labels (batch, most labels) of dtype int32"),
        (1, Shape((3, 3), integer=True), "for a batch of 4"),
        (1, Shape((), integer=True), "labels (batch, most labels)"),
        (2, Shape((4,)), "logit_lengths (batch,) of dtype int32"),
        (2, Shape((4, 1), integer=True), "this is an array (4, 1)"),
        (3, Shape((3,), integer=True), "label_lengths (batch,)"),
    ],
)
def test_ctc_refuses_what_it_cannot_take(place: int, given: Shape, told: str) -> None:
    """The text says what is wanted and what was given."""
    arguments = [LOGITS, LABELS, LENGTHS, LENGTHS]
    arguments[place] = given
    with pytest.raises(LayoutError) as refused:
        Losses.ctc(*arguments)
    assert told in str(refused.value)

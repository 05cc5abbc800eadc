from __future__ import annotations

import pytest

from bakeoff.spec.batch import ArraySpec
from bakeoff.workloads.interpreter import check_model
from bakeoff.workloads.load import load
from bakeoff.workloads.shape_functions import Counter, Functions, Losses
from bakeoff.workloads.shapes import LayoutError, Shape, of_batch

NN, LOSSES = Functions(Counter()), Losses(Counter())
LOGITS, LABELS, LENGTHS = Shape((4, 9, 5), trained=True), Shape((4, 3), integer=True), Shape((4,), integer=True)


def test_ctc_gives_one_number_that_hangs_on_its_logits() -> None:
    """Of logits, labels and both lengths."""
    found = LOSSES.ctc(LOGITS, LABELS, LENGTHS, LENGTHS)
    assert found.shape == ()
    assert found.trained


@pytest.mark.parametrize(
    ("place", "given", "told"),
    [
        (0, Shape((4, 9, 2, 5), kind="map"), "a feature map (4, 9, 2, 5)"),
        (0, Shape((4, 5)), "logits (batch, time, classes)"),
        (0, Shape((4, 9, 1)), "class 0 the blank"),
        (0, Shape((4, 9, 5), integer=True), "nn.ctc takes real numbers"),
        (1, Shape((4, 3)), "nn.ctc takes integers"),
        (1, Shape((3, 3), integer=True), "for a batch of 4"),
        (1, Shape((), integer=True), "labels (batch, most labels)"),
        (2, Shape((4,)), "logit_lengths (4,) of dtype int32"),
        (2, Shape((4, 1), integer=True), "this is an array (4, 1)"),
        (3, Shape((3,), integer=True), "label_lengths (4,)"),
        (
            1,
            of_batch(ArraySpec(shape=(3,), dtype="int32", high=5), 4),
            "nn.ctc takes labels from 1 on, and 0 is the blank",
        ),
        (2, of_batch(ArraySpec(dtype="int32", high=10), 4), "nn.ctc takes logit_lengths from 1 on"),
        (3, of_batch(ArraySpec(dtype="int32", high=4), 4), "nn.ctc takes label_lengths from 1 on"),
        (2, of_batch(ArraySpec(dtype="int32", low=1, high=11), 4), "nn.ctc takes logit_lengths up to 9, the length"),
        (3, of_batch(ArraySpec(dtype="int32", low=1, high=5), 4), "nn.ctc takes label_lengths up to 3, the length"),
    ],
)
def test_ctc_refuses_what_it_cannot_take(place: int, given: Shape, told: str) -> None:
    """The text says what is wanted and what was given."""
    arguments = [LOGITS, LABELS, LENGTHS, LENGTHS]
    arguments[place] = given
    with pytest.raises(LayoutError) as refused:
        LOSSES.ctc(*arguments)
    assert told in str(refused.value)


def test_ctc_of_a_shorter_batch_is_not_held_to_the_ranges_of_its_lengths() -> None:
    """`--padding` cuts spectrograms and letters to the longest of their batch; the size declares the longest of all."""
    loaded = load("deepspeech2")
    check_model(loaded, loaded.size("reduced"), "train", {"spectrogram": 61, "labels": 4})


def test_columns_of_a_map_are_a_sequence() -> None:
    """Each column has all rows and channels, and a mask by lengths goes with the map."""
    x = Shape((4, 3, 5, 2), kind="map", trained=True)
    assert NN.columns(x).shape == (4, 5, 6)
    assert NN.columns(x).kind == "array"
    masked = x * NN.column_mask(x, LENGTHS)
    assert (masked.shape, masked.kind) == (x.shape, "map")


MAP = Shape((4, 3, 5, 2), kind="map")


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("columns", (Shape((4, 3, 2)),), "takes a feature map"),
        ("column_mask", (Shape((4, 3, 2)), LENGTHS), "takes a feature map"),
        ("column_mask", (MAP, Shape((4,))), "takes lengths (4,) of dtype int32"),
        ("column_mask", (MAP, Shape((3,), integer=True)), "takes lengths (4,)"),
        ("column_mask", (MAP, MAP), "is given to nn.column_mask"),
    ],
)
def test_columns_refuse_what_they_cannot_take(name: str, given: tuple[Shape, ...], told: str) -> None:
    """The text says what is wanted and what was given."""
    with pytest.raises(LayoutError) as refused:
        getattr(NN, name)(*given)
    assert told in str(refused.value)


def test_floor_divide_keeps_integers() -> None:
    """Lengths stay lengths; numbers, and what is no whole number from 1 on, are refused."""
    assert NN.floor_divide(LENGTHS, 2).integer
    with pytest.raises(LayoutError, match="takes integers"):
        NN.floor_divide(Shape((4,)), 2)
    for number in (0, 2.0, LENGTHS):
        with pytest.raises(ValueError, match="number="):
            NN.floor_divide(LENGTHS, number)

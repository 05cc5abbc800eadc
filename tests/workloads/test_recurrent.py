from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.vocabulary import LAYERS
from bakeoff.workloads import plan
from bakeoff.workloads.interpreter import check_model, vocabulary
from bakeoff.workloads.layers_recurrent import shapes
from bakeoff.workloads.load import load
from bakeoff.workloads.shape_functions import Counter
from bakeoff.workloads.shapes import LayoutError, Shape, of_batch

if TYPE_CHECKING:
    from collections.abc import Callable

NN = vocabulary(Counter(), trains=True)
X = Shape((4, 7, 3))
LENGTHS = Shape((4,), integer=True)
STATE = (Shape((4, 5)), Shape((4, 5)))


class Counted(Counter):
    """Counts MACs."""

    macs = 0

    def product(self, macs: int, operands: Any, saved: int = 1) -> None:
        """Add them."""
        del operands, saved
        self.macs += macs


def test_lstm_gives_every_output_and_the_last_state() -> None:
    """One direction gives as many features as units; the two directions' lie side by side."""
    sequence, (h, c) = NN.LSTM(3, 5)(X, STATE, LENGTHS)
    assert (sequence.shape, h.shape, c.shape) == ((4, 7, 5), (4, 5), (4, 5))
    sequence, (h, c) = NN.LSTM(3, 5, bidirectional=True)(X, lengths=LENGTHS)
    assert (sequence.shape, h.shape, c.shape) == ((4, 7, 10), (4, 10), (4, 10))
    sequence, h = NN.GRU(3, 5)(X, lengths=of_batch(ArraySpec(dtype="int32", low=1, high=8), 4))
    assert (sequence.shape, h.shape) == ((4, 7, 5), (4, 5))


def test_a_shorter_batch_is_not_held_to_the_ranges_of_its_lengths() -> None:
    """`--padding` cuts sequences to the longest of their batch, and the size declares the longest of all."""
    loaded = load("gnmt")
    check_model(loaded, loaded.size("reduced"), "train", {"source": 8, "target_in": 7, "target_out": 7})


@pytest.mark.parametrize(("biases", "parameters"), [(1, 4 * 5 * (3 + 5 + 1)), (2, 4 * 5 * (3 + 5 + 2))])
def test_parameters_of_an_lstm(biases: int, parameters: int) -> None:
    """Four gates have weights for inputs and units and one bias, or two; both directions have their own."""
    for directions in (1, 2):
        layer = NN.LSTM(3, 5, bidirectional=directions == 2, biases=biases)
        assert sum(array.count for array in layer.parameters.values()) == directions * parameters


def test_second_bias_of_a_gru_is_its_own_by_default() -> None:
    """The reset multiplies it, so that the first bias cannot stand for it."""
    assert shapes(3, 5, 3, biases=2).keys() == NN.GRU(3, 5).parameters.keys()
    assert "recurrent_bias" not in NN.LSTM(3, 5).parameters
    assert "biases=2" in LAYERS["GRU"]
    assert "biases=1" in LAYERS["LSTM"]


def test_products_of_every_step_are_counted() -> None:
    """A scan counts what its step multiplies as often as it runs; an LSTM as much as its cell in a scan."""
    counters = [Counted(), Counted()]
    whole, stepped = (vocabulary(counter, trains=True) for counter in counters)
    whole.LSTM(3, 5)(X)
    cell = stepped.LSTMCell(3, 5)

    def step(state: Any, x: Any) -> Any:
        h, c = cell(x, state)
        return (h, c), h

    state, outputs = stepped.scan(step, STATE, X)
    assert outputs.shape == (4, 7, 5)
    assert [one.shape for one in state] == [(4, 5), (4, 5)]
    assert counters[0].macs == counters[1].macs == 4 * 7 * 4 * 5 * (3 + 5)


def test_a_grus_cell_counts_as_the_layer() -> None:
    """In a scan it multiplies what a GRU multiplies over the sequence."""
    counters = [Counted(), Counted()]
    whole, stepped = (vocabulary(counter, trains=True) for counter in counters)
    whole.GRU(3, 5)(X)
    cell = stepped.GRUCell(3, 5)

    def step(h: Any, x: Any) -> Any:
        h = cell(x, h)
        return h, h

    stepped.scan(step, STATE[0], X)
    assert counters[0].macs == counters[1].macs == 4 * 7 * 3 * 5 * (3 + 5)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a single step": (lambda: NN.LSTM(3, 5)(Shape((4, 3))), r"takes \(batch, length, features\)"),
    "other features": (lambda: NN.LSTM(2, 5)(X), "made for 2, given 3"),
    "a map": (lambda: NN.GRU(3, 5)(Shape((4, 7, 7, 3), kind="map")), "nn.tokens"),
    "lengths that are no integers": (lambda: NN.LSTM(3, 5)(X, lengths=Shape((4,))), r"lengths \(4,\) of dtype int32"),
    "lengths that may be zero": (
        lambda: NN.GRU(3, 5)(X, lengths=of_batch(ArraySpec(dtype="int32", high=8), 4)),
        r"nn.GRU takes lengths from 1 on; an array \(4,\) has them from 0 on: declare a larger low",
    ),
    "lengths that are zero behind a stride": (
        lambda: NN.LSTM(3, 5)(X, lengths=NN.floor_divide(of_batch(ArraySpec(dtype="int32", low=1, high=8), 4), 2)),
        "nn.LSTM takes lengths from 1 on",
    ),
    "lengths beyond the sequence": (
        lambda: NN.LSTM(3, 5)(X, lengths=of_batch(ArraySpec(dtype="int32", low=1, high=15), 4)),
        r"nn.LSTM takes lengths up to 7, the length of this sequence; an array \(4,\) has them up to 14",
    ),
    "lengths of another batch": (lambda: NN.GRU(3, 5)(X, lengths=Shape((3,), integer=True)), "lengths \\(4,\\)"),
    "a state that is one array": (lambda: NN.LSTM(3, 5)(X, STATE[0]), r"tuple \(h, c\)"),
    "a state of one direction": (lambda: NN.LSTM(3, 5, bidirectional=True)(X, STATE), r"shape \(4, 10\), the forward"),
    "a sequence for a cell": (lambda: NN.LSTMCell(3, 5)(X, STATE), "one time step"),
    "a sequence for a GRU's cell": (lambda: NN.GRUCell(3, 5)(X, STATE[0]), "nn.GRUCell takes one time step"),
    "a pair for a GRU's cell": (lambda: NN.GRUCell(3, 5)(X[:, 0], STATE), "nn.GRUCell takes an array"),
    "inputs of two lengths": (lambda: NN.scan(None, X, (X, Shape((4, 8, 3)))), "one batch and one length"),
    "a step without an output": (lambda: NN.scan(lambda state, _: state, X[:, 0], X), r"must return \(state, output\)"),
    "a state that grows": (
        lambda: NN.scan(lambda state, x: (NN.concat([state, x], 1), x), X[:, 0], X),
        "both must have the same shapes",
    ),
    "a state that becomes real": (
        lambda: NN.scan(lambda _, x: (x, x), Shape((4, 3), integer=True), X),
        "both must have the same shapes",
    ),
    "one number as output": (
        lambda: NN.scan(lambda state, x: (state, NN.mean(x)), X[:, 0], X),
        r"returned an array \(\) as output; it stacks arrays whose first axis is the batch",
    ),
    "a list as state": (lambda: NN.scan(lambda state, x: (state, x), [X], X), "an array or a tuple of arrays"),
    "statistics of one step": (
        lambda: NN.scan(lambda state, x: (state, NN.BatchNorm(3)(x)), X[:, 0], X),
        "inside nn.scan would normalise one step of many",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_has_no_meaning_is_refused(what: str) -> None:
    """Shapes and values that do not fit end before any framework starts, with what would."""
    call, said = REFUSED[what]
    with pytest.raises(LayoutError, match=said):
        call()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"biases": 3}, "biases=3: it must be 1 or 2"),
        ({"hidden": 0}, "hidden=0: it must be a whole number, at least 1"),
        ({"bidirectional": 2}, "bidirectional=2: it must be True or False"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], said: str) -> None:
    """Each argument says what it may be."""
    for layers in (NN, plan._VOCABULARY):
        with pytest.raises((TypeError, ValueError), match=said):
            layers.LSTM(**{"in_features": 3, "hidden": 5} | arguments)

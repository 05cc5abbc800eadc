"""Recurrent layers and `scan`: what they compute, in NumPy float64, time step by time step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contract_cases.vocabulary import BATCH, CLASSES, Case, linear, model, random, sigmoid

if TYPE_CHECKING:
    from contract_cases.vocabulary import Array, Weights

HIDDEN = 3
STEPS = 4
TOKENS = np.array([[4, 0, 1, 2, 3], [1, 3, 3, 3, 3], [2, 4, 0, 1, 1], [3, 2, 4, 0, 2]], np.int32)
"""For each sample its length, from 1 to all, and then its tokens."""


def lstm_step(weights: Weights, start: str, x: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return the next (h, c); `start` is what the names of the arrays begin with."""
    h, c = state
    gates = x @ weights[f"{start}input_weight"] + weights[f"{start}bias"] + h @ weights[f"{start}recurrent_weight"]
    i, f, g, o = np.split(gates + weights.get(f"{start}recurrent_bias", 0.0), 4, -1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru_step(weights: Weights, start: str, x: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return the next (h,), with the reset after the product."""
    (h,) = state
    x_r, x_z, x_n = np.split(x @ weights[f"{start}input_weight"] + weights[f"{start}bias"], 3, -1)
    product = h @ weights[f"{start}recurrent_weight"] + weights.get(f"{start}recurrent_bias", 0.0)
    h_r, h_z, h_n = np.split(product, 3, -1)
    z = sigmoid(x_z + h_z)
    return ((1 - z) * np.tanh(x_n + sigmoid(x_r + h_r) * h_n) + z * h,)


def one_direction(
    step: Any, weights: Weights, start: str, x: Array, state: tuple[Array, ...], lengths: Array
) -> tuple[Array, tuple[Array, ...]]:
    """Run every sample by itself over its own steps; the backward direction from its own end."""
    outputs = np.zeros((*x.shape[:2], state[0].shape[-1]))
    ends = []
    for sample, length in enumerate(lengths):
        now = tuple(one[sample] for one in state)
        places = range(length)
        for place in reversed(places) if "backward_" in start else places:
            now = step(weights, start, x[sample, place], now)
            outputs[sample, place] = now[0]
        ends.append(now)
    return outputs, tuple(np.stack(one) for one in zip(*ends, strict=True))


def both_directions(
    step: Any, weights: Weights, name: str, x: Array, state: tuple[Array, ...], lengths: Array
) -> tuple[Array, tuple[Array, ...]]:
    """Put the outputs and the last states of both directions side by side."""
    halves = zip(*(np.split(one, 2, -1) for one in state), strict=True)
    starts = (f"{name}.", f"{name}.backward_")
    parts = [one_direction(step, weights, start, x, half, lengths) for start, half in zip(starts, halves, strict=True)]
    sequences, ends = zip(*parts, strict=True)
    return np.concatenate(sequences, -1), tuple(np.concatenate(one, -1) for one in zip(*ends, strict=True))


def zeros(x: Array, width: int, count: int) -> tuple[Array, ...]:
    """Return first states of zeros."""
    return tuple(np.zeros((len(x), width)) for _ in range(count))


def whole(x: Array) -> Array:
    """Return the length of every sample where none is given."""
    return np.full(len(x), x.shape[1])


# --- An LSTM as it comes, and one with all that it can take -----------------------------------------------------------


def plain(nn: Any) -> Any:
    """Use every output of one direction, each with a weight of its place, and both arrays of the last state."""

    def forward(m: Any, x: Any) -> Any:
        sequence, (h, c) = m.lstm(x)
        return nn.mean(sequence * m.each, 1) + h * c

    return model(nn, {"lstm": nn.LSTM(2, HIDDEN), "each": nn.Parameter((STEPS, 1))}, forward)


def plain_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""
    sequence, (h, c) = one_direction(lstm_step, weights, "lstm.", x, zeros(x, HIDDEN, 2), whole(x))
    return (sequence * weights["each"]).mean(1) + h * c


def with_lengths(nn: Any) -> Any:
    """Read tokens in both directions within their lengths, from a state that is given, with two biases."""
    layers = {
        "table": nn.Embedding(5, 2),
        "first": nn.Linear(2, 4),
        "lstm": nn.LSTM(2, 2, bidirectional=True, biases=2),
        "each": nn.Parameter((STEPS, 1)),
        "head": nn.Linear(4, CLASSES),
    }

    def forward(m: Any, x: Any) -> Any:
        seen = m.table(x[:, 1:])
        first = m.first(seen[:, 0])
        sequence, (h, c) = m.lstm(seen, (first, nn.tanh(first)), x[:, 0])
        return m.head(nn.sum(sequence * m.each, 1) + h * c)

    return model(nn, layers, forward)


def with_lengths_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""
    tokens = x.astype(int)
    seen = weights["table.weight"][tokens[:, 1:]]
    first = linear(weights, "first", seen[:, 0])
    state = (first, np.tanh(first))
    sequence, (h, c) = both_directions(lstm_step, weights, "lstm", seen, state, tokens[:, 0])
    return linear(weights, "head", (sequence * weights["each"]).sum(1) + h * c)


# --- GRUs -------------------------------------------------------------------------------------------------------------


def grus(nn: Any) -> Any:
    """Put a GRU with one bias, over whole sequences, behind one in both directions within lengths, from a state."""
    layers = {
        "table": nn.Embedding(5, 2),
        "start": nn.Linear(2, 4),
        "first": nn.GRU(2, 2, bidirectional=True),
        "second": nn.GRU(4, CLASSES, biases=1),
    }

    def forward(m: Any, x: Any) -> Any:
        seen = m.table(x[:, 1:])
        sequence, h = m.first(seen, m.start(seen[:, 0]), lengths=x[:, 0])
        last, end = m.second(sequence)
        return last[:, 1] + end * h[:, :CLASSES]

    return model(nn, layers, forward)


def grus_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""
    tokens = x.astype(int)
    seen = weights["table.weight"][tokens[:, 1:]]
    start = (linear(weights, "start", seen[:, 0]),)
    sequence, (h,) = both_directions(gru_step, weights, "first", seen, start, tokens[:, 0])
    state = zeros(x, CLASSES, 1)
    last, (end,) = one_direction(gru_step, weights, "second.", sequence, state, whole(sequence))
    return last[:, 1] + end * h[:, :CLASSES]


# --- A loop of a model's own ------------------------------------------------------------------------------------------


def decoder(nn: Any) -> Any:
    """Give each step what the step before has made of a cell's state, with tuples for all that may be one."""
    layers = {"first": nn.Linear(2, HIDDEN), "cell": nn.LSTMCell(5, HIDDEN, biases=2), "head": nn.Linear(HIDDEN, 3)}

    def forward(m: Any, x: Any) -> Any:
        def step(state: Any, now: Any) -> Any:
            h, c, before = state
            first, second = now
            h, c = m.cell(nn.concat([first, second, before], 1), (h, c))
            made = nn.tanh(m.head(h))
            return (h, c, made), (made, c)

        start = m.first(x[:, 0])
        (h, c, made), (outputs, cells) = nn.scan(step, (start, start * 0.5, start * 0.0), (x[:, :, :1], x[:, :, 1:]))
        after, each = nn.scan(lambda total, now: (total + now * made, total), made, outputs + cells)
        return nn.mean(outputs * cells, 1) + h + c * after + each[:, 2]

    return model(nn, layers, forward)


def decoder_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""
    start = linear(weights, "first", x[:, 0])
    h, c, made = start, start / 2, start * 0
    outputs, cells = [], []
    for place in range(x.shape[1]):
        h, c = lstm_step(weights, "cell.", np.concatenate([x[:, place], made], 1), (h, c))
        made = np.tanh(linear(weights, "head", h))
        outputs.append(made)
        cells.append(c)
    totals = [made]
    for output, cell in zip(outputs, cells, strict=True):
        totals.append(totals[-1] + (output + cell) * made)
    return np.mean(np.multiply(outputs, cells), 0) + h + c * totals[-1] + totals[2]


def translated(nn: Any) -> Any:
    """Read with one cell and write with another, of two biases and of one, each step with what the one before wrote."""
    layers = {"reader": nn.GRUCell(2, HIDDEN), "writer": nn.GRUCell(HIDDEN, HIDDEN, biases=1)}

    def forward(m: Any, x: Any) -> Any:
        def write(state: Any, _: Any) -> Any:
            h = m.writer(nn.tanh(state), state)
            return h, h

        start = nn.stack([x[:, 0, 0], x[:, 1, 1], x[:, 2, 0]], 1)
        read, _ = nn.scan(lambda h, now: (m.reader(now, h), h), start, x)
        _, written = nn.scan(write, read, x)
        return nn.mean(written, 1)

    return model(nn, layers, forward)


def translated_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""
    h = np.stack([x[:, 0, 0], x[:, 1, 1], x[:, 2, 0]], 1)
    for place in range(x.shape[1]):
        (h,) = gru_step(weights, "reader.", x[:, place], (h,))
    written = []
    for _ in range(x.shape[1]):
        (h,) = gru_step(weights, "writer.", np.tanh(h), (h,))
        written.append(h)
    return np.mean(written, 0)


CASES: dict[str, Case] = {
    "lstm": Case(names=("LSTM",), build=plain, forward=plain_in_numpy, x=random(BATCH, STEPS, 2)),
    "lstm in both directions with lengths": Case(
        names=("LSTM",), build=with_lengths, forward=with_lengths_in_numpy, x=TOKENS
    ),
    "gru": Case(names=("GRU",), build=grus, forward=grus_in_numpy, x=TOKENS),
    "scan of a cell": Case(
        names=("LSTMCell", "scan"), build=decoder, forward=decoder_in_numpy, x=random(BATCH, STEPS, 2)
    ),
    "scan of a gru's cell": Case(
        names=("GRUCell", "scan"), build=translated, forward=translated_in_numpy, x=random(BATCH, STEPS, 2)
    ),
}

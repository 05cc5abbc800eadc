"""Recurrent layers in Jittor: loops over the time steps, as its own layers have them on a processor, and `scan`.

jittor.nn.LSTM multiplies inputs and hidden state in every step, and knows no lengths; the layers here take the inputs'
products of all time steps in one. On CUDA Jittor has cuDNN's, in a build that bakeoff does not run.
"""
# ruff: noqa: FBT001, FBT002 - `bidirectional` is positional in the vocabulary

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jittor as jt

from bakeoff.frameworks.jittor.tangent import tanh
from bakeoff.frameworks.loops import looped, places_of
from bakeoff.workloads.layers_recurrent import BACKWARD, GRU_GATES, LSTM_GATES, shapes

if TYPE_CHECKING:
    from collections.abc import Callable

    State = tuple[Any, Any]

CELL = "cell"
"""The only value of the option `lstm` that Jittor has here."""

MASKED = "masked"
"""The only one of `lengths`."""


def settings(network: Any) -> dict[str, str | int | float | bool | None]:
    """Return what computes a network's LSTMs and its single steps of them, and what its layers do with lengths.

    None where it has no such layer.
    """
    kinds = {type(layer) for layer in network.modules()}
    return {
        "lstm": CELL if LSTM in kinds else None,
        "lstm_cell": CELL if LSTMCell in kinds else None,
        "lengths": MASKED if {LSTM, GRU} & kinds else None,
    }


class _Recurrent(jt.Module):
    """Arrays by their canonical names and in their canonical layout, and the way through time."""

    def __init__(self, in_features: int, hidden: int, gates: int, biases: int, *, bidirectional: bool = False) -> None:
        """Make the arrays; loaded ones take their place."""
        super().__init__()
        self._hidden, self._gates = hidden, gates
        self._directions = ("", BACKWARD) if bidirectional else ("",)
        for name, shape in shapes(in_features, hidden, gates, bidirectional=bidirectional, biases=biases).items():
            setattr(self, name, jt.zeros(shape))

    def _projected(self, direction: str, x: Any) -> Any:
        """Return the inputs' part of the gates, of one time step or of all."""
        return jt.matmul(x, getattr(self, f"{direction}input_weight")) + getattr(self, f"{direction}bias")

    def _recurred(self, direction: str, h: Any) -> Any:
        """Return the hidden state's part of the gates."""
        product = jt.matmul(h, getattr(self, f"{direction}recurrent_weight"))
        name = f"{direction}recurrent_bias"
        return product + getattr(self, name) if name in vars(self) else product

    def _parts(self, gates: Any) -> list[Any]:
        """Return the gates one by one."""
        return [gates[:, place * self._hidden : (place + 1) * self._hidden] for place in range(self._gates)]

    def _next(self, direction: str, projected: Any, state: Any) -> Any:
        """Return the next state, a tuple whose first array is h."""
        raise NotImplementedError

    def _zeros(self, x: Any) -> Any:
        """Return the first state where none is given."""
        return jt.zeros((x.shape[0], len(self._directions) * self._hidden)).stop_grad()

    def _both(self, x: Any, states: Any, lengths: Any) -> tuple[Any, Any]:
        """Return the sequence of h and the last state, both directions side by side."""
        if len(self._directions) == 1:
            return self._direction("", x, states, lengths)
        halves = [[one[:, : self._hidden] for one in states], [one[:, self._hidden :] for one in states]]
        parts = [
            self._direction(direction, x, tuple(half), lengths)
            for direction, half in zip(self._directions, halves, strict=True)
        ]
        sequences, ends = zip(*parts, strict=True)
        return jt.concat(list(sequences), -1), tuple(jt.concat(list(one), -1) for one in zip(*ends, strict=True))

    def _direction(self, direction: str, x: Any, state: Any, lengths: Any) -> tuple[Any, Any]:
        """Return one direction's outputs and last state; a step beyond a sample's length leaves its state."""
        projected = self._projected(direction, x)
        places = range(x.shape[1])
        outputs: list[Any] = [None] * x.shape[1]
        for place in reversed(places) if direction else places:
            after = self._next(direction, projected[:, place], state)
            outputs[place] = after[0]
            if lengths is not None:
                inside = jt.float32(lengths > place).unsqueeze(1).stop_grad()
                outputs[place] = after[0] * inside
                after = tuple(old + inside * (new - old) for new, old in zip(after, state, strict=True))
            state = after
        return jt.stack(outputs, 1), state


class LSTM(_Recurrent):
    """One layer of an LSTM over (batch, length, features)."""

    def __init__(self, in_features: int, hidden: int, bidirectional: bool = False, biases: int = 1) -> None:
        """Make the arrays."""
        super().__init__(in_features, hidden, len(LSTM_GATES), biases, bidirectional=bidirectional)

    def execute(self, x: Any, state: State | None = None, lengths: Any = None) -> tuple[Any, State]:
        """Return the sequence of h, and the last (h, c)."""
        return self._both(x, (self._zeros(x), self._zeros(x)) if state is None else state, lengths)

    def _next(self, direction: str, projected: Any, state: State) -> State:
        """Return the next (h, c)."""
        h, c = state
        return _lstm(self._parts(projected + self._recurred(direction, h)), c)


class GRU(_Recurrent):
    """One layer of a GRU over (batch, length, features), with the reset after the product."""

    def __init__(self, in_features: int, hidden: int, bidirectional: bool = False, biases: int = 2) -> None:
        """Make the arrays."""
        super().__init__(in_features, hidden, len(GRU_GATES), biases, bidirectional=bidirectional)

    def execute(self, x: Any, state: Any = None, lengths: Any = None) -> tuple[Any, Any]:
        """Return the sequence of h, and the last h."""
        sequence, (h,) = self._both(x, (self._zeros(x) if state is None else state,), lengths)
        return sequence, h

    def _next(self, direction: str, projected: Any, state: tuple[Any]) -> tuple[Any]:
        """Return the next h."""
        (h,) = state
        return (_gru(self._parts(projected), self._parts(self._recurred(direction, h)), h),)


class LSTMCell(_Recurrent):
    """One step of an LSTM."""

    def __init__(self, in_features: int, hidden: int, biases: int = 1) -> None:
        """Make the arrays."""
        super().__init__(in_features, hidden, len(LSTM_GATES), biases)

    def execute(self, x: Any, state: State) -> State:
        """Return the next (h, c)."""
        h, c = state
        return _lstm(self._parts(self._projected("", x) + self._recurred("", h)), c)


class GRUCell(_Recurrent):
    """One step of a GRU."""

    def __init__(self, in_features: int, hidden: int, biases: int = 2) -> None:
        """Make the arrays."""
        super().__init__(in_features, hidden, len(GRU_GATES), biases)

    def execute(self, x: Any, state: Any) -> Any:
        """Return the next h."""
        return _gru(self._parts(self._projected("", x)), self._parts(self._recurred("", state)), state)


def _lstm(gates: list[Any], c: Any) -> State:
    """Return the next (h, c) from the gates before their functions."""
    i, f, g, o = gates
    c = jt.sigmoid(f) * c + jt.sigmoid(i) * tanh(g)
    return jt.sigmoid(o) * tanh(c), c


def _gru(projected: list[Any], recurred: list[Any], h: Any) -> Any:
    """Return the next h from the inputs' and the hidden state's parts of each gate."""
    (x_r, x_z, x_n), (h_r, h_z, h_n) = projected, recurred
    z = jt.sigmoid(x_z + h_z)
    n = tanh(x_n + jt.sigmoid(x_r + h_r) * h_n)
    return (1 - z) * n + z * h


def scan(step: Callable[[Any, Any], tuple[Any, Any]], state: Any, inputs: Any) -> tuple[Any, Any]:
    """Run a step for each place of axis 1, one after another: Jittor has no loop of its own."""
    return looped(step, state, places_of(inputs), jt.stack)

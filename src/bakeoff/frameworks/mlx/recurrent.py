"""Recurrent layers in MLX: loops over the time steps, as its own layers have them, and `scan`.

mlx.nn.LSTM takes the inputs' products of all time steps in one and then elementary operations in every step; so do the
layers here, which know lengths and two directions, too.
"""
# ruff: noqa: FBT001, FBT002 - `bidirectional` is positional in the vocabulary

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import mlx.core as mx
import mlx.nn

from bakeoff.frameworks.loops import looped, places_of
from bakeoff.workloads.layers_recurrent import BACKWARD, GRU_GATES, LSTM_GATES, shapes

if TYPE_CHECKING:
    from collections.abc import Callable

    State = tuple[mx.array, mx.array]

CELL = "cell"
"""The only value of the option `lstm` that MLX has."""

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


class _Recurrent(mlx.nn.Module):
    """Arrays by their canonical names, with outputs first, and the way through time."""

    outputs_first: ClassVar[tuple[str, ...]] = tuple(
        f"{direction}{name}" for direction in ("", BACKWARD) for name in ("input_weight", "recurrent_weight")
    )

    def __init__(self, in_features: int, hidden: int, gates: int, biases: int, *, bidirectional: bool = False) -> None:
        """Make the arrays; loaded ones take their place."""
        super().__init__()
        self._hidden = hidden
        self._directions = ("", BACKWARD) if bidirectional else ("",)
        for name, shape in shapes(in_features, hidden, gates, bidirectional=bidirectional, biases=biases).items():
            setattr(self, name, mx.zeros(tuple(reversed(shape))))

    def _projected(self, direction: str, x: mx.array) -> mx.array:
        """Return the inputs' part of the gates, of one time step or of all."""
        return mx.addmm(self[f"{direction}bias"], x, self[f"{direction}input_weight"].T)

    def _recurred(self, direction: str, h: mx.array, projected: mx.array | None = None) -> mx.array:
        """Return the hidden state's part of the gates, added to the inputs' where that is given."""
        weight, second = self[f"{direction}recurrent_weight"].T, self.get(f"{direction}recurrent_bias")
        if projected is not None:
            second = projected if second is None else projected + second
        return h @ weight if second is None else mx.addmm(second, h, weight)

    def _next(self, direction: str, projected: mx.array, state: Any) -> Any:
        """Return the next state, a tuple whose first array is h."""
        raise NotImplementedError

    def _zeros(self, x: mx.array) -> mx.array:
        """Return the first state where none is given.

        Made of the inputs, so that it is one of each sample under mx.vmap, too, whose rule for addmm fails where the
        sum has a batch and the product has none.
        """
        zeros = mx.stop_gradient(0.0 * x[:, 0, :1])
        return mx.broadcast_to(zeros, (x.shape[0], len(self._directions) * self._hidden))

    def _both(self, x: mx.array, states: Any, lengths: mx.array | None) -> tuple[mx.array, Any]:
        """Return the sequence of h and the last state, both directions side by side."""
        count = len(self._directions)
        parts = [
            self._direction(direction, x, tuple(mx.split(one, count, -1)[place] for one in states), lengths)
            for place, direction in enumerate(self._directions)
        ]
        sequences, ends = zip(*parts, strict=True)
        return mx.concatenate(sequences, -1), tuple(mx.concatenate(one, -1) for one in zip(*ends, strict=True))

    def _direction(self, direction: str, x: mx.array, state: Any, lengths: mx.array | None) -> tuple[mx.array, Any]:
        """Return one direction's outputs and last state; a step beyond a sample's length leaves its state."""
        projected = self._projected(direction, x)
        places = range(x.shape[1])
        outputs: list[Any] = [None] * x.shape[1]
        for place in reversed(places) if direction else places:
            after = self._next(direction, projected[:, place], state)
            outputs[place] = after[0]
            if lengths is not None:
                inside = (place < lengths)[:, None]
                outputs[place] = mx.where(inside, after[0], 0.0)
                after = tuple(mx.where(inside, new, old) for new, old in zip(after, state, strict=True))
            state = after
        return mx.stack(outputs, 1), state


class LSTM(_Recurrent):
    """One layer of an LSTM over (batch, length, features)."""

    def __init__(self, in_features: int, hidden: int, bidirectional: bool = False, biases: int = 1) -> None:
        """Make the arrays."""
        super().__init__(in_features, hidden, len(LSTM_GATES), biases, bidirectional=bidirectional)

    def __call__(
        self, x: mx.array, state: State | None = None, lengths: mx.array | None = None
    ) -> tuple[mx.array, State]:
        """Return the sequence of h, and the last (h, c)."""
        return self._both(x, (self._zeros(x), self._zeros(x)) if state is None else state, lengths)

    def _next(self, direction: str, projected: mx.array, state: State) -> State:
        """Return the next (h, c)."""
        h, c = state
        return _lstm(self._recurred(direction, h, projected), c)


class GRU(_Recurrent):
    """One layer of a GRU over (batch, length, features), with the reset after the product."""

    def __init__(self, in_features: int, hidden: int, bidirectional: bool = False, biases: int = 2) -> None:
        """Make the arrays."""
        super().__init__(in_features, hidden, len(GRU_GATES), biases, bidirectional=bidirectional)

    def __call__(
        self, x: mx.array, state: mx.array | None = None, lengths: mx.array | None = None
    ) -> tuple[mx.array, mx.array]:
        """Return the sequence of h, and the last h."""
        sequence, (h,) = self._both(x, (self._zeros(x) if state is None else state,), lengths)
        return sequence, h

    def _next(self, direction: str, projected: mx.array, state: tuple[mx.array]) -> tuple[mx.array]:
        """Return the next h."""
        (h,) = state
        return (_gru(projected, self._recurred(direction, h), h),)


class LSTMCell(_Recurrent):
    """One step of an LSTM."""

    def __init__(self, in_features: int, hidden: int, biases: int = 1) -> None:
        """Make the arrays."""
        super().__init__(in_features, hidden, len(LSTM_GATES), biases)

    def __call__(self, x: mx.array, state: State) -> State:
        """Return the next (h, c)."""
        h, c = state
        return _lstm(self._recurred("", h, self._projected("", x)), c)


class GRUCell(_Recurrent):
    """One step of a GRU."""

    def __init__(self, in_features: int, hidden: int, biases: int = 2) -> None:
        """Make the arrays."""
        super().__init__(in_features, hidden, len(GRU_GATES), biases)

    def __call__(self, x: mx.array, state: mx.array) -> mx.array:
        """Return the next h."""
        return _gru(self._projected("", x), self._recurred("", state), state)


def _lstm(gates: mx.array, c: mx.array) -> State:
    """Return the next (h, c) from the gates before their functions."""
    i, f, g, o = mx.split(gates, len(LSTM_GATES), -1)
    c = mx.sigmoid(f) * c + mx.sigmoid(i) * mx.tanh(g)
    return mx.sigmoid(o) * mx.tanh(c), c


def _gru(projected: mx.array, recurred: mx.array, h: mx.array) -> mx.array:
    """Return the next h from the inputs' and the hidden state's parts of the gates."""
    x_r, x_z, x_n = mx.split(projected, len(GRU_GATES), -1)
    h_r, h_z, h_n = mx.split(recurred, len(GRU_GATES), -1)
    z = mx.sigmoid(x_z + h_z)
    n = mx.tanh(x_n + mx.sigmoid(x_r + h_r) * h_n)
    return (1 - z) * n + z * h


def scan(step: Callable[[Any, Any], tuple[Any, Any]], state: Any, inputs: Any) -> tuple[Any, Any]:
    """Run a step for each place of axis 1, one after another: MLX has no loop of its own."""
    return looped(step, state, places_of(inputs), mx.stack)

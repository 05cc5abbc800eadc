"""Recurrent layers in TensorFlow: loops over the time steps, its kernels for steps and sequences, and `scan`.

The option `lstm` chooses what computes an LSTM: cell is a tf.while_loop over elementary operations, in which a CPU
multiplies the inputs, too, as keras.layers.LSTM does; a GPU multiplies those of all time steps at once. block is one
LSTMBlockCell a step; fused is one operation for the sequence, cuDNN's on CUDA and BlockLSTM on a CPU. default is what
keras.layers.LSTM takes: cuDNN's, or else a cell.
"""
# ruff: noqa: FBT001, FBT002 - `bidirectional` is positional in the vocabulary

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from bakeoff.frameworks.in_force import InForce
from bakeoff.frameworks.tensorflow import devices, lstm_kernels
from bakeoff.frameworks.tensorflow.module import Module
from bakeoff.spec.options import DEFAULT
from bakeoff.workloads.layers_recurrent import BACKWARD, GRU_GATES, LSTM_GATES, shapes

if TYPE_CHECKING:
    from collections.abc import Callable

    State = tuple[Any, Any]

FUSED, BLOCK, CELL = "fused", "block", "cell"
TOLD, MASKED = "told to the kernel", "masked"


class _InForce(InForce):
    """The option `lstm`, what recurrent layers have last been traced as, and whether steps are one graph."""

    is_compiled = False


in_force = _InForce(DEFAULT, "lstm", "lstm_cell", "lengths")


def choose(name: str, mode: str) -> None:
    """Choose what computes the LSTMs of this process, whose steps are executed in a mode."""
    in_force.choose(name)
    in_force.is_compiled = mode == "compiled"


class _Recurrent(Module):
    """Arrays by their canonical names, and the way through time."""

    def __init__(self, in_features: int, hidden: int, gates: int, biases: int, *, bidirectional: bool = False) -> None:
        """Make the variables; loaded values take the place of zeros."""
        super().__init__()
        self.hidden = hidden
        self.directions = ("", BACKWARD) if bidirectional else ("",)
        for name, shape in shapes(in_features, hidden, gates, bidirectional=bidirectional, biases=biases).items():
            setattr(self, name, keras.Variable(tf.zeros(shape), dtype=keras.config.floatx()))

    def _array(self, direction: str, name: str) -> Any:
        """Return one of a direction's arrays in the type of the computation; None for a bias that it has not."""
        variable = getattr(self, f"{direction}{name}", None)
        return None if variable is None else tf.convert_to_tensor(variable)

    def _bias(self, direction: str) -> Any:
        """Return the sum of a direction's biases."""
        bias, second = (self._array(direction, name) for name in ("bias", "recurrent_bias"))
        return bias if second is None else bias + second

    def _zeros(self, x: Any) -> Any:
        """Return the first state where none is given."""
        return tf.zeros((x.shape[0], len(self.directions) * self.hidden), x.dtype)

    def _cast(self, *arrays: Any) -> Any:
        """Return arrays in the type of the weights, as Keras' layers cast what they are given."""
        dtype = self._array("", "input_weight").dtype
        return tuple(tf.cast(array, dtype) for array in arrays)

    def _both(self, way: Callable[..., tuple[Any, Any]], x: Any, states: Any, lengths: Any) -> tuple[Any, Any]:
        """Return the sequence of h and the last state, both directions side by side, each as `way` computes it."""
        parts = [
            way(direction, x, tuple(tf.split(one, len(self.directions), -1)[place] for one in states), lengths)
            for place, direction in enumerate(self.directions)
        ]
        if len(parts) == 1:
            return parts[0]
        sequences, ends = zip(*parts, strict=True)
        return tf.concat(sequences, -1), tuple(tf.concat(one, -1) for one in zip(*ends, strict=True))


class LSTM(_Recurrent):
    """One layer of an LSTM over (batch, length, features)."""

    def __init__(self, in_features: int, hidden: int, bidirectional: bool = False, biases: int = 1) -> None:
        """Make the variables."""
        super().__init__(in_features, hidden, len(LSTM_GATES), biases, bidirectional=bidirectional)

    def forward(self, x: Any, state: State | None = None, lengths: Any = None) -> tuple[Any, State]:
        """Return the sequence of h, and the last (h, c)."""
        (x,) = self._cast(x)
        first = (self._zeros(x), self._zeros(x)) if state is None else self._cast(*state)
        name = _taken(x)
        in_force.computed["lstm"] = name
        _note(lengths, TOLD if name == FUSED and devices.has_gpu() else MASKED)
        way = {FUSED: self._fused, BLOCK: self._stepped, CELL: self._stepped}[name]
        return self._both(way, x, first, lengths)

    def _stepped(self, direction: str, x: Any, state: State, lengths: Any) -> tuple[Any, State]:
        """Return one direction's outputs and last state, step by step."""
        weight, recurrent, bias = self._arrays(direction)
        if in_force.computed["lstm"] == BLOCK:
            block = lstm_kernels.block(weight, recurrent, bias)
            return _looped(block, x, state, lengths, backward=bool(direction))
        taken, gates_of = _projected(x, weight, bias)
        return _looped(
            lambda now, before: _lstm(gates_of(now) + tf.matmul(before[0], recurrent), before[1]),
            taken,
            state,
            lengths,
            backward=bool(direction),
        )

    def _fused(self, direction: str, x: Any, state: State, lengths: Any) -> tuple[Any, State]:
        """Return one direction's outputs and last state by one operation; the backward one is given all reversed."""
        kernel = lstm_kernels.by_cudnn if devices.has_gpu() else lstm_kernels.by_block
        counts = tf.fill((x.shape[0],), x.shape[1]) if lengths is None else tf.cast(lengths, tf.int32)
        if not direction:
            return kernel(x, state, counts, *self._arrays(direction))
        sequence, last = kernel(tf.reverse_sequence(x, counts, seq_axis=1), state, counts, *self._arrays(direction))
        return tf.reverse_sequence(sequence, counts, seq_axis=1), last

    def _arrays(self, direction: str) -> tuple[Any, Any, Any]:
        """Return a direction's weights and the sum of its biases."""
        return (
            self._array(direction, "input_weight"),
            self._array(direction, "recurrent_weight"),
            self._bias(direction),
        )


class GRU(_Recurrent):
    """One layer of a GRU over (batch, length, features), with the reset after the product."""

    def __init__(self, in_features: int, hidden: int, bidirectional: bool = False, biases: int = 2) -> None:
        """Make the variables."""
        super().__init__(in_features, hidden, len(GRU_GATES), biases, bidirectional=bidirectional)

    def forward(self, x: Any, state: Any = None, lengths: Any = None) -> tuple[Any, Any]:
        """Return the sequence of h, and the last h."""
        (x,) = self._cast(x)
        first = (self._zeros(x),) if state is None else self._cast(state)
        _note(lengths, MASKED)
        sequence, (h,) = self._both(self._stepped, x, first, lengths)
        return sequence, h

    def _stepped(self, direction: str, x: Any, state: tuple[Any], lengths: Any) -> tuple[Any, tuple[Any]]:
        """Return one direction's outputs and last state, step by step."""
        taken, gates_of = _projected(x, self._array(direction, "input_weight"), self._array(direction, "bias"))
        recurrent = tuple(self._array(direction, name) for name in ("recurrent_weight", "recurrent_bias"))
        return _looped(
            lambda now, before: (_gru(gates_of(now), recurrent, before[0]),),
            taken,
            state,
            lengths,
            backward=bool(direction),
        )


class LSTMCell(_Recurrent):
    """One step of an LSTM."""

    def __init__(self, in_features: int, hidden: int, biases: int = 1) -> None:
        """Make the variables."""
        super().__init__(in_features, hidden, len(LSTM_GATES), biases)

    def forward(self, x: Any, state: State) -> State:
        """Return the next (h, c)."""
        x, h, c = self._cast(x, *state)
        weight, recurrent = (self._array("", name) for name in ("input_weight", "recurrent_weight"))
        is_block = in_force.value in (BLOCK, FUSED) and x.dtype != tf.float64
        in_force.computed["lstm_cell"] = BLOCK if is_block else CELL
        if is_block:
            return lstm_kernels.block(weight, recurrent, self._bias(""))(x, (h, c))
        return _lstm(tf.matmul(x, weight) + tf.matmul(h, recurrent) + self._bias(""), c)


class GRUCell(_Recurrent):
    """One step of a GRU."""

    def __init__(self, in_features: int, hidden: int, biases: int = 2) -> None:
        """Make the variables."""
        super().__init__(in_features, hidden, len(GRU_GATES), biases)

    def forward(self, x: Any, state: Any) -> Any:
        """Return the next h."""
        x, h = self._cast(x, state)
        weight, bias, *recurrent = (
            self._array("", name) for name in ("input_weight", "bias", "recurrent_weight", "recurrent_bias")
        )
        return _gru(tf.nn.bias_add(tf.matmul(x, weight), bias), recurrent, h)


def _note(lengths: Any, way: str) -> None:
    """Note what a layer does with lengths, where it is given any."""
    if lengths is not None:
        in_force.computed["lengths"] = way


def _taken(x: Any) -> str:
    """Return what computes an LSTM; in float64, for references, it is the cell: TensorFlow's kernels have no such."""
    if x.dtype == tf.float64 or in_force.value != DEFAULT:
        return CELL if x.dtype == tf.float64 else in_force.value
    is_for_cudnn = x.dtype in (tf.float32, tf.float16) and not in_force.is_compiled
    return FUSED if is_for_cudnn and devices.has_gpu() else CELL


def _projected(x: Any, weight: Any, bias: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return what a loop over time takes of (batch, length, features), and what makes a step's part of the gates of it.

    A processor caches what one step needs, and the gates are wider than the inputs: one product for all steps made a
    training step of imdb-lstm 8 % longer than that of keras.layers.LSTM, which multiplies in its loop.
    """
    if devices.has_gpu():
        return tf.matmul(x, weight) + bias, lambda gates: gates
    return x, lambda now: tf.nn.bias_add(tf.matmul(now, weight), bias)


def _lstm(gates: Any, c: Any) -> State:
    """Return the next (h, c) from the gates before their functions."""
    i, f, g, o = tf.split(gates, len(LSTM_GATES), -1)
    c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
    return tf.sigmoid(o) * tf.tanh(c), c


def _gru(projected: Any, recurrent: Any, h: Any) -> Any:
    """Return the next h from the inputs' part of the gates, and the arrays of the hidden state's."""
    weight, second = recurrent
    recurred = tf.matmul(h, weight) if second is None else tf.matmul(h, weight) + second
    x_r, x_z, x_n = tf.split(projected, len(GRU_GATES), -1)
    h_r, h_z, h_n = tf.split(recurred, len(GRU_GATES), -1)
    z = tf.sigmoid(x_z + h_z)
    n = tf.tanh(x_n + tf.sigmoid(x_r + h_r) * h_n)
    return (1 - z) * n + z * h


def _looped(step: Callable[[Any, Any], Any], x: Any, state: Any, lengths: Any, *, backward: bool) -> tuple[Any, Any]:
    """Return the outputs (batch, length, hidden) of steps (x, state) -> state, and the last state.

    A step beyond a sample's length leaves its state and gives zeros.
    """
    count = x.shape[1]
    inside = None if lengths is None else tf.sequence_mask(lengths, count)

    def masked(before: Any, now: Any) -> tuple[Any, Any]:
        if inside is None:
            after = step(now, before)
            return after, after[0]
        part, is_inside = now
        after = step(part, before)
        kept = tuple(tf.where(is_inside[:, None], new, old) for new, old in zip(after, before, strict=True))
        return kept, tf.where(is_inside[:, None], after[0], tf.zeros_like(after[0]))

    last, outputs = _run(masked, tuple(state), x if inside is None else (x, inside), backward=backward)
    return outputs, last


def scan(step: Callable[[Any, Any], tuple[Any, Any]], state: Any, inputs: Any) -> tuple[Any, Any]:
    """Run a step for each place of axis 1, by a tf.while_loop: it is traced once."""
    return _run(step, state, inputs, backward=False)


def _run(step: Callable[[Any, Any], Any], state: Any, inputs: Any, *, backward: bool) -> tuple[Any, Any]:
    """Return the last state and the stacked outputs of a loop over axis 1, from its end where it goes backward.

    The first step stands before the loop, which has to know what a step gives.
    """
    sequences = tf.nest.map_structure(_swapped, inputs)
    count = tf.nest.flatten(sequences)[0].shape[0]
    slices = tf.nest.map_structure(
        lambda one: tf.TensorArray(one.dtype, count, element_shape=one.shape[1:]).unstack(one), sequences
    )

    def at(number: Any, before: Any) -> tuple[Any, Any, Any]:
        place = count - 1 - number if backward else number
        return place, *step(before, tf.nest.map_structure(lambda one: one.read(place), slices))

    place, after, output = at(0, state)
    written = tf.nest.map_structure(
        lambda one: tf.TensorArray(one.dtype, count, element_shape=one.shape).write(place, one), output
    )

    def body(number: Any, before: Any, arrays: Any) -> tuple[Any, Any, Any]:
        place, after, output = at(number, before)
        return number + 1, after, tf.nest.map_structure(lambda array, one: array.write(place, one), arrays, output)

    _, last, written = tf.while_loop(
        lambda number, *_: number < count, body, (tf.constant(1), after, written), maximum_iterations=count
    )
    return last, tf.nest.map_structure(lambda array: _swapped(array.stack()), written)


def _swapped(x: Any) -> Any:
    """Return (batch, length, ...) as (length, batch, ...), or the other way round."""
    return tf.transpose(x, (1, 0, *range(2, len(x.shape))))

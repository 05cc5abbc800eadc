"""Recurrent layers in JAX: `lax.scan` over the time steps, cuDNN's LSTM on CUDA, and `scan`.

The option `lstm` chooses what computes an LSTM: cell is a scan over elementary operations, which XLA fuses; a processor
multiplies the inputs within it, too, and a GPU those of all time steps at once. fused is jax.experimental.rnn, cuDNN's
kernel for whole sequences. default takes the latter where the device has it.
"""
# ruff: noqa: FBT001, FBT002 - `bidirectional` is positional in the vocabulary

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax
from jax.experimental import rnn

from bakeoff.frameworks.in_force import InForce
from bakeoff.frameworks.jax import phase
from bakeoff.spec.options import DEFAULT
from bakeoff.workloads.layers_recurrent import BACKWARD, GRU_GATES, LSTM_GATES, shapes

if TYPE_CHECKING:
    from collections.abc import Callable

    State = tuple[jax.Array, jax.Array]
    Following = Callable[[Any, jax.Array, Any], Any]  # recurrent arrays, inputs' part of the gates, state: the next one

FUSED, CELL = "fused", "cell"
TOLD, MASKED = "told to the kernel", "masked"

in_force = InForce(DEFAULT, "lstm", "lstm_cell", "lengths")
"""By the option `lstm`: what recurrent layers and single steps were last traced as, and what was done with lengths."""


def next_lstm(recurrent: Any, projected: jax.Array, state: State) -> State:
    """Return the next (h, c) of an LSTM."""
    h, c = state
    i, f, g, o = jnp.split(projected + _recurred(recurrent, h), len(LSTM_GATES), -1)
    c = nnx.sigmoid(f) * c + nnx.sigmoid(i) * jnp.tanh(g)
    return nnx.sigmoid(o) * jnp.tanh(c), c


def next_gru(recurrent: Any, projected: jax.Array, state: tuple[jax.Array]) -> tuple[jax.Array]:
    """Return the next h of a GRU, with the reset after the product."""
    (h,) = state
    x_r, x_z, x_n = jnp.split(projected, len(GRU_GATES), -1)
    h_r, h_z, h_n = jnp.split(_recurred(recurrent, h), len(GRU_GATES), -1)
    z = nnx.sigmoid(x_z + h_z)
    n = jnp.tanh(x_n + nnx.sigmoid(x_r + h_r) * h_n)
    return ((1 - z) * n + z * h,)


class _Recurrent(nnx.Module):
    """Arrays by their canonical names, and the way through time."""

    following: Following
    """What a step does."""

    def __init__(self, in_features: int, hidden: int, gates: int, biases: int, *, bidirectional: bool = False) -> None:
        """Make the arrays; loaded ones take their place."""
        self.hidden = hidden
        self.directions = ("", BACKWARD) if bidirectional else ("",)
        for name, shape in shapes(in_features, hidden, gates, bidirectional=bidirectional, biases=biases).items():
            setattr(self, name, nnx.Param(jnp.zeros(shape)))

    def _array(self, direction: str, name: str) -> Any:
        """Return one of a direction's arrays; None for a bias that it has not."""
        variable = getattr(self, f"{direction}{name}", None)
        return None if variable is None else variable[...]

    def _projected(self, direction: str, x: jax.Array) -> jax.Array:
        """Return the inputs' part of the gates."""
        return _product((self._array(direction, "input_weight"), self._array(direction, "bias")), x)

    def _recurrent(self, direction: str) -> tuple[jax.Array, jax.Array | None]:
        """Return what the hidden state is multiplied with, and the second bias."""
        return self._array(direction, "recurrent_weight"), self._array(direction, "recurrent_bias")

    def _scanned(self, x: jax.Array, states: tuple[jax.Array, ...], lengths: jax.Array | None) -> tuple[Any, Any]:
        """Return the sequence of h and the last state, both directions side by side."""
        parts = [
            self._direction(
                direction, x, tuple(jnp.split(one, len(self.directions), -1)[place] for one in states), lengths
            )
            for place, direction in enumerate(self.directions)
        ]
        sequences, ends = zip(*parts, strict=True)
        return jnp.concat(sequences, axis=-1), tuple(jnp.concat(one, axis=-1) for one in zip(*ends, strict=True))

    def _direction(self, direction: str, x: jax.Array, state: Any, lengths: jax.Array | None) -> tuple[Any, Any]:
        """Return one direction's outputs and last state; a step beyond a sample's length leaves its state."""
        sequence = jnp.swapaxes(x, 0, 1)
        weights = self._array(direction, "input_weight"), self._array(direction, "bias")
        # A processor caches what one step needs: forward and backward through 256 steps of 100 units took 1.38
        # times the processor time with one product for all (batch 32, one thread). On a GPU it is one large kernel.
        projection = weights if jax.default_backend() == "cpu" else None
        taken = sequence if projection else _product(weights, sequence)
        is_inside = None if lengths is None else (jnp.arange(x.shape[1])[:, None] < lengths)[..., None]

        last, outputs = _looped(
            self.following,
            self._recurrent(direction),
            projection,
            state,
            (taken, is_inside),
            is_reverse=bool(direction),
        )
        return jnp.swapaxes(outputs, 0, 1), last

    def _zeros(self, x: jax.Array) -> jax.Array:
        """Return the first state where none is given."""
        dtype = jnp.result_type(x, self._array("", "input_weight"))
        return jnp.zeros((x.shape[0], len(self.directions) * self.hidden), dtype)


class LSTM(_Recurrent):
    """One layer of an LSTM over (batch, length, features)."""

    following = staticmethod(next_lstm)

    def __init__(self, in_features: int, hidden: int, bidirectional: bool = False, biases: int = 1) -> None:
        """Make the arrays."""
        super().__init__(in_features, hidden, len(LSTM_GATES), biases, bidirectional=bidirectional)

    def __call__(
        self, x: jax.Array, state: State | None = None, lengths: jax.Array | None = None
    ) -> tuple[jax.Array, State]:
        """Return the sequence of h, and the last (h, c)."""
        first = (self._zeros(x), self._zeros(x)) if state is None else state
        # cuDNN's has float32 alone here; in float64, for references, the other is the same in more digits.
        is_fused = x.dtype == jnp.float32 and jax.default_backend() == "gpu" and in_force.value != CELL
        in_force.computed["lstm"] = FUSED if is_fused else CELL
        _note(lengths, TOLD if is_fused else MASKED)
        return self._by_cudnn(x, first, lengths) if is_fused else self._scanned(x, first, lengths)

    def _by_cudnn(self, x: jax.Array, state: State, lengths: jax.Array | None) -> tuple[jax.Array, State]:
        """Return the same by cuDNN; its weights lie in one array, all weights before all biases."""
        batch, length, features = x.shape
        counts = jnp.full((batch,), length, jnp.int32) if lengths is None else lengths.astype(jnp.int32)
        count = len(self.directions)
        h, c = (jnp.stack(jnp.split(one, count, -1)) for one in state)
        sequence, *last = rnn.lstm(
            x, h, c, self._flat(), counts, features, self.hidden, 1, 0.0, bidirectional=count > 1
        )
        h, c = (jnp.concat(list(one), axis=-1) for one in last)
        return sequence, (h, c)

    def _flat(self) -> jax.Array:
        """Return all arrays in cuDNN's order, each weight with its gates first; a second bias that is none is zero."""
        weights = [
            self._array(direction, name).T.ravel()
            for direction in self.directions
            for name in ("input_weight", "recurrent_weight")
        ]
        biases = []
        for direction in self.directions:
            bias, second = (self._array(direction, name) for name in ("bias", "recurrent_bias"))
            biases += [bias, jnp.zeros_like(bias) if second is None else second]
        return jnp.concat([*weights, *biases])


class GRU(_Recurrent):
    """One layer of a GRU over (batch, length, features), with the reset after the product."""

    following = staticmethod(next_gru)

    def __init__(self, in_features: int, hidden: int, bidirectional: bool = False, biases: int = 2) -> None:
        """Make the arrays."""
        super().__init__(in_features, hidden, len(GRU_GATES), biases, bidirectional=bidirectional)

    def __call__(
        self, x: jax.Array, state: jax.Array | None = None, lengths: jax.Array | None = None
    ) -> tuple[jax.Array, jax.Array]:
        """Return the sequence of h, and the last h."""
        _note(lengths, MASKED)
        sequence, (h,) = self._scanned(x, (self._zeros(x) if state is None else state,), lengths)
        return sequence, h


class LSTMCell(_Recurrent):
    """One step of an LSTM."""

    def __init__(self, in_features: int, hidden: int, biases: int = 1) -> None:
        """Make the arrays."""
        super().__init__(in_features, hidden, len(LSTM_GATES), biases)

    def __call__(self, x: jax.Array, state: State) -> State:
        """Return the next (h, c)."""
        in_force.computed["lstm_cell"] = CELL
        h, c = state
        return next_lstm(self._recurrent(""), self._projected("", x), (h, c))


class GRUCell(_Recurrent):
    """One step of a GRU."""

    def __init__(self, in_features: int, hidden: int, biases: int = 2) -> None:
        """Make the arrays."""
        super().__init__(in_features, hidden, len(GRU_GATES), biases)

    def __call__(self, x: jax.Array, state: jax.Array) -> jax.Array:
        """Return the next h."""
        return next_gru(self._recurrent(""), self._projected("", x), (state,))[0]


def _note(lengths: jax.Array | None, way: str) -> None:
    """Note what a layer does with lengths, where it is given any."""
    if lengths is not None:
        in_force.computed["lengths"] = way


@partial(jax.jit, static_argnums=0, static_argnames="is_reverse", inline=True)
def _looped(
    following: Following, recurrent: Any, projection: Any, state: Any, inputs: Any, *, is_reverse: bool
) -> tuple[Any, Any]:
    """Return the last state and all outputs; a function of its own, so that it is compiled once in mode=eager, too.

    Inputs are sequences, with the weight and bias of `projection`, or, without one, their parts of the gates.
    """

    def step(before: Any, now: Any) -> tuple[Any, jax.Array]:
        taken, inside = now
        gates = taken if projection is None else _product(projection, taken)
        after = following(recurrent, gates, before)
        if inside is None:
            return after, after[0]
        kept = tuple(jnp.where(inside, new, old) for new, old in zip(after, before, strict=True))
        return kept, jnp.where(inside, after[0], 0)

    return lax.scan(step, state, inputs, reverse=is_reverse)


def _product(projection: Any, x: jax.Array) -> jax.Array:
    """Return the inputs' part of the gates, of one time step or of all."""
    weight, bias = projection
    return jnp.matmul(x, weight) + bias


def _recurred(recurrent: Any, h: jax.Array) -> jax.Array:
    """Return the hidden state's part of the gates."""
    weight, bias = recurrent
    product = jnp.matmul(h, weight)
    return product if bias is None else product + bias


def scan(step: Callable[[Any, Any], tuple[Any, Any]], state: Any, inputs: Any) -> tuple[Any, Any]:
    """Run a step for each place of axis 1, by `lax.scan`; it is traced once, and its random numbers are drawn anew."""
    key = phase.next_key()
    sequences = jax.tree.map(lambda one: jnp.swapaxes(one, 0, 1), inputs)
    count = jax.tree.leaves(sequences)[0].shape[0]

    def body(before: Any, now: Any) -> tuple[Any, Any]:
        number, x = now
        if key is None:
            return step(before, x)
        with phase.training(jax.random.fold_in(key, number)):
            return step(before, x)

    last, outputs = lax.scan(body, state, (jnp.arange(count), sequences))
    return last, jax.tree.map(lambda one: jnp.swapaxes(one, 0, 1), outputs)

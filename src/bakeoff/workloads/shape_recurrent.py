"""The recurrent layers and `scan` on shapes: what they take, what they give, and the products of every time step."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from bakeoff.workloads import layers_recurrent
from bakeoff.workloads.shape_checks import check_lengths, check_sequence
from bakeoff.workloads.shape_layers import Counted
from bakeoff.workloads.shapes import SEQUENCE_AXES, LayoutError, Shape, check_kind, check_length, check_real, in_scan
from bakeoff.workloads.steady import changed, noting_place

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.workloads.steady import NotedOperation


class _Recurrent(Counted):
    """What the layers here have in common."""

    in_features: int
    hidden: int
    gates: int
    directions: int

    @property
    def _name(self) -> str:
        """Return the layer's name in the vocabulary."""
        return type(self).__name__

    def _count(self, x: Shape, state: Any) -> None:
        """Count the products of the inputs, and those of the hidden state, with the weights of all gates."""
        places = x.dims[0] * (x.dims[1] if x.ndim == SEQUENCE_AXES else 1) * self.directions * self.gates
        self.product(places * self.in_features * self.hidden, x)
        self.counter.product(places * self.hidden * self.hidden, (self.trains_weights, self._trains(x, state)))

    def _trains(self, x: Shape, state: Any) -> bool:
        """Return whether the states depend on anything that is trained."""
        return self.trains(x, *(one for one in _members(state) if isinstance(one, Shape)))

    def _check_state(self, state: Any, batch: int) -> None:
        """Raise LayoutError unless an array of the state is (batch, hidden), both directions' side by side."""
        width = self.directions * self.hidden
        check_kind(self._name, state, "array")
        check_real(self._name, state)
        if state.dims != (batch, width):
            each = ", the forward direction's and then the backward's" if self.directions > 1 else ""
            msg = f"nn.{self._name} has states of shape ({batch}, {width}){each}; this one is {state!r}"
            raise LayoutError(msg)

    def _sequence(self, x: Any, state: Any, lengths: Any) -> Shape:
        """Count what a sequence takes and return the outputs; raise LayoutError for what is none."""
        check_sequence(self._name, x)
        check_length(f"nn.{self._name} over the last axis of {x!r}", x.dims[-1], self.in_features)
        if lengths is not None:
            most = None if self.counter.is_cut else x.dims[1]
            check_lengths(self._name, lengths, x.dims[0], least=1, most=most)
            self.counter.called("lengths")
        self._count(x, state)
        self.counter.looped(self, x.dims[1])
        return Shape((*x.dims[:2], self.directions * self.hidden), trained=self._trains(x, state))

    def _step(self, x: Any, state: Any) -> None:
        """Count what a step takes; raise LayoutError for what is none."""
        check_kind(self._name, x, "array")
        if x.ndim != SEQUENCE_AXES - 1:
            msg = f"nn.{self._name} takes one time step, (batch, features); this is {x!r}"
            raise LayoutError(msg)
        check_length(f"nn.{self._name} over the last axis of {x!r}", x.dims[-1], self.in_features)
        self._count(x, state)

    def _states(self, x: Shape, state: Any) -> Shape:
        """Return one array of the last state."""
        return Shape((x.dims[0], self.directions * self.hidden), trained=self._trains(x, state))

    def _check_pair(self, state: Any, batch: int) -> None:
        """Raise LayoutError unless a state is (h, c)."""
        if not isinstance(state, tuple) or len(state) != len(("h", "c")):
            msg = f"nn.{self._name} takes its state as a tuple (h, c); this is {state!r}"
            raise LayoutError(msg)
        for one in state:
            self._check_state(one, batch)


class LSTM(_Recurrent, layers_recurrent.LSTM):
    """See the vocabulary."""

    def __call__(self, x: Any, state: Any = None, lengths: Any = None) -> tuple[Shape, tuple[Shape, Shape]]:
        """Return the sequence of h, and the last (h, c)."""
        sequence = self._sequence(x, state, lengths)
        if state is not None:
            self._check_pair(state, x.dims[0])
        return sequence, (self._states(x, state), self._states(x, state))


class GRU(_Recurrent, layers_recurrent.GRU):
    """See the vocabulary."""

    def __call__(self, x: Any, state: Any = None, lengths: Any = None) -> tuple[Shape, Shape]:
        """Return the sequence of h, and the last h."""
        sequence = self._sequence(x, state, lengths)
        if state is not None:
            self._check_state(state, x.dims[0])
        return sequence, self._states(x, state)


class LSTMCell(_Recurrent, layers_recurrent.LSTMCell):
    """See the vocabulary."""

    def __call__(self, x: Any, state: Any) -> tuple[Shape, Shape]:
        """Return the next (h, c)."""
        self._step(x, state)
        self._check_pair(state, x.dims[0])
        return self._states(x, state), self._states(x, state)


class GRUCell(_Recurrent, layers_recurrent.GRUCell):
    """See the vocabulary."""

    def __call__(self, x: Any, state: Any) -> Shape:
        """Return the next h."""
        self._step(x, state)
        self._check_state(state, x.dims[0])
        return self._states(x, state)


def _members(state: Any) -> tuple[Any, ...]:
    """Return the arrays of a state, in whatever form it was given."""
    return state if isinstance(state, tuple) else (state,)


def scan(step: Callable[[Any, Any], Any], state: Any, inputs: Any) -> tuple[Any, Any]:
    """Run the step for every place of axis 1, so that what it multiplies is counted as often; check what it returns."""
    sequences = _listed("inputs", inputs)
    if any(one.ndim < 2 for one in sequences) or len({one.dims[:2] for one in sequences}) > 1:  # noqa: PLR2004 - batch, length
        msg = f"nn.scan takes inputs (batch, length, ...) of one batch and one length; these are {inputs!r}"
        raise LayoutError(msg)
    _listed("state", state)
    output: Any = None
    first: list[NotedOperation] | None = None
    inside = (*in_scan.get(), object())
    for place in range(sequences[0].dims[1]):
        x = _each(partial(_at, place), inputs)
        token = in_scan.set(inside)
        try:
            with noting_place() as notes:
                found = step(state, x)
        finally:
            in_scan.reset(token)
        first = notes if first is None else first
        _check_steady(first, notes, place)
        if not isinstance(found, tuple) or len(found) != len(("state", "output")):
            msg = f"the step of nn.scan returned {found!r}; it must return (state, output)"
            raise LayoutError(msg)
        new, output = found
        _check_same(state, new)
        if any(not one.ndim for one in _listed("output", output)):
            msg = f"the step of nn.scan returned {output!r} as output; it stacks arrays whose first axis is the batch"
            raise LayoutError(msg)
        state = new
    stacked = _each(lambda one: one.of(one.dims[0], sequences[0].dims[1], *one.dims[1:]), output)
    return _each(lambda one: one.moved(*one.dims), state), stacked


def _check_steady(first: list[NotedOperation] | None, notes: list[NotedOperation] | None, place: int) -> None:
    """Raise LayoutError for a step that does something else at this place than at the first."""
    found = changed(first, notes) if first is not None and notes is not None else None
    if found is not None:
        line, one, other = found
        msg = (
            f"the step of nn.scan has {one} at the first place and {other} at place {place} (line {line}): frameworks "
            "with a loop run it once for all places. What changes from place to place is in the state or the inputs"
        )
        raise LayoutError(msg)


def _at(place: int, sequence: Shape) -> Shape:
    """Return one time step of a sequence."""
    return sequence[:, place]


def _check_same(before: Any, after: Any) -> None:
    """Raise LayoutError unless a step's new state is made as the old one: a compiled loop has one shape for both."""
    made = [[(one.dims, one.values) for one in _listed("state", state)] for state in (before, after)]
    if made[0] != made[1] or isinstance(before, tuple) != isinstance(after, tuple):
        msg = (
            f"the step of nn.scan turned the state {before!r} into {after!r}; both must have the same shapes and types"
        )
        raise LayoutError(msg)


def _listed(what: str, arrays: Any) -> list[Shape]:
    """Return an array, or the arrays of a tuple, as a list; raise LayoutError for anything else."""
    listed = list(arrays) if isinstance(arrays, tuple) else [arrays]
    if not listed or not all(isinstance(one, Shape) and one.kind == "array" for one in listed):
        msg = f"nn.scan takes its {what} as an array or a tuple of arrays, no feature maps; this is {arrays!r}"
        raise LayoutError(msg)
    return listed


def _each(function: Callable[[Shape], Shape], arrays: Any) -> Any:
    """Return what a function makes of an array, or of each of a tuple."""
    return tuple(map(function, arrays)) if isinstance(arrays, tuple) else function(arrays)


LAYERS: tuple[type, ...] = (LSTM, GRU, LSTMCell, GRUCell)

"""Recurrent layers in PyTorch: its own LSTM and GRU, their cells step by step, and `scan` as a loop in Python.

The option `lstm` chooses what computes an LSTM: fused is torch.nn.LSTM, cuDNN's or oneDNN's kernel for whole sequences;
block is one operation a time step, that of torch.nn.LSTMCell; cell is written in elementary operations. The option
`lengths` chooses what a kernel for whole sequences is given where samples have lengths of their own: packed sequences,
or all places, padding too, which is then left out. Steps are always masked.
"""
# ruff: noqa: FBT001, FBT002 - `bidirectional` is positional in the vocabulary

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from bakeoff.frameworks.layout import Layout
from bakeoff.frameworks.loops import looped
from bakeoff.spec.options import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    State = tuple[Any, Any]

_NAMES = {"weight_ih": "input_weight", "weight_hh": "recurrent_weight", "bias_ih": "bias", "bias_hh": "recurrent_bias"}
"""What PyTorch calls a layer's arrays, before the number of the layer and the direction, and the canonical names."""

_SECOND = "bias_hh"

FUSED, BLOCK, CELL = "fused", "block", "cell"
PACKED, MASKED = "packed", "masked"

_CLOSED = 1e4
"""What is added to a gate before its sigmoid to make that 0 or 1: from 89 on in float32 and from
746 on in float64. float16 holds up to 65,504, and what else a gate adds up is far smaller."""


class _InForce:
    """The values of the options `lstm` and `lengths` in this process."""

    name = FUSED
    lengths = DEFAULT
    vectorised = False
    """Whether layers are called for a single sample within torch.func's vmap."""


def choose(name: str, lengths: str) -> None:
    """Choose what computes the LSTMs of this process, and what recurrent layers do with lengths."""
    _InForce.name, _InForce.lengths = name, lengths
    _InForce.vectorised = False


def vectorise() -> None:
    """Have the GRUs of this process be what vmap takes, from now on."""
    _InForce.vectorised = True


def settings(network: Any) -> dict[str, str | int | float | bool | None]:
    """Return what computes a network's LSTMs and its single steps of them, and what its layers do with lengths.

    None where it has no such layer.
    """
    kinds = {type(layer) for layer in network.modules()}
    step = CELL if _InForce.name == CELL else BLOCK
    ways = sorted({_with_lengths(kind) for kind in (LSTM, GRU) if kind in kinds})
    return {
        "lstm": _InForce.name if LSTM in kinds else None,
        "lstm_cell": step if LSTMCell in kinds else None,
        "lengths": ", ".join(ways) or None,
    }


def _with_lengths(kind: type) -> str:
    """Return what layers of a kind do with samples of different lengths."""
    is_stepped = kind is LSTM and _InForce.name != FUSED
    return MASKED if is_stepped or _InForce.lengths == MASKED else PACKED


def _canonical(native: str) -> str:
    """Return the canonical name of PyTorch's array: `weight_ih_l0_reverse` is `backward_input_weight`."""
    name = _NAMES["_".join(native.split("_")[:2])]
    return f"backward_{name}" if native.endswith("_reverse") else name


def _one_bias(layer: Any) -> None:
    """Fix the second of PyTorch's two biases at zero: no parameter, but there for its kernels."""
    for name in [name for name, _ in layer.named_parameters() if name.startswith(_SECOND)]:
        zeros = torch.zeros_like(getattr(layer, name).data)
        delattr(layer, name)
        layer.register_buffer(name, zeros, persistent=False)


def settle(network: Any) -> None:
    """Set what is fixed at zero to zero: a network that was made without memory has none there yet."""
    for layer in network.modules():
        if isinstance(layer, torch.nn.RNNBase | torch.nn.RNNCellBase):
            for name, buffer in layer.named_buffers(recurse=False):
                if name.startswith(_SECOND):
                    buffer.zero_()


def _note_layouts(layer: Any) -> None:
    """Note the canonical names and layouts of a layer's parameters, for loading."""
    names = [name for name, _ in layer.named_parameters()]
    layer.canonical = {name: _canonical(name) for name in names}
    shapes = {name: tuple(reversed(getattr(layer, name).shape)) for name in names if name.startswith("weight")}
    layer.layouts = {name: Layout(shape, shape) for name, shape in shapes.items()}


class LSTM(torch.nn.LSTM):
    """One layer of an LSTM over (batch, length, features)."""

    state_arrays = 2

    def __init__(self, in_features: int, hidden: int, bidirectional: bool = False, biases: int = 1) -> None:
        """Make PyTorch's layer."""
        super().__init__(in_features, hidden, batch_first=True, bidirectional=bidirectional)
        if biases == 1:
            _one_bias(self)
        _note_layouts(self)

    def forward(self, x: Any, state: State | None = None, lengths: Any = None) -> tuple[Any, State]:
        """Return the sequence of h, and the last (h, c)."""
        if _InForce.name != FUSED:
            return _stepped(self, x, state, lengths)
        native = None if state is None else tuple(split(one, self.hidden_size) for one in state)
        if lengths is not None and _InForce.lengths == MASKED:
            return over_padding(self, x, native, lengths)
        sequence, (h, c) = _whole(super().forward, x, native, lengths)
        return sequence, (_joined(h), _joined(c))

    def kernel(self, x: Any, state: Sequence[Any], weights: Sequence[Any], inside: Any) -> tuple[Any, Any]:
        """Return what PyTorch's kernel gives for one direction and all places: each h, and the c at samples' ends.

        The kernel keeps the c behind the last place alone. So one more input marks padding, and its weights close the
        input gate and open the forget gate: c stays what it was at the end.
        """
        hidden, training = self.hidden_size, self.training
        w_ih, *others = weights
        closing = w_ih.new_zeros((len(w_ih), 1))
        closing[:hidden], closing[hidden : 2 * hidden] = -_CLOSED, _CLOSED
        marked = torch.cat([x, (~inside)[..., None].to(x.dtype)], -1)
        arrays = [torch.cat([w_ih, closing], 1), *others]
        sequence, _, c = torch.lstm(marked, state, arrays, True, 1, 0.0, training, False, True)  # noqa: FBT003 - its own
        return sequence, c[0]


class GRU(torch.nn.GRU):
    """One layer of a GRU over (batch, length, features), with the reset after the product."""

    state_arrays = 1

    def __init__(self, in_features: int, hidden: int, bidirectional: bool = False, biases: int = 2) -> None:
        """Make PyTorch's layer."""
        super().__init__(in_features, hidden, batch_first=True, bidirectional=bidirectional)
        if biases == 1:
            _one_bias(self)
        _note_layouts(self)

    def forward(self, x: Any, state: Any = None, lengths: Any = None) -> tuple[Any, Any]:
        """Return the sequence of h, and the last h."""
        native = None if state is None else split(_own(state, x), self.hidden_size)
        if lengths is not None and _InForce.lengths == MASKED:
            sequence, (h,) = over_padding(self, x, None if native is None else (native,), lengths)
            return sequence, h
        if native is None and lengths is None and _InForce.vectorised:  # vmap refuses torch.nn.GRU's, not made of x
            native = x.new_zeros((2 if self.bidirectional else 1, x.shape[0], self.hidden_size))
        sequence, h = _whole(super().forward, x, native, lengths)
        return sequence, _joined(h)

    def kernel(self, x: Any, state: Sequence[Any], weights: Sequence[Any], inside: Any) -> tuple[Any]:
        """Return what PyTorch's kernel gives for one direction and all places: each h, that of each end among them."""
        training = self.training
        del inside  # nothing behind a sample's end is taken
        sequence, _ = torch.gru(x, *state, weights, True, 1, 0.0, training, False, True)  # noqa: FBT003 - its own
        return (sequence,)


class LSTMCell(torch.nn.LSTMCell):
    """One step of an LSTM."""

    def __init__(self, in_features: int, hidden: int, biases: int = 1) -> None:
        """Make PyTorch's cell."""
        super().__init__(in_features, hidden)
        if biases == 1:
            _one_bias(self)
        _note_layouts(self)

    def forward(self, x: Any, state: State) -> State:
        """Return the next (h, c)."""
        if _InForce.name != CELL:
            return super().forward(x, state)
        projected = torch.nn.functional.linear(x, self.weight_ih, self.bias_ih)
        return _elementary(projected, state, self.weight_hh, self.bias_hh)


class GRUCell(torch.nn.GRUCell):
    """One step of a GRU."""

    def __init__(self, in_features: int, hidden: int, biases: int = 2) -> None:
        """Make PyTorch's cell."""
        super().__init__(in_features, hidden)
        if biases == 1:
            _one_bias(self)
        _note_layouts(self)

    def forward(self, x: Any, state: Any) -> Any:
        """Return the next h."""
        return super().forward(x, _own(state, x))


def _own(state: Any, x: Any) -> Any:
    """Return a GRU's state, within vmap as each sample's own: a learnt one is of all samples.

    PyTorch adds the inputs' part of the gates to the state's in its place, which vmap refuses where that is shared.
    """
    return state + x.new_zeros(()) if _InForce.vectorised else state


def _whole(layer: Callable[[Any, Any], tuple[Any, Any]], x: Any, state: Any, lengths: Any) -> tuple[Any, Any]:
    """Return what PyTorch's layer gives for a whole sequence, packed where samples have lengths of their own."""
    if lengths is None:
        return layer(x, state)
    packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
    sequence, last = layer(packed, state)
    padded, _ = pad_packed_sequence(sequence, batch_first=True, total_length=x.shape[1])
    return padded, last


def over_padding(layer: LSTM | GRU, x: Any, state: Any, lengths: Any) -> tuple[Any, Any]:
    """Return the sequence of h and the last state by PyTorch's kernel over all places, those of padding, too.

    Each direction is a call of its own; the backward one is given each sample's own places from their end. The layer
    comes first here and in `kernel`: Dynamo, which would unroll a kernel, leaves a function alone that begins with it.
    """
    directions = ["", "_reverse"][: 2 if layer.bidirectional else 1]
    if state is None:
        zeros = x.new_zeros((len(directions), x.shape[0], layer.hidden_size))
        state = (zeros,) * layer.state_arrays
    places = torch.arange(x.shape[1], device=x.device)
    inside = places < lengths[:, None]
    turned = torch.where(inside, lengths[:, None] - 1 - places, places)[..., None]
    found = []
    for place, suffix in enumerate(directions):
        weights = [getattr(layer, f"{name}_l0{suffix}") for name in _NAMES]
        given = x.take_along_dim(turned, 1) if suffix else x
        sequence, *ends = layer.kernel(given, [one[place : place + 1] for one in state], weights, inside)
        h = sequence.take_along_dim((lengths - 1)[:, None, None], 1)[:, 0]
        sequence = torch.where(inside[..., None], sequence, 0.0)
        found.append((sequence.take_along_dim(turned, 1) if suffix else sequence, h, *ends))
    sequences, *last = (torch.cat(one, -1) for one in zip(*found, strict=True))
    return sequences, tuple(last)


def split(state: Any, hidden: int) -> Any:
    """Return (batch, directions * hidden) as (directions, batch, hidden)."""
    return torch.stack(state.split(hidden, -1))


def _joined(state: Any) -> Any:
    """Return (directions, batch, hidden) as (batch, directions * hidden)."""
    return torch.cat(state.unbind(0), -1)


def _stepped(layer: LSTM, x: Any, state: State | None, lengths: Any) -> tuple[Any, State]:
    """Return what an LSTM gives, computed step by step."""
    directions = ["", "_reverse"][: 2 if layer.bidirectional else 1]
    zeros = x.new_zeros((len(directions), x.shape[0], layer.hidden_size))
    h, c = (zeros, zeros) if state is None else (split(one, layer.hidden_size) for one in state)
    masks = None if lengths is None else (torch.arange(x.shape[1], device=x.device)[:, None] < lengths)[..., None]
    found = []
    for place, suffix in enumerate(directions):
        weights = [getattr(layer, f"{name}_l0{suffix}") for name in _NAMES]
        found.append(_direction(x, (h[place], c[place]), masks, weights, backward=bool(suffix)))
    sequences, ends, cells = zip(*found, strict=True)
    return torch.cat(sequences, -1), (torch.cat(ends, -1), torch.cat(cells, -1))


def _direction(x: Any, state: State, masks: Any, weights: Sequence[Any], *, backward: bool) -> tuple[Any, Any, Any]:
    """Return one direction's outputs and last state; the inputs' products are one for all time steps in cells."""
    w_ih, w_hh, b_ih, b_hh = weights
    is_block = _InForce.name == BLOCK
    taken = x if is_block else torch.nn.functional.linear(x, w_ih, b_ih)
    places = range(x.shape[1])
    outputs: list[Any] = [None] * x.shape[1]
    for place in reversed(places) if backward else places:
        now = taken[:, place]
        h, c = torch.lstm_cell(now, state, *weights) if is_block else _elementary(now, state, w_hh, b_hh)
        outputs[place] = h
        if masks is not None:
            inside = masks[place]
            outputs[place] = torch.where(inside, h, 0.0)
            h, c = torch.where(inside, h, state[0]), torch.where(inside, c, state[1])
        state = h, c
    return torch.stack(outputs, 1), *state


def _elementary(projected: Any, state: State, w_hh: Any, b_hh: Any) -> State:
    """Return the next (h, c) from the inputs' part of the gates."""
    h, c = state
    i, f, g, o = (projected + torch.nn.functional.linear(h, w_hh, b_hh)).chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def scan(step: Callable[[Any, Any], tuple[Any, Any]], state: Any, inputs: Any) -> tuple[Any, Any]:
    """Run a step for each place of axis 1, one after another."""
    places = zip(*(one.unbind(1) for one in inputs), strict=True) if isinstance(inputs, tuple) else inputs.unbind(1)
    return looped(step, state, places, torch.stack)

"""The recurrent layers as lists of parameters: those of each direction, and the gates in their canonical order."""

from __future__ import annotations

import math
from typing import Any

from bakeoff.workloads.layers import SPREADS, Array, Layer, count, wanted

LSTM_GATES = ("i", "f", "g", "o")
"""Input, forget, candidate, output: the order of their columns in every array of an LSTM."""

GRU_GATES = ("r", "z", "n")
"""Reset, update, candidate: the order of their columns in every array of a GRU."""

BACKWARD = "backward_"
"""What the name of an array of the backward direction begins with."""


def shapes(
    in_features: int,
    hidden: int,
    gates: int,
    *,
    bidirectional: bool = False,
    biases: int = 1,
) -> dict[str, tuple[int, ...]]:
    """Return the canonical shape of each parameter of a recurrent layer, by the last part of its name."""
    one = {
        "input_weight": (in_features, gates * hidden),
        "recurrent_weight": (hidden, gates * hidden),
        "bias": (gates * hidden,),
        **({"recurrent_bias": (gates * hidden,)} if biases == len(("bias", "recurrent_bias")) else {}),
    }
    return one | ({f"{BACKWARD}{name}": shape for name, shape in one.items()} if bidirectional else {})


class _Recurrent(Layer):
    """What the layers here have in common."""

    def _list(self, in_features: int, hidden: int, gates: int, biases: int, *, bidirectional: Any = False) -> None:
        """Check the arguments and list the parameters."""
        self.in_features, self.hidden = count("in_features", in_features), count("hidden", hidden)
        if biases not in (1, 2) or isinstance(biases, bool):
            msg = f"biases={biases!r}: it must be 1 or 2"
            raise ValueError(msg)
        self.gates, self.directions = gates, 2 if wanted("bidirectional", bidirectional) else 1
        found = shapes(self.in_features, self.hidden, gates, bidirectional=bidirectional, biases=biases)
        self.parameters = {name: Array(shape=shape, spread=_spread(name, shape)) for name, shape in found.items()}


def _spread(name: str, shape: tuple[int, ...]) -> float:
    """Return the bound of an array's first values.

    Inputs of variance 1 give gates of variance 1 by sqrt(3 / inputs); 1 / sqrt(hidden) is what PyTorch's, Jittor's and
    MLX's layers draw recurrent weights by (torch.nn.LSTM, "Note"), which no sequence makes grow.
    """
    if name.endswith("input_weight"):
        return math.sqrt(3 / shape[0])
    return 1 / math.sqrt(shape[0]) if name.endswith("recurrent_weight") else SPREADS.bias


class LSTM(_Recurrent):
    """See the vocabulary."""

    def __init__(self, in_features: int, hidden: int, bidirectional: bool = False, biases: int = 1) -> None:  # noqa: FBT001, FBT002 - the vocabulary's signature
        """List the arrays of each direction, four gates wide."""
        self._list(in_features, hidden, len(LSTM_GATES), biases, bidirectional=bidirectional)


class GRU(_Recurrent):
    """See the vocabulary."""

    def __init__(self, in_features: int, hidden: int, bidirectional: bool = False, biases: int = 2) -> None:  # noqa: FBT001, FBT002
        """List the arrays of each direction, three gates wide."""
        self._list(in_features, hidden, len(GRU_GATES), biases, bidirectional=bidirectional)


class LSTMCell(_Recurrent):
    """See the vocabulary."""

    def __init__(self, in_features: int, hidden: int, biases: int = 1) -> None:
        """List the arrays, four gates wide."""
        self._list(in_features, hidden, len(LSTM_GATES), biases)


class GRUCell(_Recurrent):
    """See the vocabulary."""

    def __init__(self, in_features: int, hidden: int, biases: int = 2) -> None:
        """List the arrays, three gates wide."""
        self._list(in_features, hidden, len(GRU_GATES), biases)


LAYERS: tuple[type[Layer], ...] = (LSTM, GRU, LSTMCell, GRUCell)

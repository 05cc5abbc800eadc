"""Layers, products, maps and losses take real numbers: what frameworks make of integers there differs, or fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bakeoff.workloads.interpreter import vocabulary
from bakeoff.workloads.shape_functions import Counter
from bakeoff.workloads.shapes import LayoutError, Shape

if TYPE_CHECKING:
    from collections.abc import Callable

NN = vocabulary(Counter(), trains=True)
ROWS, SEQUENCE, HEADS = (Shape(shape, integer=True) for shape in ((4, 8), (4, 6, 8), (4, 6, 2, 8)))
MAP = Shape((4, 6, 6, 8), kind="map", integer=True)
REAL, LABELS, LENGTHS = Shape((4, 6, 8)), Shape((4, 6), integer=True), Shape((4,), integer=True)
STATE = Shape((4, 3))

REFUSED: dict[str, Callable[[], Any]] = {
    "Linear": lambda: NN.Linear(8, 3)(SEQUENCE),
    "LayerNorm": lambda: NN.LayerNorm(8)(SEQUENCE),
    "RMSNorm": lambda: NN.RMSNorm(8)(SEQUENCE),
    "GroupNorm": lambda: NN.GroupNorm(2, 8)(SEQUENCE),
    "BatchNorm": lambda: NN.BatchNorm(8)(SEQUENCE),
    "ChannelNorm": lambda: NN.ChannelNorm(8)(MAP),
    "Conv1d": lambda: NN.Conv1d(8, 3, 1)(SEQUENCE),
    "Conv2d": lambda: NN.Conv2d(8, 3, 1)(MAP),
    "ConvTranspose2d": lambda: NN.ConvTranspose2d(8, 3, 1)(MAP),
    "LSTM": lambda: NN.LSTM(8, 3)(SEQUENCE),
    "GRU": lambda: NN.GRU(8, 3)(REAL, state=Shape((4, 3), integer=True)),
    "LSTMCell": lambda: NN.LSTMCell(8, 3)(ROWS, (STATE, STATE)),
    "GRUCell": lambda: NN.GRUCell(8, 3)(ROWS, STATE),
    "matmul": lambda: NN.matmul(REAL, Shape((8, 3), integer=True)),
    "attention": lambda: NN.attention(HEADS, HEADS, HEADS),
    "softmax": lambda: NN.softmax(SEQUENCE),
    "max_pool1d": lambda: NN.max_pool1d(SEQUENCE, 2),
    "max_pool2d": lambda: NN.max_pool2d(MAP, 2),
    "avg_pool2d": lambda: NN.avg_pool2d(MAP, 2),
    "adaptive_avg_pool2d": lambda: NN.adaptive_avg_pool2d(MAP, (2, 2)),
    "global_avg_pool2d": lambda: NN.global_avg_pool2d(MAP),
    "resize": lambda: NN.resize(MAP, (8, 8), "bilinear"),
    "pad2d": lambda: NN.pad2d(MAP, ((1, 1), (0, 0))),
    "per_channel": lambda: NN.per_channel(ROWS),
    "from_tokens": lambda: NN.from_tokens(SEQUENCE, (2, 3)),
    "split_channels": lambda: NN.split_channels(MAP, (3, 5)),
    "channel_shuffle": lambda: NN.channel_shuffle(MAP, 2),
    "cross_entropy": lambda: NN.cross_entropy(SEQUENCE, LABELS),
    "binary_cross_entropy": lambda: NN.binary_cross_entropy(SEQUENCE, REAL),
    "mse": lambda: NN.mse(SEQUENCE, REAL),
    "ctc": lambda: NN.ctc(SEQUENCE, LABELS, LENGTHS, LENGTHS),
}


@pytest.mark.parametrize("name", REFUSED)
def test_integers_are_refused_where_real_numbers_are_taken(name: str) -> None:
    """A model that forgets its Embedding, or nn.to_float, is told so before any framework starts."""
    with pytest.raises(LayoutError, match=f"nn.{name} takes real numbers; .* nn.to_float"):
        REFUSED[name]()

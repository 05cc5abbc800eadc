"""The case of feature maps whose width is time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contract_cases.vocabulary import BATCH, CLASSES, Case, conv2d, linear, model, random

if TYPE_CHECKING:
    from contract_cases.vocabulary import Array, Weights

HEIGHT, WIDTH, CHANNELS = 3, 5, 4
LENGTHS = np.array([5, 1, 3, 4], np.int32)


def masked(nn: Any) -> Any:
    """Leave of a map what is before each sample's length, and bring it to a sequence of columns."""
    layers = {
        "first": nn.Conv2d(2, CHANNELS, 1),
        "each": nn.Parameter((WIDTH, 1)),
        "head": nn.Linear(HEIGHT * CHANNELS, CLASSES),
        "lengths": nn.constant(LENGTHS),
    }

    def forward(m: Any, x: Any) -> Any:
        x = m.first(x)
        x = x * nn.column_mask(x, m.lengths)
        return nn.sum(m.head(nn.columns(x)) * m.each, 1)

    return model(nn, layers, forward)


def masked_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""
    x = conv2d(weights, "first", x) * (np.arange(WIDTH) < LENGTHS[:, None])[:, None, :, None]
    x = x.transpose(0, 2, 1, 3).reshape(len(x), WIDTH, HEIGHT * CHANNELS)
    return (linear(weights, "head", x) * weights["each"]).sum(1)


ROWS = np.array([[0, 6, 5], [1, 2, 3], [4, 5, 13], [3, 0, 1]], np.int32)


CASES: dict[str, Case] = {
    "columns of a map": Case(
        names=("columns", "column_mask"),
        build=masked,
        forward=masked_in_numpy,
        x=random(BATCH, HEIGHT, WIDTH, 2),
    ),
    "floor_divide of lengths": Case(
        names=("floor_divide",),
        build=lambda nn: model(
            nn,
            {"table": nn.Embedding(5, CLASSES)},
            lambda m, x: nn.sum(nn.tanh(m.table(nn.floor_divide(x, 3))), 1),
        ),
        forward=lambda w, x: np.tanh(w["table.weight"][x.astype(int) // 3]).sum(1),
        x=ROWS,
    ),
}

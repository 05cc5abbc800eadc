"""The case of feature maps whose width is time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contract_cases.vocabulary import BATCH, CLASSES, Case, conv2d, linear, model, random, sigmoid

if TYPE_CHECKING:
    from contract_cases.vocabulary import Array, Weights

HEIGHT, WIDTH, CHANNELS = 3, 5, 4


def weighed(nn: Any) -> Any:
    """Weigh each column of a map by a number of its own, and bring it to a sequence of columns."""
    layers = {
        "first": nn.Conv2d(2, CHANNELS, 1),
        "each": nn.Parameter((WIDTH, 1)),
        "head": nn.Linear(HEIGHT * CHANNELS, CLASSES),
    }

    def forward(m: Any, x: Any) -> Any:
        x = m.first(x)
        x = x * nn.per_column(nn.sigmoid(nn.mean(nn.columns(x), 2)))
        return nn.sum(m.head(nn.columns(x)) * m.each, 1)

    return model(nn, layers, forward)


def weighed_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""
    x = conv2d(weights, "first", x)
    x = x * sigmoid(x.mean((1, 3)))[:, None, :, None]
    x = x.transpose(0, 2, 1, 3).reshape(len(x), WIDTH, HEIGHT * CHANNELS)
    return (linear(weights, "head", x) * weights["each"]).sum(1)


ROWS = np.array([[0, 6, 5], [1, 2, 3], [4, 5, 13], [3, 0, 1]], np.int32)


CASES: dict[str, Case] = {
    "columns of a map": Case(
        names=("columns", "per_column"),
        build=weighed,
        forward=weighed_in_numpy,
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

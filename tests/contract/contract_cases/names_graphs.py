"""Products with sparse matrices: rows without elements, elements at one place, and batches of integers as indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contract_cases.vocabulary import BATCH, CLASSES, Case, linear, model

if TYPE_CHECKING:
    from contract_cases.vocabulary import Array, Weights

ROWS, COLUMNS = np.array([0, 0, 1, 1, 1, 3, 3]), np.array([1, 3, 0, 2, 2, 3, 4])
"""Row 2 has no element, and row 1 has two at one place."""
VALUES = np.array([0.5, -1.0, 2.0, 0.25, 1.5, -0.75, 1.0])


def product(nn: Any) -> Any:
    """Multiply a table by a sparse matrix with more columns than rows, and what a layer gives by a square one."""
    layers = {
        "table": nn.Parameter((5, CLASSES)),
        "first": nn.Linear(5, CLASSES),
        "rows": nn.constant(ROWS),
        "columns": nn.constant(COLUMNS),
        "narrow": nn.constant(np.minimum(COLUMNS, BATCH - 1)),
        "numbers": nn.constant(VALUES),
    }

    def forward(m: Any, x: Any) -> Any:
        wide = nn.sparse_matmul(m.table, m.rows, m.columns, m.numbers, BATCH)
        square = nn.sparse_matmul(m.first(x), m.rows, m.narrow, m.numbers * 0.5, count=BATCH)
        return wide + square

    return model(nn, layers, forward)


def product_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same by dense matrices."""
    wide, square = np.zeros((BATCH, 5)), np.zeros((BATCH, BATCH))
    np.add.at(wide, (ROWS, COLUMNS), VALUES)
    np.add.at(square, (ROWS, np.minimum(COLUMNS, BATCH - 1)), VALUES / 2)
    return wide @ weights["table"] + square @ linear(weights, "first", x)


CASES: dict[str, Case] = {
    "product with a sparse matrix": Case(
        names=("sparse_matmul",),
        build=product,
        forward=product_in_numpy,
        x=np.random.RandomState(2).standard_normal((BATCH, 5)).astype(np.float32),
    ),
}

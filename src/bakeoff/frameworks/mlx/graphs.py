"""Products with sparse matrices in MLX, which has none of its own: rows gathered and added up."""

from __future__ import annotations

import mlx.core as mx


class _InForce:
    """What products with sparse matrices have last been computed as in this process."""

    computed: str | None = None


def settings() -> dict[str, str | int | float | bool | None]:
    """Return what has computed products with sparse matrices; None where there were none."""
    return {"aggregate": _InForce.computed}


def sparse_matmul(x: mx.array, rows: mx.array, columns: mx.array, values: mx.array, count: int) -> mx.array:
    """Return the sum of value * x[column] for each row."""
    _InForce.computed = "segment"
    return mx.zeros((count, x.shape[1]), x.dtype).at[rows].add(values[:, None] * mx.take(x, columns, 0))

"""Products with sparse matrices in MLX, which has none of its own: rows gathered and added up."""

from __future__ import annotations

import mlx.core as mx

from bakeoff.frameworks.in_force import InForce

in_force = InForce("segment", "aggregate")


def sparse_matmul(x: mx.array, rows: mx.array, columns: mx.array, values: mx.array, count: int) -> mx.array:
    """Return the sum of value * x[column] for each row."""
    in_force.computed["aggregate"] = in_force.value
    return mx.zeros((count, x.shape[1]), x.dtype).at[rows].add(values[:, None] * mx.take(x, columns, 0))

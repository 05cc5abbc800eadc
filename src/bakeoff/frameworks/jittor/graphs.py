"""Products with sparse matrices in Jittor: rows gathered and added up."""

from __future__ import annotations

from typing import Any

from bakeoff.frameworks.in_force import InForce

in_force = InForce("segment", "aggregate")


def sparse_matmul(x: Any, rows: Any, columns: Any, values: Any, count: int) -> Any:
    """Return the sum of value * x[column] for each row."""
    in_force.computed["aggregate"] = in_force.value
    along = values.unsqueeze(1) * x[columns]
    return along.reindex_reduce("add", (count, x.shape[1]), ["@e0(i0)", "i1"], extras=[rows])

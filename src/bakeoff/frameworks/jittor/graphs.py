"""Products with sparse matrices in Jittor: rows gathered and added up."""

from __future__ import annotations

from typing import Any


class _InForce:
    """What products with sparse matrices have last been computed as in this process."""

    computed: str | None = None


def settings() -> dict[str, str | int | float | bool | None]:
    """Return what has computed products with sparse matrices; None where there were none."""
    return {"aggregate": _InForce.computed}


def sparse_matmul(x: Any, rows: Any, columns: Any, values: Any, count: int) -> Any:
    """Return the sum of value * x[column] for each row."""
    _InForce.computed = "segment"
    along = values.unsqueeze(1) * x[columns]
    return along.reindex_reduce("add", (count, x.shape[1]), ["@e0(i0)", "i1"], extras=[rows])

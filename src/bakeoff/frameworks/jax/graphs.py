"""Products with sparse matrices in JAX: rows gathered and added up, or jax.experimental.sparse.

The option `aggregate` chooses. segment is jax.ops.segment_sum, which learns that rows are in order; sparse is a BCOO.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import sparse

SEGMENT = "segment"


class _InForce:
    """The value of the option `aggregate` in this process, and what products have last been traced as."""

    name = SEGMENT
    traced: str | None = None


def choose(name: str) -> None:
    """Choose what computes products with sparse matrices."""
    _InForce.name, _InForce.traced = name, None


def settings() -> dict[str, str | None]:
    """Return what has computed products with sparse matrices; None where there were none."""
    return {"aggregate": _InForce.traced}


def sparse_matmul(x: jax.Array, rows: jax.Array, columns: jax.Array, values: jax.Array, count: int) -> jax.Array:
    """Return the sum of value * x[column] for each row."""
    _InForce.traced = _InForce.name
    if _InForce.name == SEGMENT:
        along = values[:, None] * jnp.take(x, columns, axis=0)
        return jax.ops.segment_sum(along, rows, num_segments=count, indices_are_sorted=True)
    indices = jnp.stack([rows, columns], axis=1)
    matrix = sparse.BCOO((values, indices), shape=(count, x.shape[0]), indices_sorted=True)
    return matrix @ x

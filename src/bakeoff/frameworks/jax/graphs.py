"""Products with sparse matrices in JAX: rows gathered and added up, or jax.experimental.sparse.

The option `aggregate` chooses. segment is jax.ops.segment_sum, which learns that rows are in order; sparse is a BCOO.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import sparse

from bakeoff.frameworks.in_force import InForce

SEGMENT = "segment"

in_force = InForce(SEGMENT, "aggregate")


def sparse_matmul(x: jax.Array, rows: jax.Array, columns: jax.Array, values: jax.Array, count: int) -> jax.Array:
    """Return the sum of value * x[column] for each row."""
    in_force.computed["aggregate"] = in_force.value
    if in_force.value == SEGMENT:
        along = values[:, None] * jnp.take(x, columns, axis=0)
        return jax.ops.segment_sum(along, rows, num_segments=count, indices_are_sorted=True)
    indices = jnp.stack([rows, columns], axis=1)
    matrix = sparse.BCOO((values, indices), shape=(count, x.shape[0]), indices_sorted=True)
    return matrix @ x

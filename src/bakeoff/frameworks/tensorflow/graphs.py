"""Products with sparse matrices in TensorFlow: rows gathered and added up, or its own sparse tensors.

The option `aggregate` chooses. segment is tf.gather and tf.math.unsorted_segment_sum, whose number of rows is known
when a graph is traced, as XLA needs it; sparse is tf.sparse.sparse_dense_matmul.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

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


def sparse_matmul(x: Any, rows: Any, columns: Any, values: Any, count: int) -> Any:
    """Return the sum of value * x[column] for each row."""
    _InForce.traced = _InForce.name
    values = tf.cast(values, x.dtype)
    if _InForce.name == SEGMENT:
        return tf.math.unsorted_segment_sum(values[:, tf.newaxis] * tf.gather(x, columns), rows, count)
    indices = tf.cast(tf.stack([rows, columns], axis=1), tf.int64)
    return tf.sparse.sparse_dense_matmul(tf.SparseTensor(indices, values, (count, x.shape[0])), x)

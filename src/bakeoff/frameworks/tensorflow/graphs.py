"""Products with sparse matrices in TensorFlow: rows gathered and added up, or its own sparse tensors.

The option `aggregate` chooses. segment is tf.gather and tf.math.unsorted_segment_sum, whose number of rows is known
when a graph is traced, as XLA needs it; sparse is tf.sparse.sparse_dense_matmul.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from bakeoff.frameworks.in_force import InForce

SEGMENT = "segment"

in_force = InForce(SEGMENT, "aggregate")


def sparse_matmul(x: Any, rows: Any, columns: Any, values: Any, count: int) -> Any:
    """Return the sum of value * x[column] for each row."""
    in_force.computed["aggregate"] = in_force.value
    values = tf.cast(values, x.dtype)
    if in_force.value == SEGMENT:
        return tf.math.unsorted_segment_sum(values[:, tf.newaxis] * tf.gather(x, columns), rows, count)
    indices = tf.cast(tf.stack([rows, columns], axis=1), tf.int64)
    return tf.sparse.sparse_dense_matmul(tf.SparseTensor(indices, values, (count, x.shape[0])), x)

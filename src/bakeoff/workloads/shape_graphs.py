"""Products with sparse matrices over shapes: what they take, and the shape that they give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.workloads import layers
from bakeoff.workloads.shape_checks import check_integer, check_range
from bakeoff.workloads.shapes import LayoutError, Shape, check_kind, check_real

if TYPE_CHECKING:
    from bakeoff.workloads.shape_functions import Counter

MATRIX_AXES = 2


def sparse_matmul(counter: Counter, x: Shape, rows: Shape, columns: Shape, values: Shape, count: int) -> Shape:
    """Return (count, features) and count a product for each element and feature; raise LayoutError for a misfit."""
    for one in (x, values):
        check_kind("sparse_matmul", one, "array")
        check_real("sparse_matmul", one)
    for one in (rows, columns):
        check_integer("sparse_matmul", one)
    count = layers.count("count", count)
    if x.ndim != MATRIX_AXES:
        msg = f"nn.sparse_matmul takes a matrix (n, features); this is {x!r}: nn.reshape(x, shape) makes it one"
        raise LayoutError(msg)
    if values.ndim != 1 or not rows.dims == columns.dims == values.dims:
        msg = (
            f"nn.sparse_matmul of rows {rows!r}, columns {columns!r} and values {values!r}: it takes one of each for "
            "every element, as arrays of one axis"
        )
        raise LayoutError(msg)
    if values.trained:
        msg = (
            "nn.sparse_matmul has no gradient by its values, and these depend on a parameter: "
            "nn.segment_sum(values * nn.take(x, columns), rows, count) has, with values as (elements, 1)"
        )
        raise LayoutError(msg)
    check_range(f"nn.sparse_matmul with {count} rows", rows, count)
    check_range(f"nn.sparse_matmul of {x!r}, by its columns,", columns, x.dims[0])
    counter.product(values.dims[0] * x.dims[1], (x.trained,))
    return x.of(count, x.dims[1])

"""Products with sparse matrices in PyTorch: rows gathered and added up, or its own matrices in CSR.

The option `aggregate` chooses. segment is an embedding's lookup, a product and index_add; sparse is torch.sparse.mm of
a matrix in CSR, on a processor by MKL, on CUDA by cuSPARSE.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch.nn import functional as F

from bakeoff.frameworks.in_force import InForce
from bakeoff.spec.errors import UnsupportedError

SEGMENT, SPARSE = "segment", "sparse"

in_force = InForce(SEGMENT, "aggregate")


def choose(name: str, device: str) -> None:
    """Choose what computes products with sparse matrices; raise UnsupportedError where PyTorch cannot."""
    if name == SPARSE and device == "cpu" and not torch.backends.mkl.is_available():
        msg = (
            f"aggregate=sparse: PyTorch {torch.__version__} here is built without MKL, which computes it on a processor"
        )
        raise UnsupportedError(msg)
    in_force.choose(name)
    # PyTorch says once a process that matrices in CSR are in a beta state.
    warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")


def sparse_matmul(x: Any, rows: Any, columns: Any, values: Any, count: int) -> Any:
    """Return the sum of value * x[column] for each row."""
    in_force.computed["aggregate"] = in_force.value
    if in_force.value == SEGMENT:
        along = values[:, None] * F.embedding(columns, x)
        return torch.index_add(along.new_zeros((count, x.shape[1])), 0, rows, along)
    starts = torch.searchsorted(rows, torch.arange(count + 1, device=rows.device))
    matrix = torch.sparse_csr_tensor(starts, columns, values, (count, x.shape[0]))
    return torch.sparse.mm(matrix, x.to(values.dtype))

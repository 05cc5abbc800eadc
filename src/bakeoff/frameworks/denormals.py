"""How denormal numbers are read back: by multiplying arrays whose products are denormal, and looking at the bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_FEWEST, _EACH = 1 << 20, 1 << 16
"""Elements: at least so many, and so many for each thread. PyTorch gives a thread no fewer than 2^15
(at::internal::GRAIN_SIZE), the other frameworks were seen to share such arrays among all threads."""

_LEFT, _RIGHT = 2.0**-126, 2.0**-3
"""The smallest normal number of float32 and a factor: the product, 2^-129, is denormal and exact."""


def in_force(multiply: Callable[[NDArray[Any], NDArray[Any]], Any], threads: int | None, fewest: int = _FEWEST) -> str:
    """Return "kept" or "flushed", or "mixed" where threads differ.

    `multiply` computes the elementwise product of two arrays in the framework and returns it as a NumPy array; what has
    no threads of its own may have fewer elements than `fewest` is otherwise.
    """
    count = max(fewest, _EACH * (threads or 0))
    product = np.asarray(multiply(np.full(count, _LEFT, np.float32), np.full(count, _RIGHT, np.float32)))
    kept = int(np.count_nonzero(product.view(np.uint32)))  # by bits: this thread may read denormals as zero
    return "kept" if kept == count else "mixed" if kept else "flushed"

"""Plain products of matrices and sums of arrays, for the machine's peaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray


class Product:
    """The product of two matrices, into the same memory each time."""

    def __init__(self, left: Any, right: Any, synchronize: Callable[[], None]) -> None:
        """Take two tensors on the device."""
        self._left, self._right, self._out = left, right, torch.empty_like(left)
        self.wait = synchronize

    def run(self, batch: None) -> None:
        """Multiply."""
        del batch
        torch.mm(self._left, self._right, out=self._out)

    def read(self) -> NDArray[np.float64]:
        """Return the first row of the product."""
        return self._out[0].cpu().double().numpy()


class Sums:
    """One array added onto another, in its place."""

    def __init__(self, total: Any, synchronize: Callable[[], None]) -> None:
        """Take the array of ones that becomes the sum."""
        self._total, self._one = total, torch.ones_like(total)
        self.wait = synchronize

    def run(self, batch: None) -> None:
        """Add."""
        del batch
        self._total.add_(self._one)

    def read(self) -> NDArray[np.float64]:
        """Return the first value of the sum."""
        return self._total[:1].cpu().double().numpy()

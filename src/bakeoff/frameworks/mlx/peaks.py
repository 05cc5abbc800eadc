"""Plain products of matrices and sums of arrays, for the machine's peaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mlx.core as mx
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Product:
    """The product of two matrices."""

    def __init__(self, left: mx.array, right: mx.array) -> None:
        """Take two arrays on the device."""
        self._left, self._right = left, right
        mx.eval(left, right)

    def run(self, batch: None) -> None:
        """Start the product."""
        del batch
        self._out = mx.matmul(self._left, self._right)
        mx.async_eval(self._out)

    def wait(self) -> None:
        """Return when the last product is there: they are computed in order."""
        mx.eval(self._out)

    def read(self) -> NDArray[np.float64]:
        """Return the first row of the product."""
        return np.array(self._out[0], np.float64)


class Sums:
    """One array added onto another; MLX takes over the memory of an array that nobody else holds."""

    def __init__(self, count: int) -> None:
        """Make both arrays."""
        self._total, self._one = mx.ones(count), mx.ones(count)
        mx.eval(self._total, self._one)

    def run(self, batch: None) -> None:
        """Start the sum."""
        del batch
        self._total = self._total + self._one
        mx.async_eval(self._total)

    def wait(self) -> None:
        """Return when the sum is there."""
        mx.eval(self._total)

    def read(self) -> NDArray[np.float64]:
        """Return the first value of the sum."""
        return np.array(self._total[:1], np.float64)

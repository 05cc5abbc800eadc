"""Plain products of matrices and sums of arrays, for the machine's peaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jittor as jt
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Probe:
    """What is waited for."""

    def wait(self) -> None:
        """Return when all that was noted is computed."""
        jt.sync_all(True)  # noqa: FBT003 - wait for the device, too


class Product(_Probe):
    """The product of two matrices."""

    def __init__(self, left: NDArray[np.float32], right: NDArray[np.float32]) -> None:
        """Make Jittor's arrays of both."""
        self._left, self._right = (jt.array(one).stop_grad() for one in (left, right))
        self._out: Any = None

    def run(self, batch: None) -> None:
        """Compute the product: what nobody asks for, Jittor would never compute."""
        del batch
        self._out = jt.matmul(self._left, self._right)
        jt.sync([self._out])

    def read(self) -> NDArray[np.float64]:
        """Return the first row of the product."""
        return np.array(self._out[0].numpy(), np.float64)


class Sums(_Probe):
    """The sum of two arrays, which becomes the first of the next sum."""

    def __init__(self, count: int) -> None:
        """Make both arrays."""
        self._total, self._one = (jt.ones(count).stop_grad() for _ in range(2))
        jt.sync([self._total, self._one])

    def run(self, batch: None) -> None:
        """Compute the sum."""
        del batch
        self._total = (self._total + self._one).stop_grad()
        jt.sync([self._total])

    def read(self) -> NDArray[np.float64]:
        """Return the first value of the sum."""
        return np.array(self._total[:1].numpy(), np.float64)

"""Scripted peaks: a product and a sum take the time that the script's rates say, and no arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SUM_BYTES = 12
"""Two values of float32 read, and one written."""


class _Scripted:
    """One operation of a fixed duration."""

    def __init__(self, duration_ns: float, let_pass: Callable[[int], None]) -> None:
        """Take how long it lasts, and the script's time."""
        self._duration_ns, self._let_pass = max(1, round(duration_ns)), let_pass
        self._runs = 0

    def run(self, batch: None) -> None:
        """Let the time pass."""
        del batch
        self._runs += 1
        self._let_pass(self._duration_ns)

    def wait(self) -> None:
        """Return at once: it is done when `run` returns."""


class Product(_Scripted):
    """A product of matrices, at so many MACs a nanosecond."""

    def __init__(
        self, left: NDArray[np.float32], right: NDArray[np.float32], rate: float, let_pass: Callable[[int], None]
    ) -> None:
        """Keep the first row of the product."""
        super().__init__(len(left) ** 3 / rate, let_pass)
        self._row = left[0].astype(np.float64) @ right

    def read(self) -> NDArray[np.float64]:
        """Return that row."""
        return self._row


class Sums(_Scripted):
    """A sum of arrays, at so many bytes a nanosecond."""

    def __init__(self, count: int, rate: float, let_pass: Callable[[int], None]) -> None:
        """Take no memory."""
        super().__init__(SUM_BYTES * count / rate, let_pass)

    def read(self) -> NDArray[np.float64]:
        """Return what so many sums of ones give."""
        return np.array([1.0 + self._runs])

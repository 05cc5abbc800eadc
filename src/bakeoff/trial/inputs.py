"""The batches of a trial, read from the arrays that the parent wrote once for all contenders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


class Batches:
    """Batches in their fixed order, and the held-out samples where there are any.

    Shapes: x (batches, batch, ...) float32 channels last; y (batches, batch) int32.
    """

    def __init__(self, folder: Path) -> None:
        """Map the arrays; nothing is copied yet."""
        self._x = np.load(folder / "x.npy", mmap_mode="r", allow_pickle=False)
        self._y = np.load(folder / "y.npy", mmap_mode="r", allow_pickle=False)
        self.count = len(self._x)
        self.test: tuple[NDArray[Any], NDArray[Any]] | None = None
        if (folder / "x_test.npy").exists():
            self.test = (
                np.load(folder / "x_test.npy", allow_pickle=False),
                np.load(folder / "y_test.npy", allow_pickle=False),
            )

    def at(self, index: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give the batch of step `index`, as arrays of this process's own."""
        position = index % self.count
        return np.array(self._x[position]), np.array(self._y[position])

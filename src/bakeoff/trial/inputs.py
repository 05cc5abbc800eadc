"""The batches of a trial, read from the arrays that the parent wrote once for all contenders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from bakeoff.spec.trial import KINDS, Inputs, TrialSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Batches:
    """Batches in their fixed order, and the held-out samples where there are any.

    Shapes: x (batches, batch, ...) float32 channels last; y (batches, batch) int32.
    """

    def __init__(self, folder: Path, *, whole: bool = False) -> None:
        """Map the arrays, nothing is copied yet; `whole` takes all batches of the data set, not those of a race."""
        self._x = np.load(folder / "x.npy", mmap_mode="r", allow_pickle=False)
        self._y = np.load(folder / "y.npy", mmap_mode="r", allow_pickle=False)
        inputs = msgspec.json.decode((folder / "inputs.json").read_bytes(), type=Inputs)
        self.count = len(self._x) if whole else inputs.batches
        self.test: tuple[NDArray[Any], NDArray[Any]] | None = None
        if (folder / "x_test.npy").exists():
            self.test = (
                np.load(folder / "x_test.npy", allow_pickle=False),
                np.load(folder / "y_test.npy", allow_pickle=False),
            )

    def samples(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give all samples of these batches in their order, as arrays of this process's own."""
        x, y = self._x[: self.count], self._y[: self.count]
        return np.array(x).reshape(-1, *x.shape[2:]), np.array(y).reshape(-1)

    def at(self, index: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give the batch of step `index`, as arrays of this process's own."""
        position = index % self.count
        return np.array(self._x[position]), np.array(self._y[position])


class Repeated(Batches):
    """One batch of any size, of the samples that are there, again and again where there are too few."""

    def __init__(self, folder: Path, samples: int) -> None:
        """Map the arrays."""
        super().__init__(folder)
        self.count, self._samples = 1, samples

    def at(self, index: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give the batch, the same for every step."""
        del index
        x, y = (array.reshape(-1, *array.shape[2:]) for array in (self._x, self._y))
        taken = np.arange(self._samples) % len(x)
        return x[taken], y[taken]

    def samples(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give the batch as the whole data set."""
        return self.at(0)


def batches_of(trial: TrialSpec) -> Batches:
    """Return the batches that a trial of this kind takes."""
    folder = Path(trial.inputs_path)
    match KINDS[trial.purpose].batches:
        case "one":
            return Repeated(folder, trial.batch_size)
        case "epoch":
            return Batches(folder, whole=True)
        case "race":
            return Batches(folder)

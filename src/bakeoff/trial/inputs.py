"""The batches of a trial, read from the arrays that the parent wrote once for all contenders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from bakeoff.spec.batch import HELD_OUT, Batch
from bakeoff.spec.trial import KINDS, Inputs, TrialSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Batches:
    """Batches in their fixed order, and the held-out samples where there are any."""

    def __init__(self, folder: Path, *, whole: bool = False) -> None:
        """Map the arrays, nothing is copied yet; `whole` takes all batches of the data set, not those of a race."""
        inputs = msgspec.json.decode((folder / "inputs.json").read_bytes(), type=Inputs)
        every = _mapped(folder, inputs, "")
        self.count = len(every) if whole else inputs.batches
        self._arrays = every.taken(slice(self.count))
        """Each of shape (batches, batch size, ...)."""
        self._entries, self._along = inputs.entries, inputs.along
        self.test = _mapped(folder, inputs, HELD_OUT).mapped(np.array) if inputs.has_test else None

    def samples(self) -> Batch:
        """Return all samples of these batches in their order, as arrays of this process's own."""
        return self._arrays.mapped(lambda array: np.array(_joined(array)))

    def at(self, index: int) -> Batch:
        """Return the batch of step `index`, as arrays of this process's own."""
        position = index % self.count
        inputs, targets = (
            {name: np.array(self._cut(name, array[position], position)) for name, array in arrays.items()}
            for arrays in (self._arrays.inputs, self._arrays.targets)
        )
        return Batch(inputs, targets)

    def _cut(self, name: str, array: NDArray[Any], position: int) -> NDArray[Any]:
        """Return an array of one batch without the padding that all of its samples share."""
        if name not in self._entries:
            return array
        before = (slice(None),) * (1 + self._along[name])
        return array[(*before, slice(self._entries[name][position]))]


class Repeated(Batches):
    """One batch of any size, of the samples that are there, again and again where there are too few."""

    def __init__(self, folder: Path, samples: int) -> None:
        """Map the arrays."""
        super().__init__(folder)
        self.count, self._samples = 1, samples

    def at(self, index: int) -> Batch:
        """Return the batch, the same for every step."""
        del index
        joined = self._arrays.mapped(_joined)
        return joined.taken(np.arange(self._samples) % len(joined))

    def samples(self) -> Batch:
        """Return the batch as the whole data set."""
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


def _mapped(folder: Path, inputs: Inputs, ending: str) -> Batch:
    """Map the arrays whose files have this ending after their names."""
    named, others = (
        {name: np.load(folder / f"{name}{ending}.npy", mmap_mode="r", allow_pickle=False) for name in names}
        for names in (inputs.inputs, inputs.targets)
    )
    return Batch(named, others)


def _joined(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of batches as one of samples."""
    return array.reshape(-1, *array.shape[2:])

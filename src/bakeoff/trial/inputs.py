"""The batches of a trial, read from the arrays that the parent wrote once for all contenders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from bakeoff.spec.batch import HELD_OUT, Batch
from bakeoff.spec.trial import KINDS, Inputs, TrialSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bakeoff.spec.group import Group


class Batches:
    """Batches in their fixed order, and the held-out samples where there are any."""

    def __init__(self, folder: Path, *, whole: bool = False) -> None:
        """Map the arrays, nothing is copied yet; `whole` takes all batches of the data set, not those of a race."""
        inputs = msgspec.json.decode((folder / "inputs.json").read_bytes(), type=Inputs)
        every = _mapped(folder, inputs, "")
        self.count = len(every) if whole else inputs.batches
        self.ends = 0, inputs.batches - 1
        """The first and the last batch of a race, whose outputs are certified: two, so that an output that ignores its
        input is seen, and these, since timed steps that remember the first few come to one of them late."""
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


class Joined(Batches):
    """Batches of several devices: so many of the comparison's joined, and of each the rows of one replica, or all."""

    def __init__(self, folder: Path, joined: int, group: Group | None, *, whole: bool = False) -> None:
        """Map the arrays; step i takes batches i * joined, i * joined + 1, ... of them, from the first on again."""
        super().__init__(folder, whole=whole)
        self._parts, self._joined, self._group = self.count, joined, group
        self.count = max(1, self._parts // joined)
        self.ends = 0, max(1, (1 + self.ends[1]) // joined) - 1

    def at(self, index: int) -> Batch:
        """Return the global batch of step `index`, or what of it is this replica's."""
        first = index % self.count * self._joined
        positions = [(first + part) % self._parts for part in range(self._joined)]
        whole = self._arrays.mapped(lambda array: _joined(array[positions]))
        for name, along in self._along.items():
            if name in self._entries:
                longest = max(self._entries[name][position] for position in positions)
                whole = _cut_to(whole, name, along, longest)
        return whole.taken(_rows_of(self._group, len(whole)))

    def samples(self) -> Batch:
        """Return all samples of the batches in their order."""
        return _end_to_end([self.at(index) for index in range(self.count)])


def _rows_of(group: Group | None, samples: int) -> slice:
    """Return which rows of a global batch a process takes: all of them where it is alone."""
    if group is None:
        return slice(None)
    each = samples // group.world
    return slice(group.rank * each, (group.rank + 1) * each)


def _cut_to(batch: Batch, name: str, along: int, entries: int) -> Batch:
    """Return a batch with one array cut to so many entries along an axis of a sample."""
    kept = (*(slice(None),) * (1 + along), slice(entries))
    inputs, targets = (
        {one: array[kept] if one == name else array for one, array in arrays.items()}
        for arrays in (batch.inputs, batch.targets)
    )
    return Batch(inputs, targets)


def _end_to_end(batches: Sequence[Batch]) -> Batch:
    """Return several batches of one shape as one."""
    inputs, targets = (
        {name: np.concatenate([arrays[name] for arrays in parts]) for name in parts[0]}
        for parts in ([batch.inputs for batch in batches], [batch.targets for batch in batches])
    )
    return Batch(inputs, targets)


class Repeated(Batches):
    """One batch of any size, of the samples that are there, again and again where there are too few."""

    def __init__(self, folder: Path, samples: int) -> None:
        """Map the arrays."""
        super().__init__(folder)
        self.count, self._samples, self.ends = 1, samples, (0, 0)

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
    batches = KINDS[trial.purpose].batches
    if batches == "one":
        return Repeated(folder, trial.batch_size)
    if trial.joined > 1 or trial.group is not None:
        return Joined(folder, trial.joined, trial.group, whole=batches == "epoch")
    return Batches(folder, whole=batches == "epoch")


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

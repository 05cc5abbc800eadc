"""A batch: samples as named arrays, some of which a model takes, and others that its loss holds the outputs against."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

INPUT, TARGET = "x", "y"
"""The names of the two arrays where a size declares one input and one class label, and nothing by name."""

HELD_OUT = "_test"
"""What the name of an array of held-out samples ends with on disk; no array of a batch may be called so."""

OWN = "own"
"""The source of data that is a function in the workload's file."""

_ITEM_BYTES = {"float32": 4, "int32": 4, "bool": 1}


class Law(msgspec.Struct, frozen=True, kw_only=True):
    """How synthetic lengths are distributed; what falls outside of an array's `low` and `high` is drawn again."""

    kind: Literal["normal", "lognormal"] = "normal"
    mean: float
    """Of the lengths, before what falls outside is drawn again."""
    deviation: float


class ArraySpec(msgspec.Struct, frozen=True, kw_only=True):
    """One array of a batch; its first axis, which counts the samples, is left out of `shape`."""

    shape: tuple[int, ...] = ()
    """Of one sample, channels last; empty where it is one number."""
    dtype: Literal["float32", "int32", "bool"] = "float32"
    low: int = 0
    """Of integers, the smallest."""
    high: int | None = None
    """Of integers, the first that is too large: the entries of a vocabulary, or the number of classes."""
    order: Literal["any", "ascending", "places"] = "any"
    """Of drawn integers, along the last axis: each by itself; in ascending order, as the numbers of a text's parts; or
    different ones in ascending order, as places in a sequence."""
    within: str = ""
    """Of drawn integers, the name of the integer declared before this array that each sample's are below."""
    length: str = ""
    """Of a sequence that may be shorter: the name of the integers that count its real entries. What is beyond them is
    padding, which `--padding` may cut off: zeros where bakeoff makes the data, and whatever a user's own hold there."""
    along: int = 0
    """The axis of a sample's shape that these count."""
    law: Law | None = None
    """Of integers that are lengths, how synthetic ones are drawn; None: uniformly."""

    @property
    def sample_bytes(self) -> int:
        """Return the bytes of one sample."""
        return math.prod(self.shape) * _ITEM_BYTES[self.dtype]

    def __str__(self) -> str:
        """Write it as "int32 (12,)"."""
        return f"{self.dtype} {self.shape}"


class SampleSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What one sample is made of: arrays by name, in the order in which they are drawn, written and hashed."""

    inputs: dict[str, ArraySpec]
    """What the model takes: the array itself where there is one, else a mapping of these names to arrays."""
    targets: dict[str, ArraySpec]
    """What the loss takes, in the same way."""

    @property
    def arrays(self) -> dict[str, ArraySpec]:
        """Return all of them, inputs first."""
        return self.inputs | self.targets

    @property
    def varying(self) -> dict[str, ArraySpec]:
        """Return the sequences whose samples may be shorter than their shape."""
        return {name: array for name, array in self.arrays.items() if array.length}

    def cut(self, entries: Mapping[str, int]) -> SampleSpec:
        """Return a sample whose sequences of these names have so many entries."""
        inputs, targets = (
            {name: _cut(array, entries[name]) if name in entries else array for name, array in arrays.items()}
            for arrays in (self.inputs, self.targets)
        )
        return SampleSpec(inputs=inputs, targets=targets)

    @property
    def sample_bytes(self) -> int:
        """Return about how many bytes a sample takes, at least 1.

        A target that is one number is left out: it is small beside the inputs, and data that were written before
        targets had shapes were sized without it, so that they are still cut into the same batches.
        """
        counted = [*self.inputs.values(), *(target for target in self.targets.values() if target.shape)]
        return max(1, sum(array.sample_bytes for array in counted))

    def __str__(self) -> str:
        """Write the arrays as "tokens int32 (12,), length float32 () -> label int32 ()"."""
        inputs, targets = (
            ", ".join(f"{name} {array}" for name, array in arrays.items()) for arrays in (self.inputs, self.targets)
        )
        return f"{inputs} -> {targets}" if targets else inputs


def _cut(array: ArraySpec, entries: int) -> ArraySpec:
    """Return a sequence with so many entries."""
    shape = (*array.shape[: array.along], entries, *array.shape[array.along + 1 :])
    return msgspec.structs.replace(array, shape=shape)


@dataclass(frozen=True)
class Batch:
    """Samples as named NumPy arrays, of any types and shapes; every array's first axis counts the same samples.

    By convention an array with four axes is a feature map (samples, height, width, channels), and frameworks bring it
    into their own layout.
    """

    inputs: dict[str, NDArray[Any]]
    targets: dict[str, NDArray[Any]]

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(next(iter(self.inputs.values())))

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name, inputs first."""
        return self.inputs | self.targets

    def mapped(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> Batch:
        """Return a batch of what the function makes of each array."""
        inputs, targets = (
            {name: function(array) for name, array in arrays.items()} for arrays in (self.inputs, self.targets)
        )
        return Batch(inputs, targets)

    def taken(self, samples: slice | NDArray[Any]) -> Batch:
        """Return the batch of these samples: without a copy for a slice, copied for an array of indices."""
        return self.mapped(lambda array: array[samples])


def labelled(x: NDArray[Any], y: NDArray[Any]) -> Batch:
    """Return samples with one input and one class label, by the names that the short form of a size gives them."""
    return Batch({INPUT: x}, {TARGET: y})

"""Samples drawn from a seed, for speed: normal numbers, uniform integers and labels; there is nothing to learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.data.dataset import DataSet
from bakeoff.spec.batch import Batch
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bakeoff.spec.batch import ArraySpec
    from bakeoff.spec.workload import Size

ENDLESS = True
"""It has no end of its own: its epoch is as many batches as a race takes."""

COPIES = 3
"""Of the batches, while they are drawn: in float64 first, and then in the float32 that is written."""


def load(size: Size, count: int, seed: int, location: str | None) -> DataSet:
    """Draw `count` samples; RandomState's streams are frozen (NEP 19), so a seed gives the same everywhere."""
    if location is not None:
        msg = f"synthetic data has no location: write 'synthetic' instead of 'synthetic:{location}'"
        raise UsageError(msg)
    stream = np.random.RandomState(seed)
    inputs, targets = (
        {name: _drawn(stream, array, count) for name, array in arrays.items()}
        for arrays in (size.sample.inputs, size.sample.targets)
    )
    return DataSet(source=f"synthetic (seed {seed})", train=Batch(inputs, targets))


def _drawn(stream: np.random.RandomState, array: ArraySpec, count: int) -> NDArray[Any]:
    """Draw one array of `count` samples."""
    shape = (count, *array.shape)
    match array.dtype:
        case "float32":
            return stream.standard_normal(shape).astype(np.float32)
        case "int32":
            return stream.randint(array.low, array.high, shape, dtype=np.int32)
        case "bool":
            return stream.randint(0, 2, shape).astype(bool)

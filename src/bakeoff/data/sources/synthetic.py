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
    drawn = inputs | targets
    for name, array in size.sample.varying.items():
        _pad(drawn[name], drawn[array.length], array)
    return DataSet(source=f"synthetic (seed {seed})", train=Batch(inputs, targets))


def _drawn(stream: np.random.RandomState, array: ArraySpec, count: int) -> NDArray[Any]:
    """Draw one array of `count` samples."""
    shape = (count, *array.shape)
    if array.law is not None:
        return _lengths(stream, array, count)
    match array.dtype:
        case "float32":
            return stream.standard_normal(shape).astype(np.float32)
        case "int32":
            return stream.randint(array.low, array.high, shape, dtype=np.int32)
        case "bool":
            return stream.randint(0, 2, shape).astype(bool)


def _lengths(stream: np.random.RandomState, array: ArraySpec, count: int) -> NDArray[np.int32]:
    """Draw lengths by their law, again where one is outside of what the array may hold."""
    law = array.law
    assert law is not None
    assert array.high is not None
    if law.kind == "lognormal":
        variance = np.log1p((law.deviation / law.mean) ** 2)
        mean, deviation = np.log(law.mean) - variance / 2, np.sqrt(variance)
    found = np.zeros(0, np.int32)
    while len(found) < count:
        if law.kind == "lognormal":
            drawn = np.exp(stream.normal(mean, deviation, count))
        else:
            drawn = stream.normal(law.mean, law.deviation, count)
        rounded = np.rint(drawn)
        found = np.append(found, rounded[(rounded >= array.low) & (rounded < array.high)].astype(np.int32))
    return found[:count]


def _pad(array: NDArray[Any], lengths: NDArray[Any], spec: ArraySpec) -> None:
    """Put zeros beyond each sample's length; truth values tell what is real, and are all true before it."""
    axis = 1 + spec.along
    ends = lengths.reshape(-1, *(1,) * (array.ndim - 1))
    places = np.arange(array.shape[axis]).reshape((-1,) + (1,) * (array.ndim - 1 - axis))
    padding = np.broadcast_to(places >= ends, array.shape)
    if spec.dtype == "bool":
        array[...] = ~padding
    else:
        array[padding] = 0

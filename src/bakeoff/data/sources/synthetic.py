"""Samples drawn from a seed, for speed: normal numbers, uniform integers and labels; there is nothing to learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.data.dataset import DataSet
from bakeoff.spec.batch import Batch
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    drawn: dict[str, NDArray[Any]] = {}
    for name, array in size.sample.arrays.items():
        drawn[name] = _drawn(stream, name, array, count, drawn)
    inputs, targets = ({name: drawn[name] for name in arrays} for arrays in (size.sample.inputs, size.sample.targets))
    drawn = inputs | targets
    for name, array in size.sample.varying.items():
        _pad(drawn[name], drawn[array.length], array)
    return DataSet(source=f"synthetic (seed {seed})", train=Batch(inputs, targets))


def _drawn(
    stream: np.random.RandomState, name: str, array: ArraySpec, count: int, before: Mapping[str, NDArray[Any]]
) -> NDArray[Any]:
    """Draw one array of `count` samples; `before` holds those that were drawn before it."""
    shape = (count, *array.shape)
    if array.order == "places":
        return _places(stream, name, array, count, before)
    if array.order == "ascending":
        return np.sort(stream.randint(array.low, array.high, shape, dtype=np.int32), axis=-1)
    if array.law is not None:
        return _lengths(stream, array, count)
    match array.dtype:
        case "float32":
            return stream.standard_normal(shape).astype(np.float32)
        case "int32":
            return _integers(stream, name, array, count, before)
        case "bool":
            return stream.randint(0, 2, shape).astype(bool)


def _places(
    stream: np.random.RandomState, name: str, array: ArraySpec, count: int, before: Mapping[str, NDArray[Any]]
) -> NDArray[Any]:
    """Draw different places in ascending order, each sample's below its own limit."""
    most = array.high or 0
    limits = before.get(array.within, np.full(count, most))
    wanted = array.shape[-1] if array.shape else 0
    if array.dtype != "int32" or len(array.shape) != 1 or limits.shape != (count,) or int(limits.min()) < wanted:
        within = f" of which {array.within} leaves fewer in some samples" if array.within else ""
        msg = (
            f"{name} is to hold {wanted} different places below {most}{within}: declare a shorter one, int32 (places,)"
        )
        raise UsageError(msg)
    weights = stream.random_sample((count, most))
    weights[np.arange(most) >= limits[:, np.newaxis]] = 2  # behind all that are drawn, which are below 1
    return np.sort(np.argsort(weights, axis=-1)[:, :wanted], axis=-1).astype(np.int32)


def _integers(
    stream: np.random.RandomState, name: str, array: ArraySpec, count: int, before: Mapping[str, NDArray[Any]]
) -> NDArray[Any]:
    """Draw integers uniformly, each sample's below its own limit where that is declared; raise UsageError for none."""
    shape = (count, *array.shape)
    if not array.within:
        return stream.randint(array.low, array.high, shape, dtype=np.int32)
    limits = before.get(array.within)
    if limits is None or limits.shape != (count,) or int(limits.min()) < 1:
        msg = f"{name} is to be below {array.within}: declare that before it, as int32 () with low=1 or more"
        raise UsageError(msg)
    shares: NDArray[Any] = stream.random_sample(shape) * limits.reshape(count, *(1,) * len(array.shape))
    return shares.astype(np.int32)


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

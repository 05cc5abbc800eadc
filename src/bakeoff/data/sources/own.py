"""The workload's own data: what the function `data(size, samples, seed)` in its file gives as NumPy arrays by name.

Each array's first axis counts the samples; the others, and the kind of its numbers, are those that the size declares.
Names that end in "_test" are held-out samples. It may give fewer samples than it is asked for, which are then all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import bakeoff.workloads.load
from bakeoff.data.dataset import DataSet
from bakeoff.spec.batch import HELD_OUT, Batch
from bakeoff.spec.errors import ModelFileError, UsageError
from bakeoff.workloads.mistakes import told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bakeoff.spec.batch import ArraySpec
    from bakeoff.spec.workload import Size

COPIES = 2
"""Of the batches: as the file gives them, and in the type that is written."""

_KINDS = {"float32": "fiub", "int32": "iu", "bool": "b"}
"""NumPy's letters for the kinds that are converted into each type without another meaning."""


def load(size: Size, count: int, seed: int, location: str | None) -> DataSet:
    """Return what the function in the file `location` gives; raise ModelFileError for what is not as declared."""
    if location is None:
        msg = "own data are those of a workload's file: name the file as the workload"
        raise UsageError(msg)
    loaded = bakeoff.workloads.load.load(location)
    if loaded.data is None:
        msg = f"{location}: it has no function data(size, samples, seed), which own data come from"
        raise ModelFileError(msg)
    with told(location, "data"):
        found = loaded.data(size, count, seed)
    try:
        return _checked(found, size, count, f"own (of {loaded.path.name}, seed {seed})")
    except ValueError as error:
        msg = f"{location}:{loaded.data.__code__.co_firstlineno}: data returned {error}"
        raise ModelFileError(msg) from error


def _checked(found: Any, size: Size, count: int, source: str) -> DataSet:
    """Return the samples, at most `count` to train on; raise ValueError for what is not as the size declares it."""
    declared = size.sample.arrays
    held_out = {f"{name}{HELD_OUT}": array for name, array in declared.items()}
    if not isinstance(found, dict):
        msg = f"{type(found).__name__}; it must return a dict of arrays by name: {', '.join(declared)}"
        raise ValueError(msg)  # noqa: TRY004 - caught above, like all that it can be
    has_test = bool(found.keys() & held_out.keys())
    wanted = declared | (held_out if has_test else {})
    if found.keys() != wanted.keys():
        msg = f"arrays called {', '.join(map(str, found)) or 'nothing'}; the size declares {', '.join(wanted)}"
        raise ValueError(msg)
    arrays = {name: _array(name, found[name], spec) for name, spec in wanted.items()}
    train = _batch({name: arrays[name] for name in declared}, size)
    test = _batch({name: arrays[f"{name}{HELD_OUT}"] for name in declared}, size) if has_test else None
    return DataSet(source=source, train=train.taken(slice(count)), test=test)


def _batch(arrays: Mapping[str, NDArray[Any]], size: Size) -> Batch:
    """Return samples; raise ValueError where arrays hold different numbers of them, or none."""
    counts = {name: len(array) for name, array in arrays.items()}
    if len(set(counts.values())) > 1 or not min(counts.values()):
        told = ", ".join(f"{count} of {name}" for name, count in counts.items())
        msg = f"{told}; each array must hold the same samples, at least one"
        raise ValueError(msg)
    return Batch(
        {name: arrays[name] for name in size.sample.inputs}, {name: arrays[name] for name in size.sample.targets}
    )


def _array(name: str, value: Any, spec: ArraySpec) -> NDArray[Any]:
    """Return one array in its declared type; raise ValueError for another shape, kind or range."""
    array = np.asarray(value)
    if array.ndim != 1 + len(spec.shape) or array.shape[1:] != spec.shape:
        msg = f"{name} of shape {array.shape}; it must be (samples, {', '.join(map(str, spec.shape))})"
        raise ValueError(msg)
    if array.dtype.kind not in _KINDS[spec.dtype]:
        msg = f"{name} of {array.dtype}; it is declared as {spec.dtype}"
        raise ValueError(msg)
    lowest = min(spec.low, 0) if spec.length else spec.low  # padding is zeros
    if spec.dtype == "int32" and array.size and not lowest <= array.min() <= array.max() < (spec.high or 0):
        msg = f"{name} from {array.min()} to {array.max()}; it is declared from {spec.low} to below {spec.high}"
        raise ValueError(msg)
    with np.errstate(over="ignore"):
        converted = np.ascontiguousarray(array, spec.dtype)
    if spec.dtype == "float32" and not np.isfinite(converted).all():
        msg = f"{name} with numbers that are not finite in float32"
        raise ValueError(msg)
    return converted

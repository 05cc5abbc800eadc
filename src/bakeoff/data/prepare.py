"""Write the batches of a comparison once, so that every contender takes the same ones in the same order."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from bakeoff.data import sources
from bakeoff.spec.batch import HELD_OUT
from bakeoff.spec.errors import StoreError, UnknownNameError, UsageError
from bakeoff.spec.trial import Inputs

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.data.dataset import DataSet
    from bakeoff.spec.workload import Size, Workload


class _Limits(msgspec.Struct, frozen=True):
    """How many batches are written; in a race they all lie on the device, the same ones for all contenders."""

    race_bytes: int = 256_000_000  # leaves room for the model even on a small machine
    most: int = 64  # more would not be seen again within a block
    least: int = 4  # with fewer, a large cache would hold the batch of the step before
    epoch_bytes: int = 4_000_000_000  # of a whole data set: CIFAR-10 has 0.6 GB, and a worker holds all of it


_LIMITS = _Limits()


def names() -> list[str]:
    """List the sources of data: the files of bakeoff.data.sources."""
    return sorted(module.name for module in pkgutil.iter_modules(sources.__path__))


def named(source: str | None, workload: Workload) -> tuple[str, str]:
    """Return a source's name and its location, which may be empty; raise UsageError for one that does not fit."""
    name, _, location = (source or workload.data[0]).partition(":")
    if name not in names():
        kind = "data source"
        raise UnknownNameError(kind, name, names())
    if name not in workload.data:
        msg = f"{workload.name} has no data from {name!r}; valid: {', '.join(workload.data)}"
        raise UsageError(msg)
    return name, location


def needed_bytes(source: str | None, workload: Workload, size: Size, batch_size: int) -> int:
    """Return how much memory drawing the batches takes; 0 where the source has an end, which a batch cannot exceed."""
    name, _ = named(source, workload)
    module: Any = importlib.import_module(f"{sources.__name__}.{name}")
    batch_bytes = max(1, batch_size * size.sample.sample_bytes)
    return getattr(module, "COPIES", 0) * _most(batch_bytes) * batch_bytes


def _most(batch_bytes: int) -> int:
    """Return the number of batches of this size that a race takes at most."""
    return max(_LIMITS.least, min(_LIMITS.most, _LIMITS.race_bytes // batch_bytes))


def prepare(  # noqa: PLR0913 - all that decides what is written
    source: str | None,
    workload: Workload,
    size: Size,
    batch_size: int,
    seed: int,
    folder: Path,
    *,
    whole: bool = False,
) -> Inputs:
    """Write the arrays and inputs.json, as `Inputs` says; raise UsageError or StoreError, which say what to do.

    `source` is a name, or a name and a location as in "huggingface:/path/to/folder"; None: the workload's first.
    `whole` writes all batches of the data set, of which a race takes the first.
    """
    name, location = named(source, workload)
    if batch_size < 1:
        msg = f"batch size {batch_size}: it must be at least 1"
        raise UsageError(msg)
    batch_bytes = batch_size * size.sample.sample_bytes
    most = _most(batch_bytes)
    module: Any = importlib.import_module(f"{sources.__name__}.{name}")
    whole = whole and not getattr(module, "ENDLESS", False)
    most_in_all = max(most, _LIMITS.epoch_bytes // batch_bytes) if whole else most
    # One sample more shows whether that was all.
    found: DataSet = module.load(size, most_in_all * batch_size + whole, seed, location or None)
    if len(found.train) > most_in_all * batch_size:
        msg = (
            f"an epoch of {found.source} takes more than {_LIMITS.epoch_bytes / 1e9:g} GB as arrays; "
            "say how many steps to run, of an epoch or in all: --steps N"
        )
        raise UsageError(msg)
    batches = min(most, len(found.train) // batch_size)
    if batches == 0:
        msg = f"batch size {batch_size}: {found.source} has only {len(found.train)} samples to train on"
        raise UsageError(msg)
    return _write(found, batches, batch_size, folder, whole=whole)


def _write(found: DataSet, batches: int, batch_size: int, folder: Path, *, whole: bool) -> Inputs:
    """Write the arrays and inputs.json, which comes last: where it is, all is."""
    written = len(found.train) // batch_size if whole else batches
    train = found.train.taken(slice(written * batch_size))
    arrays = train.mapped(lambda array: array.reshape(written, batch_size, *array.shape[1:])).arrays
    if found.test is not None:
        arrays |= {f"{name}{HELD_OUT}": array for name, array in found.test.arrays.items()}
    digest = hashlib.sha256()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array, allow_pickle=False)
            digest.update(np.ascontiguousarray(array).data)
        inputs = Inputs(
            source=found.source,
            batches=batches,
            sha256=digest.hexdigest(),
            has_test=found.test is not None,
            epoch_batches=written,
            inputs=tuple(train.inputs),
            targets=tuple(train.targets),
        )
        (folder / "inputs.json").write_bytes(msgspec.json.format(msgspec.json.encode(inputs)))
    except OSError as error:
        msg = f"cannot write the batches to {folder}: {error.strerror or error}"
        raise StoreError(msg) from error
    return inputs

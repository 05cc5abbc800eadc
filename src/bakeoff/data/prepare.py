"""Write the batches of a comparison once, so that every contender takes the same ones in the same order."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from bakeoff.data import sources
from bakeoff.data.padding import arranged, counted, padding_of
from bakeoff.spec.batch import HELD_OUT, OWN
from bakeoff.spec.errors import StoreError, UnknownNameError, UsageError
from bakeoff.spec.trial import FIXED, Inputs

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.data.dataset import DataSet
    from bakeoff.data.padding import Padding
    from bakeoff.spec.batch import Batch, SampleSpec
    from bakeoff.spec.workload import Size, Workload


class _Limits(msgspec.Struct, frozen=True):
    """How many batches are written; in a race they all lie on the device, the same ones for all contenders."""

    race_bytes: int = 256_000_000  # leaves room for the model even on a small machine
    most: int = 64  # more would not be seen again within a block
    least: int = 4  # with fewer, a large cache would hold the batch of the step before
    most_shapes: int = 16  # where shapes differ, a timed block holds all of them: more would make it long
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
        hint = "; a function data(size, samples, seed) in its file would give its own" if name == OWN else ""
        msg = f"{workload.name} has no data from {name!r}; valid: {', '.join(workload.data)}{hint}"
        raise UsageError(msg)
    if name == OWN and location:
        msg = f"own data have no location: write {OWN!r} instead of '{OWN}:{location}'"
        raise UsageError(msg)
    return name, location


def needed_bytes(source: str | None, workload: Workload, size: Size, batch_size: int, steps: int = 0) -> int:
    """Return how much memory drawing the batches takes; 0 where the source has an end, which a batch cannot exceed.

    `steps` are those of an epoch of whole runs whose batches differ in shape, as in `prepare`.
    """
    name, _ = named(source, workload)
    module: Any = importlib.import_module(f"{sources.__name__}.{name}")
    batch_bytes = max(1, batch_size * size.sample.sample_bytes)
    return getattr(module, "COPIES", 0) * max(_most(batch_bytes), _of_run(batch_bytes, steps)) * batch_bytes


def _most(batch_bytes: int) -> int:
    """Return the number of batches of this size that a race takes at most."""
    return max(_LIMITS.least, min(_LIMITS.most, _LIMITS.race_bytes // batch_bytes))


def _of_run(batch_bytes: int, steps: int) -> int:
    """Return how many batches a whole run of so many steps has of its own, so that its epochs repeat few shapes."""
    return min(steps, _LIMITS.epoch_bytes // batch_bytes)


def prepare(  # noqa: PLR0913 - all that decides what is written
    source: str | None,
    workload: Workload,
    size: Size,
    batch_size: int,
    seed: int,
    folder: Path,
    *,
    whole: bool = False,
    steps: int = 0,
    padding: str = FIXED,
    file: Path | None = None,
) -> Inputs:
    """Write the arrays and inputs.json, as `Inputs` says; raise UsageError or StoreError, which say what to do.

    `source` is a name, or a name and a location as in "huggingface:/path/to/folder"; None: the workload's first.
    `whole` writes all batches of the data set, of which a race takes the first; `steps` of an epoch of whole runs, as
    many batches as that where their shapes differ. `padding` says how sequences that have lengths are padded
    (`bakeoff.data.padding`); `file` is the workload's, whose own data may be asked for.
    """
    padded = padding_of(padding, size.sample)
    if batch_size < 1:
        msg = f"batch size {batch_size}: it must be at least 1"
        raise UsageError(msg)
    batch_bytes = batch_size * size.sample.sample_bytes
    most = _most(batch_bytes) if padded.kind == FIXED else min(_LIMITS.most_shapes, _most(batch_bytes))
    name, location = named(source, workload)
    module: Any = importlib.import_module(f"{sources.__name__}.{name}")
    whole = whole and not getattr(module, "ENDLESS", False)
    of_run = _of_run(batch_bytes, steps) if padded.kind != FIXED else 0
    most_in_all = max(most, _LIMITS.epoch_bytes // batch_bytes if whole else of_run)
    # One sample more shows whether that was all; what does not fill its bucket's batch is left over.
    wanted = most_in_all * batch_size + whole + padded.buckets * (batch_size - 1)
    place = str(file) if name == OWN and file is not None else location or None
    found: DataSet = module.load(size, wanted, seed, place)
    if whole and len(found.train) == wanted:
        msg = (
            f"an epoch of {found.source} takes more than {_LIMITS.epoch_bytes / 1e9:g} GB as arrays; "
            "say how many steps to run, of an epoch or in all: --steps N"
        )
        raise UsageError(msg)
    about, train = _batches(found, size.sample, batch_size, padded, None if whole else most_in_all)
    about = msgspec.structs.replace(about, batches=min(most, about.epoch_batches))
    race = train.taken(slice(about.batches * batch_size))
    about = msgspec.structs.replace(about, sequences=counted(race, size.sample, batch_size, about.entries))
    return _write(about, train, found.test, batch_size, folder)


def _batches(
    found: DataSet, sample: SampleSpec, batch_size: int, padded: Padding, most: int | None
) -> tuple[Inputs, Batch]:
    """Return what inputs.json says of at most so many batches, and their samples; raise UsageError for none at all."""
    order, entries = arranged(found.train, sample, batch_size, padded)
    full = len(order) // batch_size
    if full == 0:
        together = "" if padded.kind != "buckets" else f", too few of one bucket of {padded.buckets}"
        has = f"{found.source} has only {len(found.train)} samples to train on{together}"
        msg = f"batch size {batch_size}: {has}; give a smaller --batch-size"
        raise UsageError(msg)
    written = full if most is None else min(most, full)
    # In their own order samples are taken without a copy.
    train = found.train.taken(slice(written * batch_size) if padded.kind == FIXED else order[: written * batch_size])
    about = Inputs(
        source=found.source,
        batches=written,
        sha256="",
        has_test=found.test is not None,
        epoch_batches=written,
        inputs=tuple(train.inputs),
        targets=tuple(train.targets),
        padding=str(padded),
        entries={name: kept[:written] for name, kept in entries.items()},
        along={name: sample.varying[name].along for name in entries},
    )
    return about, train


def _write(about: Inputs, train: Batch, test: Batch | None, batch_size: int, folder: Path) -> Inputs:
    """Write the arrays and inputs.json, which comes last: where it is, all is."""
    written = about.epoch_batches
    arrays = train.mapped(lambda array: array.reshape(written, batch_size, *array.shape[1:])).arrays
    if test is not None:
        arrays |= {f"{name}{HELD_OUT}": array for name, array in test.arrays.items()}
    digest = hashlib.sha256()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array, allow_pickle=False)
            digest.update(np.ascontiguousarray(array).data)
        if about.entries:
            digest.update(msgspec.json.encode(about.entries))
        inputs = msgspec.structs.replace(about, sha256=digest.hexdigest())
        (folder / "inputs.json").write_bytes(msgspec.json.format(msgspec.json.encode(inputs)))
    except OSError as error:
        # NumPy has no reason where not all was taken, only how much: a disk that is full, or a limit.
        why = error.strerror or f"no space is left there, or a limit is reached ({error})"
        msg = f"cannot write the batches to {folder}: {why}; name another folder by --results DIR"
        raise StoreError(msg) from error
    return inputs

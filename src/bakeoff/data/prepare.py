"""Write the batches of a comparison once, so that every contender takes the same ones in the same order."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from bakeoff.data import sources
from bakeoff.spec.errors import StoreError, UnknownNameError, UsageError
from bakeoff.spec.trial import Inputs

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from bakeoff.data.samples import Samples
    from bakeoff.spec.workload import Size, Workload

# The batches lie on the device during a race, the same ones for all contenders.
_MOST_BYTES = 256_000_000  # leaves room for the model even on a small machine
_MOST = 64  # more would not be seen again within a block
_MOST_EPOCH_BYTES = 4_000_000_000  # of a whole data set: CIFAR-10 has 0.6 GB, and a worker holds all of it
_LEAST = 4  # with fewer, a large cache would hold the batch of the step before


def names() -> list[str]:
    """List the sources of data: the files of bakeoff.data.sources."""
    return sorted(module.name for module in pkgutil.iter_modules(sources.__path__))


def named(source: str | None, workload: Workload) -> tuple[str, str]:
    """Give a source's name and its location, which may be empty; raise UsageError for one that does not fit."""
    name, _, location = (source or workload.data[0]).partition(":")
    if name not in names():
        kind = "data source"
        raise UnknownNameError(kind, name, names())
    if name not in workload.data:
        msg = f"{workload.name} has no data from {name!r}; valid: {', '.join(workload.data)}"
        raise UsageError(msg)
    return name, location


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
    """Write x.npy, y.npy, what is held out, and inputs.json; raise UsageError or StoreError, which say what to do.

    `source` is a name, or a name and a location as in "huggingface:/path/to/folder"; None: the workload's first.
    `whole` writes all batches of the data set, of which a race takes the first.
    """
    name, location = named(source, workload)
    if batch_size < 1:
        msg = f"batch size {batch_size}: it must be at least 1"
        raise UsageError(msg)
    most = _most_batches(size, batch_size)
    module: Any = importlib.import_module(f"{sources.__name__}.{name}")
    whole = whole and not getattr(module, "ENDLESS", False)
    most_in_all = max(most, _MOST_EPOCH_BYTES // _batch_bytes(size, batch_size)) if whole else most
    # One sample more tells whether that was all.
    samples: Samples = module.load(size, most_in_all * batch_size + whole, seed, location or None)
    if len(samples.x) > most_in_all * batch_size:
        msg = (
            f"an epoch of {samples.source} takes more than {_MOST_EPOCH_BYTES / 1e9:g} GB as arrays; "
            "say how many steps to run, of an epoch or in all: --steps N"
        )
        raise UsageError(msg)
    batches = min(most, len(samples.x) // batch_size)
    if batches == 0:
        msg = f"batch size {batch_size}: {samples.source} has only {len(samples.x)} samples to train on"
        raise UsageError(msg)
    return _write(samples, batches, batch_size, folder, whole=whole)


def _most_batches(size: Size, batch_size: int) -> int:
    """Give how many batches fit."""
    return max(_LEAST, min(_MOST, _MOST_BYTES // _batch_bytes(size, batch_size)))


def _batch_bytes(size: Size, batch_size: int) -> int:
    """Give the bytes of a batch."""
    return batch_size * int(np.prod(size.input_shape)) * np.dtype(np.float32).itemsize


def _write(samples: Samples, batches: int, batch_size: int, folder: Path, *, whole: bool) -> Inputs:
    """Write the arrays and inputs.json, which comes last: where it is, all is."""
    written = len(samples.x) // batch_size if whole else batches
    arrays: dict[str, NDArray[Any]] = {
        "x": samples.x[: written * batch_size].reshape(written, batch_size, *samples.x.shape[1:]),
        "y": samples.y[: written * batch_size].reshape(written, batch_size),
    }
    if samples.x_test is not None and samples.y_test is not None:
        arrays |= {"x_test": samples.x_test, "y_test": samples.y_test}
    digest = hashlib.sha256()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array, allow_pickle=False)
            digest.update(np.ascontiguousarray(array).data)
        inputs = Inputs(
            source=samples.source,
            batches=batches,
            sha256=digest.hexdigest(),
            has_test="x_test" in arrays,
            epoch_batches=written,
        )
        (folder / "inputs.json").write_bytes(msgspec.json.format(msgspec.json.encode(inputs)))
    except OSError as error:
        msg = f"cannot write the batches to {folder}: {error.strerror or error}"
        raise StoreError(msg) from error
    return inputs

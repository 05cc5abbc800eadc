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
_LEAST = 4  # with fewer, a large cache would hold the batch of the step before


def names() -> list[str]:
    """List the sources of data: the files of bakeoff.data.sources."""
    return sorted(module.name for module in pkgutil.iter_modules(sources.__path__))


def prepare(source: str | None, workload: Workload, size: Size, batch_size: int, seed: int, folder: Path) -> Inputs:
    """Write x.npy, y.npy, what is held out, and inputs.json; raise UsageError or StoreError, which say what to do.

    `source` is a name, or a name and a location as in "huggingface:/path/to/folder"; None: the workload's first.
    """
    name, _, location = (source or workload.data[0]).partition(":")
    if name not in names():
        kind = "data source"
        raise UnknownNameError(kind, name, names())
    if name not in workload.data:
        msg = f"{workload.name} has no data from {name!r}; valid: {', '.join(workload.data)}"
        raise UsageError(msg)
    if batch_size < 1:
        msg = f"batch size {batch_size}: it must be at least 1"
        raise UsageError(msg)
    most = _most_batches(size, batch_size)
    module: Any = importlib.import_module(f"{sources.__name__}.{name}")
    samples: Samples = module.load(size, most * batch_size, seed, location or None)
    batches = min(most, len(samples.x) // batch_size)
    if batches == 0:
        msg = f"batch size {batch_size}: {samples.source} has only {len(samples.x)} samples to train on"
        raise UsageError(msg)
    return _write(samples, batches, batch_size, folder)


def _most_batches(size: Size, batch_size: int) -> int:
    """Give how many batches fit."""
    batch_bytes = batch_size * int(np.prod(size.input_shape)) * np.dtype(np.float32).itemsize
    return max(_LEAST, min(_MOST, _MOST_BYTES // batch_bytes))


def _write(samples: Samples, batches: int, batch_size: int, folder: Path) -> Inputs:
    """Write the arrays and inputs.json, which comes last: where it is, all is."""
    arrays: dict[str, NDArray[Any]] = {
        "x": samples.x[: batches * batch_size].reshape(batches, batch_size, *samples.x.shape[1:]),
        "y": samples.y[: batches * batch_size].reshape(batches, batch_size),
    }
    if samples.x_test is not None and samples.y_test is not None:
        arrays |= {"x_test": samples.x_test, "y_test": samples.y_test}
    digest = hashlib.sha256()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array, allow_pickle=False)
            digest.update(np.ascontiguousarray(array).data)
        inputs = Inputs(source=samples.source, batches=batches, sha256=digest.hexdigest(), has_test="x_test" in arrays)
        (folder / "inputs.json").write_bytes(msgspec.json.format(msgspec.json.encode(inputs)))
    except OSError as error:
        msg = f"cannot write the batches to {folder}: {error.strerror or error}"
        raise StoreError(msg) from error
    return inputs

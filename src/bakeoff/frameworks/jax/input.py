"""Where a step's batch comes from, as JAX's users write it: copied each step, from Grain, or shuffled by hand."""

from __future__ import annotations

from importlib import metadata
from itertools import cycle
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from bakeoff.frameworks.feeds import BatchFeed, first_arrays, is_copied
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Feed, Samples, Step
    from bakeoff.frameworks.steps import DeviceBatch

_SHARED = 64
"""Bytes: on a processor JAX takes over the memory of an array that starts at a multiple of this, without a copy."""

_READERS = 16
"""Grain's own number of reading threads; and one batch for each of them is kept, where Grain's own 500 batches of
images would take gigabytes."""

_USUAL = 16
"""Bytes beyond such a multiple at which NumPy's large arrays start, as malloc maps them: those are copied."""


class _Feed(BatchFeed):
    """What both ways have in common: samples in host memory, in the step's precision."""

    def __init__(self, step: Step, samples: Samples) -> None:
        """Convert the samples once, as their users hold them."""
        pairs = zip(samples.arrays.arrays.values(), first_arrays(step, samples), strict=True)
        super().__init__(samples, [array.astype(prepared.dtype, copy=False) for array, prepared in pairs])

    def _put(self, arrays: Any) -> DeviceBatch:
        """Put a batch on the device."""
        return self._names.paired(jax.device_put(arrays))

    def _canonical(self, array: Any) -> NDArray[Any]:
        """Return an array as NumPy's; the canonical layout is the step's."""
        return np.asarray(array)


class _Copied(_Feed):
    """jax.device_put each step; on a processor that is a copy too, unless an array starts where XLA's would."""

    def _endless(self) -> Generator[DeviceBatch]:
        """Copy batch after batch in their fixed order."""
        batches = [tuple(map(_placed, arrays)) for arrays in self._cut()]
        yield from map(self._put, cycle(batches))

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return the call, and whether it copies."""
        array = _placed(self._arrays[0][: self._size])
        copies = is_copied(array, lambda values: jax.block_until_ready(jax.device_put(values)), np.asarray)
        return {"input_call": "jax.device_put(x)", "input_copies": copies}


class _Loaded(_Feed):
    """A Grain dataset of samples: shuffled whole, batched, read by its threads, and put on the device."""

    def _endless(self) -> Generator[DeviceBatch]:
        """Yield epoch after epoch, each shuffled anew."""
        module = grain_module()
        dataset = module.MapDataset.source(_Source(self._arrays)).seed(self._seed).shuffle().repeat()
        reading = module.ReadOptions(num_threads=_READERS, prefetch_buffer_size=_READERS)
        batches = iter(dataset.batch(self._size, drop_remainder=True).to_iter_dataset(reading))
        try:
            yield from map(self._put, batches)
        finally:
            batches.close()

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return how the loader is set."""
        call = f"grain.MapDataset.shuffle.batch (grain {metadata.version('grain')}), jax.device_put(x)"
        return {"loader": "grain", "input_call": call}


class _Shuffled(_Feed):
    """A permutation of the samples each epoch and NumPy's indexing, by hand; and put on the device."""

    def _endless(self) -> Generator[DeviceBatch]:
        """Yield epoch after epoch, each shuffled anew."""
        random = np.random.default_rng(self._seed)
        while True:
            order = random.permutation(self._count)
            for start in range(0, len(order), self._size):
                chosen = order[start : start + self._size]
                yield self._put(tuple(array[chosen] for array in self._arrays))

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return how batches are made."""
        return {"loader": "hand", "input_call": "x[permutation[start:end]], jax.device_put(x)"}


class _Source:
    """Random access to samples, as Grain reads them."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        """Keep the arrays."""
        self._arrays = arrays

    def __len__(self) -> int:
        """Count the samples."""
        return len(self._arrays[0])

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        """Return what one sample has in each array."""
        return tuple(array[index] for array in self._arrays)


def grain_module() -> Any:
    """Import Grain, which only this way of input needs; raise UnsupportedError where it is not there."""
    try:
        import grain
    except ImportError as error:
        msg = f"input=pipeline needs Grain, JAX's data loader, which cannot be imported ({error}): pip install grain"
        raise UnsupportedError(msg) from error
    return grain


def feed(step: Step, samples: Samples, options: Mapping[str, str]) -> Feed:
    """Return the way of input that the option names."""
    if options["input"] == "pipeline" and options["loader"] == "hand":
        return _Shuffled(step, samples)
    if options["input"] == "pipeline":
        grain_module()
        return _Loaded(step, samples)
    return _Copied(step, samples)


def _placed(values: NDArray[Any]) -> NDArray[Any]:
    """Copy an array to where large ones mostly lie: else it would be luck which batches are copied again."""
    room = np.empty(values.nbytes + _SHARED + _USUAL, np.uint8)
    start = (_USUAL - room.ctypes.data) % _SHARED
    placed = room[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    placed[...] = values
    return placed

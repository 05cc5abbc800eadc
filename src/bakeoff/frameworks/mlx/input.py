"""Where a step's batch comes from, as MLX's users write it: copied each step, or from MLX Data."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import mlx.core as mx
import numpy as np

from bakeoff.frameworks.feeds import BatchFeed, first_arrays, is_copied
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Feed, Samples, Step
    from bakeoff.frameworks.steps import DeviceBatch

_BATCHES_AHEAD, _LOADING_THREADS = 4, 4
"""As in MLX's own example for CIFAR-10 (mlx-examples, cifar/dataset.py)."""


class _Feed(BatchFeed):
    """What both ways have in common: samples in host memory, in the step's precision."""

    def __init__(self, step: Step, samples: Samples) -> None:
        """Convert the samples once, as their users hold them."""
        pairs = zip(samples.arrays.arrays.values(), first_arrays(step, samples), strict=True)
        arrays = [array.astype(np.asarray(prepared).dtype, copy=False) for array, prepared in pairs]
        super().__init__(samples, arrays)

    def _canonical(self, array: mx.array) -> NDArray[Any]:
        """Return an array as NumPy's; the canonical layout is the step's."""
        return np.array(array)


class _Copied(_Feed):
    """mx.array each step, which copies: the only way from NumPy to MLX."""

    def _endless(self) -> Generator[DeviceBatch]:
        """Copy batch after batch in their fixed order."""
        for arrays in cycle(self._cut()):
            yield self._names.paired([mx.array(array) for array in arrays])

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return the call, and whether it copies."""
        copies = is_copied(self._arrays[0][: self._size].copy(), mx.array, np.array)
        return {"input_call": "mx.array(x)", "input_copies": copies}


class _Loaded(_Feed):
    """A buffer of MLX Data: shuffled whole, batched, and prefetched by threads in the order of the shuffle."""

    def _endless(self) -> Generator[DeviceBatch]:
        """Yield epoch after epoch, each shuffled anew."""
        module = mlx_data()
        module.core.set_state(self._seed)
        names = self._names.inputs + self._names.targets
        rows = zip(*self._arrays, strict=True)
        samples = module.buffer_from_vector([dict(zip(names, row, strict=True)) for row in rows])
        while True:
            shuffled = samples.shuffle().batch(self._size)
            for batch in shuffled.ordered_prefetch(_BATCHES_AHEAD, _LOADING_THREADS):
                yield self._names.paired([mx.array(batch[name]) for name in names])

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return how the loader is set."""
        call = f"mlx.data.Buffer.shuffle.batch.ordered_prefetch({_BATCHES_AHEAD}, {_LOADING_THREADS}), mx.array(x)"
        return {"input_call": call}


def mlx_data() -> Any:
    """Import MLX Data, which only this way of input needs; raise UnsupportedError where it is not there."""
    try:
        import mlx.data
    except ImportError as error:
        msg = f"input=pipeline needs MLX Data, which cannot be imported ({error}): pip install mlx-data"
        raise UnsupportedError(msg) from error
    return mlx.data


def feed(step: Step, samples: Samples, options: Mapping[str, str]) -> Feed:
    """Return the way of input that the option names."""
    if options["input"] == "pipeline":
        mlx_data()
        return _Loaded(step, samples)
    return _Copied(step, samples)

"""Where a step's batch comes from, as MLX's users write it: copied each step, or from MLX Data."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import mlx.core as mx
import numpy as np

from bakeoff.frameworks.feeds import BatchFeed, cut
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Feed, Samples, Step

_BATCHES_AHEAD, _LOADING_THREADS = 4, 4
"""As in MLX's own example for CIFAR-10 (mlx-examples, cifar/dataset.py)."""


class _Feed(BatchFeed):
    """What both ways have in common: samples in host memory, in the step's precision."""

    def __init__(self, step: Step, samples: Samples) -> None:
        """Convert the samples once, as their users hold them."""
        size = samples.batch_size
        x, y = (np.asarray(one) for one in step.prepare(samples.x[:size], samples.y[:size]))
        self._x = samples.x.astype(x.dtype, copy=False)
        self._y = samples.y.astype(y.dtype, copy=False)
        self._size, self._seed = size, samples.seed
        super().__init__()

    def read(self, batch: tuple[mx.array, mx.array]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give a batch in canonical layout, which is the step's."""
        x, y = batch
        return np.array(x), np.array(y)


class _Copied(_Feed):
    """mx.array each step, which copies: the only way from NumPy to MLX."""

    def _endless(self) -> Generator[tuple[mx.array, mx.array]]:
        """Copy batch after batch in their fixed order."""
        for x, y in cycle(cut(self._x, self._y, self._size)):
            yield mx.array(x), mx.array(y)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Tell the call, and whether it copies: a change of the array is then not seen in the copy."""
        array = self._x[: self._size].copy()
        copy = mx.array(array)
        before = array.flat[0]
        array.flat[0] = before + 1
        return {"input_call": "mx.array(x)", "input_copies": bool(np.array(copy).flat[0] == before)}


class _Loaded(_Feed):
    """A buffer of MLX Data: shuffled whole, batched, and prefetched by threads in the order of the shuffle."""

    def _endless(self) -> Generator[tuple[mx.array, mx.array]]:
        """Give epoch after epoch, each shuffled anew."""
        module = mlx_data()
        module.core.set_state(self._seed)
        samples = module.buffer_from_vector([{"x": x, "y": y} for x, y in zip(self._x, self._y, strict=True)])
        while True:
            shuffled = samples.shuffle().batch(self._size)
            for batch in shuffled.ordered_prefetch(_BATCHES_AHEAD, _LOADING_THREADS):
                yield mx.array(batch["x"]), mx.array(batch["y"])

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Tell how the loader is set."""
        call = f"mlx.data.Buffer.shuffle.batch.ordered_prefetch({_BATCHES_AHEAD}, {_LOADING_THREADS}), mx.array(x)"
        return {"input_call": call}


def mlx_data() -> Any:
    """Import MLX Data, which only this way of input needs; raise UnsupportedError where it is not there."""
    try:
        import mlx.data as module
    except ImportError as error:
        msg = f"input=pipeline needs MLX Data, which cannot be imported ({error}): pip install mlx-data"
        raise UnsupportedError(msg) from error
    return module


def feed(step: Step, samples: Samples, options: Mapping[str, str]) -> Feed:
    """Give the way of input that the option names."""
    if options["input"] == "pipeline":
        mlx_data()
        return _Loaded(step, samples)
    return _Copied(step, samples)

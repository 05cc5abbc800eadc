"""Where a step's batch comes from, as TensorFlow's users write it: copied each step, or from tf.data."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from bakeoff.frameworks.feeds import BatchFeed, first_arrays, is_copied

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Feed, Samples, Step
    from bakeoff.frameworks.steps import DeviceBatch


class _Feed(BatchFeed):
    """What both ways have in common: samples in host memory, in the step's precision."""

    def __init__(self, step: Step, samples: Samples) -> None:
        """Convert the samples once, as their users hold them."""
        pairs = zip(samples.arrays.arrays.values(), first_arrays(step, samples), strict=True)
        arrays = [array.astype(prepared.dtype.as_numpy_dtype, copy=False) for array, prepared in pairs]
        super().__init__(samples, arrays)

    def _canonical(self, array: Any) -> NDArray[Any]:
        """Return a tensor as NumPy's array; the canonical layout is the step's."""
        return array.numpy()


class _Copied(_Feed):
    """tf.convert_to_tensor each step, which copies on a processor too."""

    def _endless(self) -> Generator[DeviceBatch]:
        """Copy batch after batch in their fixed order."""
        for arrays in cycle(self._cut()):
            yield self._names.paired([tf.convert_to_tensor(array) for array in arrays])

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return the call, and whether it copies."""
        array = self._arrays[0][: self._size].copy()
        copies = is_copied(array, tf.convert_to_tensor, lambda tensor: tensor.numpy())
        return {"input_call": "tf.convert_to_tensor(x)", "input_copies": copies}


class _Loaded(_Feed):
    """A tf.data.Dataset of samples: shuffled whole, batched, prefetched."""

    def _endless(self) -> Generator[DeviceBatch]:
        """Yield epoch after epoch, each shuffled anew."""
        samples = tf.data.Dataset.from_tensor_slices(tuple(self._arrays))
        shuffled = samples.shuffle(self._count, seed=self._seed, reshuffle_each_iteration=True)
        dataset = shuffled.batch(self._size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
        while True:
            yield from map(self._names.paired, dataset)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return how the loader is set."""
        return {"input_call": "tf.data.Dataset.shuffle.batch.prefetch(AUTOTUNE)"}


def feed(step: Step, samples: Samples, options: Mapping[str, str]) -> Feed:
    """Return the way of input that the option names."""
    return _Loaded(step, samples) if options["input"] == "pipeline" else _Copied(step, samples)

"""Where a step's batch comes from, as TensorFlow's users write it: copied each step, or from tf.data."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from bakeoff.frameworks.feeds import BatchFeed, cut

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Feed, Samples, Step


class _Feed(BatchFeed):
    """What both ways have in common: samples in host memory, in the step's precision."""

    def __init__(self, step: Step, samples: Samples) -> None:
        """Convert the samples once, as their users hold them."""
        size = samples.batch_size
        x, y = step.prepare(samples.x[:size], samples.y[:size])
        self._x = samples.x.astype(x.dtype.as_numpy_dtype, copy=False)
        self._y = samples.y.astype(y.dtype.as_numpy_dtype, copy=False)
        self._size, self._seed = size, samples.seed
        super().__init__()

    def read(self, batch: tuple[Any, Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give a batch in canonical layout, which is the step's."""
        x, y = batch
        return x.numpy(), y.numpy()


class _Copied(_Feed):
    """tf.convert_to_tensor each step, which copies on a processor too."""

    def _endless(self) -> Generator[tuple[Any, Any]]:
        """Copy batch after batch in their fixed order."""
        for x, y in cycle(cut(self._x, self._y, self._size)):
            yield tf.convert_to_tensor(x), tf.convert_to_tensor(y)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Tell the call, and whether it copies: a change of the array is then not seen in the tensor."""
        array = self._x[: self._size].copy()
        tensor = tf.convert_to_tensor(array)
        before = float(tensor.numpy().flat[0])
        array.flat[0] = before + 1
        return {"input_call": "tf.convert_to_tensor(x)", "input_copies": float(tensor.numpy().flat[0]) == before}


class _Loaded(_Feed):
    """A tf.data.Dataset of samples: shuffled whole, batched, prefetched."""

    def _endless(self) -> Generator[tuple[Any, Any]]:
        """Give epoch after epoch, each shuffled anew."""
        samples = tf.data.Dataset.from_tensor_slices((self._x, self._y))
        shuffled = samples.shuffle(len(self._x), seed=self._seed, reshuffle_each_iteration=True)
        dataset = shuffled.batch(self._size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
        while True:
            yield from dataset

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Tell how the loader is set."""
        return {"input_call": "tf.data.Dataset.shuffle.batch.prefetch(AUTOTUNE)"}


def feed(step: Step, samples: Samples, options: Mapping[str, str]) -> Feed:
    """Give the way of input that the option names."""
    return _Loaded(step, samples) if options["input"] == "pipeline" else _Copied(step, samples)

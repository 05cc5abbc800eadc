"""Where a step's batch comes from, as Jittor's users write it: copied each step, or from a jittor.dataset.Dataset."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import jittor as jt
import numpy as np
from jittor.dataset import Dataset

from bakeoff.frameworks.feeds import BatchFeed, is_copied
from bakeoff.frameworks.jittor.engine import channels_first, channels_last

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Feed, Samples, Step
    from bakeoff.frameworks.steps import DeviceBatch


class _Feed(BatchFeed):
    """What both ways have in common: samples in host memory as their users hold them, channels first."""

    def __init__(self, samples: Samples) -> None:
        """Lay the samples out as the step takes them."""
        super().__init__(samples, [channels_first(array) for array in samples.arrays.arrays.values()])

    def _canonical(self, array: Any) -> NDArray[Any]:
        """Return an array as NumPy's, in canonical layout."""
        return channels_last(np.array(array.numpy()))


class _Copied(_Feed):
    """jittor.array(...) each step, which copies on a processor too."""

    def _endless(self) -> Generator[DeviceBatch]:
        """Copy batch after batch in their fixed order."""
        for arrays in cycle(self._cut()):
            yield self._names.paired([jt.array(array).stop_grad() for array in arrays])

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return the call, and whether it copies."""
        copies = is_copied(self._arrays[0][:2].copy(), jt.array, lambda array: array.numpy())
        return {"input_call": "jittor.array(x)", "input_copies": copies}


class _Samples(Dataset):
    """Samples one by one: Jittor's loader puts them together."""

    def __init__(self, arrays: list[NDArray[Any]], size: int, seed: int) -> None:
        """Shuffle anew in every epoch, from a seed."""
        super().__init__(batch_size=size, shuffle=True, drop_last=True)
        self.set_attrs(total_len=len(arrays[0]))
        self._shuffle_rng = np.random.default_rng(seed)
        self._arrays = arrays

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        """Return what one sample has in each array."""
        return tuple(array[index] for array in self._arrays)


class _Loaded(_Feed):
    """A Dataset that loads within the step, which is its default."""

    def __init__(self, samples: Samples) -> None:
        """Make the loader."""
        super().__init__(samples)
        self._loader = _Samples(self._arrays, self._size, self._seed)

    def _endless(self) -> Generator[DeviceBatch]:
        """Yield epoch after epoch, each shuffled anew."""
        while True:
            yield from map(self._names.paired, self._loader)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return how the loader is set."""
        return {"input_call": "jittor.dataset.Dataset", "loader_workers": self._loader.num_workers}


def feed(step: Step, samples: Samples, options: Mapping[str, str]) -> Feed:
    """Return the way of input that the option names; every step takes the same arrays."""
    del step
    return _Loaded(samples) if options["input"] == "pipeline" else _Copied(samples)

"""Where a step's batch comes from, as Jittor's users write it: copied each step, or from a jittor.dataset.Dataset."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import jittor as jt
import numpy as np
from jittor.dataset import Dataset

from bakeoff.frameworks.feeds import BatchFeed, cut
from bakeoff.frameworks.jittor.engine import channels_first

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Feed, Samples, Step

_FEATURE_MAP_AXES = 4  # batch, height, width, channels


class _Feed(BatchFeed):
    """What both ways have in common: samples in host memory as their users hold them, channels first."""

    def __init__(self, samples: Samples) -> None:
        """Lay the samples out as the step takes them."""
        self._is_map = samples.x.ndim == _FEATURE_MAP_AXES
        self._x, self._y = channels_first(samples.x), samples.y
        self._size = samples.batch_size
        super().__init__()

    def read(self, batch: tuple[Any, Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give a batch in canonical layout."""
        x, y = (np.array(array.numpy()) for array in batch)
        return (x.transpose(0, 2, 3, 1) if self._is_map else x), y


class _Copied(_Feed):
    """jittor.array(...) each step, which copies on a processor too."""

    def _endless(self) -> Generator[tuple[Any, Any]]:
        """Copy batch after batch in their fixed order."""
        for x, y in cycle(cut(self._x, self._y, self._size)):
            yield jt.array(x).stop_grad(), jt.array(y)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Tell the call, and whether it copies: a change of the array is then not seen in Jittor's."""
        values = self._x[:2].copy()
        array = jt.array(values)
        before = float(values.flat[0])
        values.flat[0] = before + 1
        return {"input_call": "jittor.array(x)", "input_copies": float(array.numpy().flat[0]) == before}


class _Samples(Dataset):
    """Samples with their labels, one by one: Jittor's loader puts them together."""

    def __init__(self, x: NDArray[Any], y: NDArray[Any], size: int, seed: int) -> None:
        """Shuffle anew in every epoch, from a seed."""
        super().__init__(batch_size=size, shuffle=True, drop_last=True)
        self.set_attrs(total_len=len(x))
        self._shuffle_rng = np.random.default_rng(seed)
        self._x, self._y = x, y

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        """Give one sample."""
        return self._x[index], self._y[index]


class _Loaded(_Feed):
    """A Dataset that loads within the step, which is its default."""

    def __init__(self, samples: Samples) -> None:
        """Make the loader."""
        super().__init__(samples)
        self._loader = _Samples(self._x, self._y, samples.batch_size, samples.seed)

    def _endless(self) -> Generator[tuple[Any, Any]]:
        """Give epoch after epoch, each shuffled anew."""
        while True:
            yield from self._loader

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Tell how the loader is set."""
        return {"input_call": "jittor.dataset.Dataset", "loader_workers": self._loader.num_workers}


def feed(step: Step, samples: Samples, options: Mapping[str, str]) -> Feed:
    """Give the way of input that the option names; every step takes the same arrays."""
    del step
    return _Loaded(samples) if options["input"] == "pipeline" else _Copied(samples)

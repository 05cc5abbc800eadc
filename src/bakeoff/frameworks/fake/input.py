"""Scripted ways of input: batches in their order, or shuffled, each taking the script's time."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.frameworks.fake.engine import pass_time
from bakeoff.frameworks.feeds import BatchFeed

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Samples, Step

Batch = tuple["NDArray[Any]", "NDArray[Any]"]


class _Feed(BatchFeed):
    """Gives batches of samples."""

    def __init__(self, samples: Samples, options: Mapping[str, str]) -> None:
        """Start at the first epoch."""
        self._samples, self._options = samples, options
        super().__init__()

    def _endless(self) -> Generator[Batch]:
        """Give epoch after epoch."""
        x, y, size = self._samples.x, self._samples.y, self._samples.batch_size
        for epoch in count():
            order = np.arange(len(x))
            if self._options["input"] == "pipeline":
                order = np.random.RandomState(self._samples.seed + epoch).permutation(len(x))
            if self._options["wrong"] == "inputs":
                order[0] = order[1]
            for start in range(0, len(x), size):
                pass_time(int(float(self._options["input_ms"]) * 1e6))
                chosen = order[start : start + size]
                yield x[chosen], y[chosen]

    def read(self, batch: Batch) -> Batch:
        """Give a batch in canonical layout, which is its own."""
        return batch

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Tell that it is scripted."""
        return {"input_call": "scripted"}


def feed(step: Step, samples: Samples, options: Mapping[str, str]) -> _Feed:
    """Give the way of input that the option names."""
    del step
    return _Feed(samples, options)

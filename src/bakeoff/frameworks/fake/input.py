"""Scripted ways of input: batches in their order, or shuffled, each taking the script's time."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.frameworks.fake.engine import pass_time
from bakeoff.frameworks.feeds import BatchFeed

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from bakeoff.frameworks.engine import Samples, Step
    from bakeoff.spec.batch import Batch


class _Feed(BatchFeed):
    """Batches of samples."""

    def __init__(self, samples: Samples, options: Mapping[str, str]) -> None:
        """Start at the first epoch."""
        self._samples, self._options = samples.arrays, options
        super().__init__(samples, list(samples.arrays.arrays.values()))

    def _endless(self) -> Generator[Any]:
        """Yield epoch after epoch."""
        for epoch in count():
            order = np.arange(self._count)
            if self._options["input"] == "pipeline":
                order = np.random.RandomState(self._seed + epoch).permutation(self._count)
            if self._options["wrong"] == "inputs":
                order[0] = order[1]
            for start in range(0, self._count, self._size):
                pass_time(int(float(self._options["input_ms"]) * 1e6))
                yield self._samples.taken(order[start : start + self._size])

    def read(self, batch: Any) -> Batch:
        """Return a batch as it is: the script has no arrays of its own."""
        found: Batch = batch
        return found

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return that it is scripted."""
        return {"input_call": "scripted"}


def feed(step: Step, samples: Samples, options: Mapping[str, str]) -> _Feed:
    """Return the way of input that the option names."""
    del step
    return _Feed(samples, options)

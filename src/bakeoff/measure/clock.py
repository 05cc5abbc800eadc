"""The timed region, in one place: `Stepper` is all that times it (in words: `bakeoff.report.machine_words`)."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from typing import Any, Protocol

Clock = Callable[[], int]
"""Gives nanoseconds since some fixed moment."""

monotonic: Clock = time.perf_counter_ns


class Timed(Protocol):
    """The part of a step that is timed."""

    def run(self, batch: Any) -> None:
        """Start one step."""

    def wait(self) -> None:
        """Return when all started steps are done."""


class Stepper:
    """Runs steps over batches and keeps the time."""

    def __init__(self, step: Timed, batches: list[Any] | Iterator[Any], clock: Clock = monotonic) -> None:
        """Start at the first batch; a list is on the device, and its batches come round in their fixed order.

        An iterator is the framework's own way of input: to take a batch from it is a part of the step.
        """
        self._step = step
        self._is_resident = isinstance(batches, list)
        self._batches = cycle(batches) if isinstance(batches, list) else batches
        self._clock = clock
        self.steps_run = 0

    def fenced(self, steps: int, seconds: float = 0.0, limit: int = 1_000_000) -> list[int]:
        """Run at least `steps` steps and `seconds`, at most `limit` steps, waiting for each; give each one's time."""
        run, wait, clock = self._step.run, self._step.wait, self._clock
        durations: list[int] = []
        began = clock()
        while len(durations) < steps or (clock() - began < seconds * 1e9 and len(durations) < limit):
            start = clock()
            run(next(self._batches))
            wait()
            durations.append(clock() - start)
        self.steps_run += len(durations)
        return durations

    def streamed(self, steps: int) -> tuple[list[int], int]:
        """Run `steps` steps and wait once; give when each dispatch returned, and the time until all was done."""
        run, clock = self._step.run, self._clock
        batches: Iterable[Any] = islice(self._batches, steps)
        if self._is_resident:
            batches = list(batches)
        stamps = [0] * steps
        start = clock()
        for index, batch in enumerate(batches):
            run(batch)
            stamps[index] = clock()
        self._step.wait()
        end = clock()
        self.steps_run += steps
        return [stamp - start for stamp in stamps], end - start


@contextmanager
def collected_garbage() -> Iterator[None]:
    """Collect what the build left and freeze it, so that a later collection does not walk it; collection stays on."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()

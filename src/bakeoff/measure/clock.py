"""The timed region, in one place: `Stepper` is all that times it (in words: `bakeoff.report.words`)."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from typing import Any, Protocol

Clock = Callable[[], int]
"""A function that returns nanoseconds since some fixed moment."""

monotonic: Clock = time.perf_counter_ns


class Timed(Protocol):
    """The part of a step that is timed."""

    def run(self, batch: Any) -> None:
        """Start one step."""

    def wait(self) -> None:
        """Block until all started steps are done."""


class Stepper:
    """Runs steps over batches and times them."""

    def __init__(self, step: Timed, batches: list[Any] | Iterator[Any], clock: Clock = monotonic) -> None:
        """Prepare to run steps from the first batch on.

        A list holds batches that are on the device already; they are taken in their order, again and again. An
        iterator is the contender's own input: taking a batch from it is part of the step, and is timed.
        """
        self._step = step
        self._resident = batches if isinstance(batches, list) else None
        self._feed = iter(()) if isinstance(batches, list) else batches
        self._clock = clock
        self.position = 0
        """Steps of training behind the present state; `rewind` puts it back."""
        self.began_ns = 0
        """When the last steps in a stream began."""

    @property
    def rewinds(self) -> bool:
        """Whether a batch can be taken again, which a feed of the contender's own cannot give."""
        return self._resident is not None

    def rewind(self, position: int) -> None:
        """Go back to the batch that this step of training takes; a feed of the contender's own cannot, and goes on."""
        self.position = position

    def _next(self, steps: int) -> Iterable[Any]:
        """Return the batches of the coming steps, and count these."""
        first = self.position
        self.position += steps
        if self._resident is None:
            return islice(self._feed, steps)
        # What choosing them costs stays outside of the timed part.
        return [self._resident[index % len(self._resident)] for index in range(first, first + steps)]

    def fenced(self, steps: int, seconds: float = 0.0, limit: int = 1_000_000) -> list[int]:
        """Run steps and wait for each: at least `steps` and for `seconds`, at most `limit`; return the time of each."""
        run, wait, clock = self._step.run, self._step.wait, self._clock
        durations: list[int] = []
        began = clock()
        while len(durations) < steps or (clock() - began < seconds * 1e9 and len(durations) < limit):
            batches = iter(self._next(1))
            start = clock()
            run(next(batches))
            wait()
            durations.append(clock() - start)
        return durations

    def marked(
        self, steps: int, mark: Callable[[], AbstractContextManager[Any]] = nullcontext
    ) -> tuple[list[int], list[int]]:
        """Run steps, each waited for within a mark of its own.

        Return the time of each, with what the mark costs, and how long of it was spent on getting its batch.
        """
        run, wait, clock = self._step.run, self._step.wait, self._clock
        durations: list[int] = []
        inputs: list[int] = []
        for _ in range(steps):
            batches = iter(self._next(1))
            start = clock()
            with mark():
                began = clock()
                batch = next(batches)
                inputs.append(clock() - began)
                run(batch)
                wait()
            durations.append(clock() - start)
        return durations, inputs

    def idle_waits(self, count: int) -> list[int]:
        """Wait `count` times where nothing was started; return what each cost, which is in every fenced step."""
        wait, clock = self._step.wait, self._clock
        wait()
        durations = []
        for _ in range(count):
            start = clock()
            wait()
            durations.append(clock() - start)
        return durations

    def streamed(self, steps: int) -> tuple[list[int], int]:
        """Run `steps` steps and wait once, at their end.

        Return, in nanoseconds from the start, when each step's dispatch returned, and when all steps were done.
        """
        run, clock = self._step.run, self._clock
        batches = self._next(steps)
        stamps = [0] * steps
        start = clock()
        for index, batch in enumerate(batches):
            run(batch)
            stamps[index] = clock()
        self._step.wait()
        end = clock()
        self.began_ns = start
        return [stamp - start for stamp in stamps], end - start


@contextmanager
def collected_garbage() -> Iterator[None]:
    """Collect the garbage that the build left and freeze what lives; collection stays on within the context.

    A collection within the timed part then walks only the objects that steps have made.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()

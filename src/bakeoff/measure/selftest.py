"""The timer put to the test: three readings that an honest clock and an honest `wait` cannot fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.spec.selftest import Profiled, TimerTest

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.measure.clock import Clock, Stepper


class TimerProbe:
    """Reads the timer of one step; judging is for `stats.selftest`."""

    def __init__(
        self,
        stepper: Stepper,
        clock: Clock,
        fetch: Callable[[], object],
        profile: Callable[[Callable[[], None]], Profiled],
    ) -> None:
        """Take the timer; `fetch` fetches the last step's result, `profile` does some work under a profiler."""
        self._stepper = stepper
        self._clock = clock
        self._fetch = fetch
        self._profile = profile

    def read(self, *, steps: int, pairs: int, profiled_steps: int, profiles: int) -> TimerTest:
        """Run one pass."""
        # The first fetch may compile something of its own.
        self._fetch()
        blocks: list[tuple[int, int, int, int]] = []
        for pair in range(pairs):
            for count in (steps, 2 * steps) if pair % 2 == 0 else (2 * steps, steps):
                _, block_ns = self._stepper.streamed(count)
                blocks.append((count, block_ns, self._fetched(), self._fetched()))
        fenced_ns, told = self._profiled(profiled_steps, profiles)
        known = [one.ns for one in told if one.ns is not None]
        return TimerTest(
            steps=steps,
            single_ns=[block_ns for count, block_ns, _, _ in blocks if count == steps],
            double_ns=[block_ns for count, block_ns, _, _ in blocks if count != steps],
            fetch_ns=[fetch_ns for _, _, fetch_ns, _ in blocks],
            again_ns=[again_ns for _, _, _, again_ns in blocks],
            block_ns=[block_ns for _, block_ns, _, _ in blocks],
            profiled_steps=profiled_steps,
            fenced_ns=fenced_ns,
            profiled_ns=known if len(known) == len(told) else [],
            profiler=told[-1].means if told else "",
        )

    def _fetched(self) -> int:
        """Give how long it takes to fetch the result."""
        began = self._clock()
        self._fetch()
        return self._clock() - began

    def _profiled(self, steps: int, profiles: int) -> tuple[list[int], list[Profiled]]:
        """Run fenced steps under the framework's profiler; stop at the first time that it cannot tell."""
        fenced_ns: list[int] = []
        told: list[Profiled] = []

        def work() -> None:
            # From outside of the loop, as the profiler sees it: with what lies between two steps.
            began = self._clock()
            self._stepper.fenced(steps)
            fenced_ns.append(self._clock() - began)

        for _ in range(profiles):
            told.append(self._profile(work))
            if told[-1].ns is None:
                break
        return fenced_ns, told

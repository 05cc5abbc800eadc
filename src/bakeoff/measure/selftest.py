"""The timer's self-test: three measurements that agree if the clock is right and `wait` really waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.spec.selftest import Profiled, TimerTest

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.measure.clock import Clock, Stepper


class TimerProbe:
    """Takes the readings of one step's timer; `bakeoff.stats.selftest` judges them."""

    def __init__(
        self,
        stepper: Stepper,
        clock: Clock,
        fetch: Callable[[], object],
        profile: Callable[[Callable[[], None]], Profiled],
        put_back: Callable[[], None] = lambda: None,
    ) -> None:
        """Take the timer.

        `fetch` fetches the last step's result, `profile` calls a function under a profiler, `put_back` puts the saved
        state of training back, so that single and double blocks begin with the same steps.
        """
        self._stepper = stepper
        self._clock = clock
        self._fetch = fetch
        self._profile = profile
        self._put_back = put_back

    def read(self, *, steps: int, pairs: int, profiled_steps: int, profiles: int) -> TimerTest:
        """Run one pass and return its readings."""
        # The first fetch may compile a program of its own, which is no part of the test.
        self._fetch()
        blocks: list[tuple[int, int, int, int]] = []
        for pair in range(pairs):
            # Mirrored orders, so that a drift of the machine cancels.
            for count in (steps, 2 * steps) if pair % 2 == 0 else (2 * steps, steps):
                self._put_back()
                _, block_ns = self._stepper.streamed(count)
                blocks.append((count, block_ns, self._fetched(), self._fetched()))
        fenced_ns, reports = self._profiled(profiled_steps, profiles)
        profiled_ns = [report.ns for report in reports if report.ns is not None]
        return TimerTest(
            steps=steps,
            single_ns=[block_ns for count, block_ns, _, _ in blocks if count == steps],
            double_ns=[block_ns for count, block_ns, _, _ in blocks if count != steps],
            fetch_ns=[fetch_ns for _, _, fetch_ns, _ in blocks],
            again_ns=[again_ns for _, _, _, again_ns in blocks],
            block_ns=[block_ns for _, block_ns, _, _ in blocks],
            profiled_steps=profiled_steps,
            fenced_ns=fenced_ns,
            profiled_ns=profiled_ns if len(profiled_ns) == len(reports) else [],
            profiler=reports[-1].means if reports else "",
            profiler_empty=bool(reports) and all(report.empty for report in reports),
            empty_sessions=sum(report.empty for report in reports),
            profiler_can_fail=all(report.can_fail for report in reports),
        )

    def _fetched(self) -> int:
        """Return how long fetching the last result takes, in nanoseconds."""
        began = self._clock()
        self._fetch()
        return self._clock() - began

    def _profiled(self, steps: int, profiles: int) -> tuple[list[int], list[Profiled]]:
        """Return the time of fenced steps by our clock, and the reports; end at the first that cannot tell."""
        fenced_ns: list[int] = []
        reports: list[Profiled] = []

        def work() -> None:
            # Timed around the whole loop, because the profiler's span holds what lies between two steps, too.
            began = self._clock()
            self._stepper.fenced(steps)
            fenced_ns.append(self._clock() - began)

        for _ in range(profiles):
            reports.append(self._profile(work))
            if reports[-1].ns is None and not reports[-1].empty:
                break
        return fenced_ns, reports

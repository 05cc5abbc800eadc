from __future__ import annotations

from itertools import count

import pytest

from bakeoff.measure.clock import Stepper
from bakeoff.measure.selftest import TimerProbe
from bakeoff.spec.selftest import Profiled

TOLD, EMPTY, BLIND = Profiled(90, "a profiler"), Profiled(None, "saw nothing", empty=True), Profiled(None, "none here")


class Still:
    """A step that does nothing."""

    def run(self, batch: None) -> None:
        """Start nothing."""

    def wait(self) -> None:
        """Wait for nothing."""


@pytest.mark.parametrize(
    ("reports", "read"),
    [
        ([TOLD, TOLD, TOLD], ([90, 90, 90], False, 0)),
        ([TOLD, EMPTY, TOLD], ([], False, 1)),
        ([EMPTY, EMPTY, EMPTY], ([], True, 3)),
        ([BLIND], ([], False, 0)),
    ],
)
def test_sessions_that_see_nothing_are_counted(reports: list[Profiled], read: tuple[list[int], bool, int]) -> None:
    """What some sessions saw does not hide that others saw nothing."""
    ticks, left = count(), iter(reports)
    probe = TimerProbe(Stepper(Still(), [None], lambda: next(ticks)), lambda: next(ticks), int, lambda _: next(left))
    test = probe.read(steps=1, pairs=1, profiled_steps=1, profiles=3)
    assert (test.profiled_ns, test.profiler_empty, test.empty_sessions) == read

"""Jittor's profiler: how often each of its operators ran in a step, and for how long; operators.py reads it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import jittor as jt

from bakeoff.frameworks.jittor.operators import ProfiledStep, events, table, totals
from bakeoff.frameworks.tracing import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from bakeoff.spec.explained import Level

_FILE = "operators.tsv"

_REASON = (
    "Jittor's profiler adds up the time of each operator, and tells of no layer and no phase: "
    "the optimiser's update is among element-wise operations"
)


class Tracer:
    """Jittor's profiler in this process."""

    level: Level = "kinds"
    reason = _REASON
    counts = True

    def scoped(self, build: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return the workload's `build` as it is: Jittor's marks are lost on gradients, and moved to other layers."""
        return build

    def attach(self, step: Any) -> None:
        """Leave the step as it is."""

    def trace(
        self,
        step: Any,  # noqa: ARG002 - the port's signature
        work: Callable[[Callable[[], AbstractContextManager[Any]]], None],
        folder: Path,
    ) -> Trace:
        """Profile each step by itself; what Jittor reports of all of them is left in operators.tsv."""
        profiled: list[ProfiledStep] = []
        work(lambda: _profiling(profiled))
        (folder / _FILE).write_text(table(profiled), "utf-8")
        return Trace(
            steps=[(one.start_ns, one.end_ns) for one in profiled],
            events=[event for one in profiled for event in events(one)],
            facts={"fused_kernels": len({total.key for one in profiled for total in one.totals})},
            files=[_FILE],
        )


@contextmanager
def _profiling(into: list[ProfiledStep]) -> Iterator[None]:
    """Note what Jittor reports of one step; the report itself is made outside of it."""
    jt.profiler.start(0, 0)  # no operator is run a second time
    start_ns = time.perf_counter_ns()
    try:
        yield
    finally:
        end_ns = time.perf_counter_ns()
        jt.profiler.stop()
    with jt.flag_scope(log_silent=1):  # it would print the table
        header, *rows = jt.profiler.report()
    into.append(ProfiledStep(start_ns, end_ns, totals(header, rows)))

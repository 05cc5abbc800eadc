"""The script's profiler: it sees the parts that the script says its steps have."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.frameworks.fake.engine import pass_time, virtual_clock
from bakeoff.frameworks.fake.parts import Part, parts, stages
from bakeoff.frameworks.tracing import Event, Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from bakeoff.spec.explained import GraphStage, Level

RAW = "trace.txt"
"""The raw trace: the length of each step."""


class Tracer:
    """The profiler of this process."""

    level: Level = "layers"
    reason = ""
    counts = True

    def __init__(self) -> None:
        """Begin with no step."""
        self._parts: list[Part] = []
        self._stages: list[GraphStage] = []
        self._cost = 0.0
        self._input_ns = 0
        """Of a step, until its batch is there."""

    def scoped(self, build: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return the workload's build, which the script never calls."""
        return build

    def attach(self, step: Any) -> None:
        """Take the script of the step; each process draws parts of its own."""
        options = step.options
        self.level, self._cost = options["trace_level"], float(options["trace_cost"])
        self._input_ns = 0 if options["input"] == "resident" else int(float(options["input_ms"]) * 1e6)
        self.reason = "" if self.level == "layers" else "the script says so"
        spread, random = float(options["part_noise"]), np.random.default_rng()
        drawn = [part._replace(weight=part.weight * math.exp(random.normal(0.0, spread))) for part in parts(options)]
        self._stages = stages(options)
        whole = sum(part.weight for part in drawn)
        self._parts = [part._replace(weight=part.weight / whole) for part in drawn]

    def trace(
        self, step: Any, work: Callable[[Callable[[], AbstractContextManager[Any]]], None], folder: Path
    ) -> Trace:
        """Call `work`, and lay the parts into each of its steps, one after another."""
        del step
        spans: list[tuple[float, float]] = []

        @contextmanager
        def mark() -> Iterator[None]:
            began_ns = virtual_clock()
            yield
            pass_time(int(self._cost * (virtual_clock() - began_ns)))
            spans.append((float(began_ns), float(virtual_clock())))

        work(mark)
        (folder / RAW).write_text("\n".join(f"{end - start:.0f}" for start, end in spans), encoding="utf-8")
        return Trace(
            steps=spans,
            events=[event for span in spans for event in self._events(*span)],
            notes=["these events are scripted"],
            facts={"launches": sum(part.kind not in ("idle", "host dispatch") for part in self._parts)},
            stages=self._stages if self.counts else [],
            files=[RAW],
        )

    def _events(self, start_ns: float, end_ns: float) -> Iterator[Event]:
        """Yield the events of one step; nothing runs while it is idle."""
        at_ns = start_ns + self._input_ns
        length_ns = end_ns - at_ns
        for part in self._parts:
            done_ns = at_ns + part.weight * length_ns
            layer = part.layer if self.level == "layers" else ""
            if part.kind != "idle":
                is_work = part.kind != "host dispatch"
                yield Event("script", at_ns, done_ns, part.kind, part.kind, part.phase, layer, launches=is_work)
            at_ns = done_ns

"""What JAX's own profiler measures of some work."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import jax

from bakeoff.spec.selftest import Profiled

if TYPE_CHECKING:
    from collections.abc import Callable


def profiled(work: Callable[[], None], fetch: Callable[[], object]) -> Profiled:
    """Do the work and return its span; `fetch` needs its results, so that none is still to come when the trace ends."""
    options = jax.profiler.ProfileOptions()
    # Python's own calls are not XLA's work, and tracing them costs more than the work.
    options.python_tracer_level = 0
    with tempfile.TemporaryDirectory(prefix="bakeoff-") as folder:
        jax.profiler.start_trace(folder, profiler_options=options)
        try:
            work()
            fetch()
        finally:
            jax.profiler.stop_trace()
        files = list(Path(folder).rglob("*.xplane.pb"))
        planes = [plane for file in files for plane in jax.profiler.ProfileData.from_file(str(file)).planes]
        events = [event for plane in planes for line in plane.lines for event in line.events]
    if not events:
        return Profiled(None, "jax.profiler saw no event", empty=True)
    start_ns = min(event.start_ns for event in events)
    end_ns = max(event.start_ns + event.duration_ns for event in events)
    return Profiled(round(end_ns - start_ns), "jax.profiler, from XLA's first event to the end of the last")

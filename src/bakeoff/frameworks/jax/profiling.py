"""What JAX's own profiler measures of some work."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax

from bakeoff.frameworks import planes

try:
    # It is no public name. What is public writes a trace for a viewer, too, in twice the time of all else.
    from jax._src.lib import _profiler
except ImportError:
    _profiler = None

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.spec.selftest import Profiled


def profiled(work: Callable[[], None], fetch: Callable[[], object], device: str) -> Profiled:
    """Do the work and return its span; `fetch` needs its results, so that none is still to come when the trace ends."""
    options = jax.profiler.ProfileOptions()
    # Python's own calls are not XLA's work, and tracing them costs more than the work.
    options.python_tracer_level = 0

    def done() -> None:
        work()
        fetch()

    trace = _in_memory if hasattr(_profiler, "ProfilerSession") else _in_files
    found = [plane for data in trace(done, options) for plane in data.planes]
    return planes.profiled(found, device, _ends_ns, "jax.profiler", "XLA's first event")


def _in_memory(work: Callable[[], None], options: Any) -> list[Any]:
    """Do the work and return its trace, read from memory."""
    jax.devices()  # A profiler that starts before the backend sees nothing of it.
    session = _profiler.ProfilerSession(options)
    try:
        work()
    finally:
        traced = session.stop()
    return [jax.profiler.ProfileData.from_serialized_xspace(traced)]


def _in_files(work: Callable[[], None], options: Any) -> list[Any]:
    """Do the work and return its trace, read from what the public functions write."""
    with tempfile.TemporaryDirectory(prefix="bakeoff-") as folder:
        jax.profiler.start_trace(folder, profiler_options=options)
        try:
            work()
        finally:
            jax.profiler.stop_trace()
        return [jax.profiler.ProfileData.from_file(str(file)) for file in Path(folder).rglob("*.xplane.pb")]


def _ends_ns(line: Any, event: Any) -> tuple[float, float]:
    """Return start and end of an event, in nanoseconds."""
    del line
    return event.start_ns, event.start_ns + event.duration_ns

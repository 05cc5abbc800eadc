"""What JAX's own profiler measures of some work."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax

from bakeoff.frameworks import planes

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.spec.selftest import Profiled


def profiled(work: Callable[[], None], fetch: Callable[[], object], device: str) -> Profiled:
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
        found = [plane for file in files for plane in jax.profiler.ProfileData.from_file(str(file)).planes]
        return planes.profiled(found, device, _ends_ns, "jax.profiler", "XLA's first event")


def _ends_ns(line: Any, event: Any) -> tuple[float, float]:
    """Return start and end of an event, in nanoseconds."""
    del line
    return event.start_ns, event.start_ns + event.duration_ns

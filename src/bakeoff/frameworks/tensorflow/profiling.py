"""What TensorFlow's own profiler measures of some work."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from bakeoff.spec.selftest import Profiled

if TYPE_CHECKING:
    from collections.abc import Callable


def profiled(work: Callable[[], None], fetch: Callable[[], object]) -> Profiled:
    """Do the work and return its span; `fetch` needs its results, so that none is still to come when the trace ends."""
    try:
        # Without it TensorFlow writes its traces but cannot read them; it is no public name.
        from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace
    except ImportError as error:
        return Profiled(None, f"TensorFlow {tf.__version__} cannot read its profiler's traces: {error}")
    with tempfile.TemporaryDirectory(prefix="bakeoff-") as folder:
        tf.profiler.experimental.start(folder)
        try:
            work()
            fetch()
        finally:
            tf.profiler.experimental.stop()
        spaces = [XSpace.FromString(file.read_bytes()) for file in Path(folder).rglob("*.xplane.pb")]
    spans_ps = [_span_ps(line, event) for space in spaces for line, event in _events(space)]
    if not spans_ps:
        return Profiled(None, "tf.profiler saw no event", empty=True)
    span_ps = max(end for _, end in spans_ps) - min(start for start, _ in spans_ps)
    return Profiled(round(span_ps / 1000), "tf.profiler, from the first event to the end of the last")


def _events(space: Any) -> list[tuple[Any, Any]]:
    """Return every event with the line that it is on."""
    return [(line, event) for plane in space.planes for line in plane.lines for event in line.events]


def _span_ps(line: Any, event: Any) -> tuple[int, int]:
    """Return start and end of an event."""
    start_ps = line.timestamp_ns * 1000 + event.offset_ps
    return start_ps, start_ps + event.duration_ps

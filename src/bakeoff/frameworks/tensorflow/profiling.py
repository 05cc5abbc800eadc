"""What TensorFlow's own profiler measures of some work."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from bakeoff.frameworks import planes
from bakeoff.spec.selftest import Profiled

if TYPE_CHECKING:
    from collections.abc import Callable


def profiled(work: Callable[[], None], fetch: Callable[[], object], device: str) -> Profiled:
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
    found = [plane for space in spaces for plane in space.planes]
    return planes.profiled(found, device, _ends_ns, "tf.profiler", "the first event")


def _ends_ns(line: Any, event: Any) -> tuple[float, float]:
    """Return start and end of an event, in nanoseconds."""
    start_ns = line.timestamp_ns + event.offset_ps / 1000
    return start_ns, start_ns + event.duration_ps / 1000

"""The span of some work in a trace of XLA's profiler: planes of lines of events, as JAX and TensorFlow write it.

On a processor all events count. On a GPU those of its own planes do: the host's hold the start of CUPTI, which takes
seconds, and their clock is another one. Seen on one GPU alone, so that such a span refuses nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.spec.selftest import Profiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bakeoff.spec.explained import OperationKind

GPU = "/device:GPU"
"""How the names of a GPU's planes begin (tsl/profiler/utils/xplane_schema.cc)."""

COPIES: tuple[tuple[str, OperationKind], ...] = (
    ("memcpyh2d", "device copy"),
    ("memcpyd2h", "device copy"),
    ("memcpy", "data movement"),
    ("memset", "data movement"),
    ("nccl", "communication"),
)
"""What on a GPU is no kernel of an operation, by what its name contains (tsl/profiler, cupti_collector.cc)."""

_WITHOUT_EVENTS = (
    "saw no event on the GPU: CUPTI is missing, or the driver lets administrators only profile "
    "(NVreg_RestrictProfilingToAdminUsers=0 lets all)"
)


def profiled(
    planes: Iterable[Any], device: str, ends_ns: Callable[[Any, Any], tuple[float, float]], name: str, first: str
) -> Profiled:
    """Return the span from the first event to the end of the last one; `ends_ns` gives both of a line's event.

    `name` and `first` are the profiler and the first event in words.
    """
    is_gpu = device == "cuda"
    counted = [plane for plane in planes if not is_gpu or plane.name.startswith(GPU)]
    spans = [ends_ns(line, event) for plane in counted for line in plane.lines for event in line.events]
    if not spans:
        # On a GPU a profiler that is not allowed to look is no finding about the steps.
        return Profiled(None, f"{name} {_WITHOUT_EVENTS}" if is_gpu else f"{name} saw no event", empty=not is_gpu)
    span_ns = max(end for _, end in spans) - min(start for start, _ in spans)
    where = " on the GPU" if is_gpu else ""
    means = f"{name}, from {first}{where} to the end of the last"
    return Profiled(round(span_ns), means, can_fail=not is_gpu)


def copied(name: str) -> OperationKind | None:
    """Return what an event of a GPU is that is no kernel of an operation, by its name; None for a kernel."""
    return next((kind for words, kind in COPIES if words in name.lower()), None)

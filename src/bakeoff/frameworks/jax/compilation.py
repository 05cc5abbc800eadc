"""What JAX reports of tracing, lowering and compiling, through its own monitoring events."""

from __future__ import annotations

import time
from typing import Any

import jax

from bakeoff.spec.record import Compilation

_TRACED = ("/jax/core/compile/jaxpr_trace_duration", "/jax/core/compile/jaxpr_to_mlir_module_duration")
_COMPILED = "/jax/core/compile/backend_compile_duration"
"""Also reported when the compiled program comes from a cache: then it is the time to fetch it."""


class _Spans:
    """Time that was spent in spans of which some lie within others: each moment counts once."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._spans: list[tuple[float, float]] = []

    def ended(self, duration_s: float) -> None:
        """Take in a span that ends now; those within it have ended before."""
        end = time.perf_counter()
        begin = end - duration_s
        while self._spans and self._spans[-1][0] >= begin:
            self._spans.pop()
        self._spans.append((begin, end))

    def total_ns(self) -> int:
        """Return the time in all spans."""
        return round(1e9 * sum(end - begin for begin, end in self._spans))


_traced, _compiled = _Spans(), _Spans()
_counts = {"compiled": 0}


def _listen(event: str, duration_s: float, **_about: Any) -> None:
    """Take note of an event of JAX's."""
    if event in _TRACED:
        _traced.ended(duration_s)
    elif event == _COMPILED:
        _compiled.ended(duration_s)
        _counts["compiled"] += 1


jax.monitoring.register_event_duration_secs_listener(_listen)


def compiled() -> Compilation:
    """Return what this process has traced and compiled so far, whole steps and single operations alike."""
    return Compilation(trace_ns=_traced.total_ns(), compile_ns=_compiled.total_ns(), count=_counts["compiled"])

"""The span of a trace of XLA's profiler, with planes that are made up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from bakeoff.frameworks import planes
from bakeoff.spec.selftest import Profiled


def plane(name: str, *events: tuple[float, float]) -> Any:
    """Make a plane with one line of events, each from when to when."""
    return SimpleNamespace(name=name, lines=[SimpleNamespace(events=list(events))])


def span(found: list[Any], device: str) -> Profiled:
    """Ask for the span of some planes."""
    return planes.profiled(found, device, lambda _, event: event, "a profiler", "the first event")


HOST = plane("/host:CPU", (0.0, 5e9), (6e9, 6.1e9))
"""CUPTI's start, and calls."""
GPU = plane("/device:GPU:0", (6.02e9, 6.05e9), (6.03e9, 6.09e9))


def test_only_the_gpus_own_events_count_on_a_gpu() -> None:
    """What the host does to start the profiler is no work of the steps; such a span fails no timer."""
    found = span([HOST, GPU], "cuda")
    assert (found.ns, found.can_fail) == (70_000_000, False)
    assert "on the GPU" in found.means


def test_every_event_counts_on_a_processor() -> None:
    """There all planes are the steps' own, and a span that is wrong is a finding."""
    found = span([HOST], "cpu")
    assert (found.ns, found.can_fail) == (6_100_000_000, True)


def test_a_profiler_that_may_not_look_is_no_finding() -> None:
    """Without an event of the GPU nothing can be told, and the reason says why; on a processor it is a finding."""
    found = span([HOST], "cuda")
    assert (found.ns, found.empty) == (None, False)
    assert "NVreg_RestrictProfilingToAdminUsers" in found.means
    assert span([], "cpu").empty

"""What PyTorch's own clock measures of some work: its profiler on a processor, CUDA's events on a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from bakeoff.spec.selftest import Profiled

if TYPE_CHECKING:
    from collections.abc import Callable


def profiled(work: Callable[[], None], device: str) -> Profiled:
    """Do the work and return its span on the device."""
    if device == "cuda":
        return _events(work)
    if device == "cpu":
        return _operators(work)
    return Profiled(None, f"PyTorch has no profiler to ask on {device}")


def _events(work: Callable[[], None]) -> Profiled:
    """Read two events that the stream records around the work, the second one after its last kernel."""
    before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    before.record()
    work()
    after.record()
    after.synchronize()
    return Profiled(round(before.elapsed_time(after) * 1e6), "CUDA events around the steps")


def _operators(work: Callable[[], None]) -> Profiled:
    """Return the span from the start of the first operator to the end of the last one."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        work()
    # Not profile.events(): it builds their tree, in 50 times the time, longer than all else in a self-test.
    ranges = [(event.start_ns(), event.end_ns()) for event in profile.profiler.kineto_results.events()]
    if not ranges:
        return Profiled(None, "torch.profiler saw no operator", empty=True)
    span_ns = max(end for _, end in ranges) - min(start for start, _ in ranges)
    return Profiled(span_ns, "torch.profiler, from the first operator to the end of the last")

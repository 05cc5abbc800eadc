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
    ranges = [event.time_range for event in profile.events()]
    if not ranges:
        return Profiled(None, "torch.profiler saw no operator", empty=True)
    span_us = max(one.end for one in ranges) - min(one.start for one in ranges)
    return Profiled(round(span_us * 1e3), "torch.profiler, from the first operator to the end of the last")

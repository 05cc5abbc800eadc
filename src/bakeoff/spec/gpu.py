"""What a GPU did while a trial ran on it, as a record holds it."""

from __future__ import annotations

import msgspec

POWER_LIMIT, BY_HAND = "power limit", "clocks set by hand"
"""Reasons for a lower clock that are no disturbance: a contender draws as much power as the GPU may, which is its own
doing; and the user has set the clocks, which is good practice."""


class GpuDuringBlock(msgspec.Struct, frozen=True, kw_only=True):
    """An NVIDIA GPU during one block, read from outside of the trial's process; None is unknown."""

    turn: int
    uuid: str = ""
    """Of the GPU; empty in records older than this field, which are of the first one that NVML counted."""
    readings: int
    clock_mhz: float | None = None
    """Mean clock of the multiprocessors."""
    clock_limit_mhz: int | None = None
    """The clock that the GPU goes to by itself: its highest, or that for applications where it was set by hand."""
    memory_clock_mhz: float | None = None
    temperature_c: int | None = None
    """Highest reading."""
    power_w: float | None = None
    slowed: tuple[str, ...] = ()
    """Reasons for which its clock was held below the limit."""
    other_processes: int | None = None
    """Processes that compute on it and do not belong to the comparison."""

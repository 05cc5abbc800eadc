"""What is seen of a GPU from outside of the process that uses it."""

from __future__ import annotations

import msgspec


class GpuState(msgspec.Struct, frozen=True, kw_only=True):
    """An NVIDIA GPU during one block, read from outside of the trial's process; None is unknown."""

    turn: int
    readings: int
    clock_mhz: float | None = None
    """Of the multiprocessors, mean."""
    clock_limit_mhz: int | None = None
    memory_clock_mhz: float | None = None
    temperature_c: int | None = None
    """The highest."""
    power_w: float | None = None
    slowed: tuple[str, ...] = ()
    """Why its clock was held below what it can be."""
    other_processes: int | None = None
    """That compute on it and do not belong to the comparison."""

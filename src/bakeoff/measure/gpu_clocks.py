"""Clocks, heat and neighbours of an NVIDIA GPU while a block runs: read by the parent, so that no step waits for it.

This path was not run on a GPU by us.
"""

from __future__ import annotations

import statistics
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.spec.record import GpuDuringBlock

if TYPE_CHECKING:
    from collections.abc import Iterator

PERIOD_S = 0.05
"""A block of 150 ms is seen three times; a reading takes NVML well under a millisecond of another processor."""

SLOWED = {
    "power limit": "nvmlClocksThrottleReasonSwPowerCap",
    "hardware slowdown": "nvmlClocksThrottleReasonHwSlowdown",
    "thermal limit, by software": "nvmlClocksThrottleReasonSwThermalSlowdown",
    "thermal limit, by hardware": "nvmlClocksThrottleReasonHwThermalSlowdown",
    "power brake": "nvmlClocksThrottleReasonHwPowerBrakeSlowdown",
    "clocks set by hand": "nvmlClocksThrottleReasonApplicationsClocksSetting",
}
"""Reasons for a lower clock, by NVML's names for their bits; idling and what follows another GPU are none."""


class GpuReading(msgspec.Struct, frozen=True, kw_only=True):
    """One look at the GPU; None is unknown."""

    clock_mhz: int | None
    memory_clock_mhz: int | None
    temperature_c: int | None
    power_w: float | None
    slowed: frozenset[str]
    processes: frozenset[int]


class NvidiaGpu:
    """The first NVIDIA GPU."""

    def __init__(self, nvml: Any) -> None:
        """Take the module pynvml; NVML stays open as long as the process lives."""
        self._nvml = nvml
        nvml.nvmlInit()
        self._handle = nvml.nvmlDeviceGetHandleByIndex(0)
        self.clock_limit_mhz: int | None = self._told("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_SM)

    def read(self) -> GpuReading:
        """Look at it once."""
        nvml = self._nvml
        bits = self._told("nvmlDeviceGetCurrentClocksThrottleReasons") or 0
        milliwatts = self._told("nvmlDeviceGetPowerUsage")
        running = self._told("nvmlDeviceGetComputeRunningProcesses") or []
        return GpuReading(
            clock_mhz=self._told("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_SM),
            memory_clock_mhz=self._told("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_MEM),
            temperature_c=self._told("nvmlDeviceGetTemperature", nvml.NVML_TEMPERATURE_GPU),
            power_w=None if milliwatts is None else milliwatts / 1000,
            slowed=frozenset(text for text, name in SLOWED.items() if bits & getattr(nvml, name, 0)),
            processes=frozenset(process.pid for process in running),
        )

    @contextmanager
    def watched(self) -> Iterator[list[GpuReading]]:
        """Give a list that fills with readings until the end, at least one of them."""
        readings: list[GpuReading] = []
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(PERIOD_S):
                readings.append(self.read())

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield readings
        finally:
            ended.set()
            watcher.join()
        if not readings:
            readings.append(self.read())

    def _told(self, function: str, *arguments: Any) -> Any:
        """Ask NVML; None where this GPU or driver does not tell."""
        try:
            return getattr(self._nvml, function)(self._handle, *arguments)
        except self._nvml.NVMLError:
            return None


def first_gpu() -> NvidiaGpu | None:
    """Give the first NVIDIA GPU; None where NVML or a GPU is missing."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        return NvidiaGpu(pynvml)
    except pynvml.NVMLError:
        return None


def summary(turn: int, readings: list[GpuReading], own: frozenset[int], clock_limit_mhz: int | None) -> GpuDuringBlock:
    """Put a block's readings together; `own` are the processes that belong to the comparison.

    A driver outside of a container counts processes otherwise than inside: where it names none of ours, nothing is
    known of others.
    """
    processes: frozenset[int] = frozenset().union(*(one.processes for one in readings))
    return GpuDuringBlock(
        turn=turn,
        readings=len(readings),
        clock_mhz=_mean([one.clock_mhz for one in readings]),
        clock_limit_mhz=clock_limit_mhz,
        memory_clock_mhz=_mean([one.memory_clock_mhz for one in readings]),
        temperature_c=max((one.temperature_c for one in readings if one.temperature_c is not None), default=None),
        power_w=_mean([one.power_w for one in readings]),
        slowed=tuple(sorted(frozenset().union(*(one.slowed for one in readings)))),
        other_processes=len(processes - own) if processes & own else None,
    )


def _mean(values: list[int | None] | list[float | None]) -> float | None:
    """Average what is known."""
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None

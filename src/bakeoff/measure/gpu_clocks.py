"""Clocks, temperature, power and other processes of an NVIDIA GPU while a block runs.

The parent reads them by NVML, so that no step waits for it.
"""

from __future__ import annotations

import statistics
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.measure.gpu_facts import Device
from bakeoff.spec.gpu import BY_HAND, POWER_LIMIT, GpuDuringBlock

if TYPE_CHECKING:
    from collections.abc import Iterator

PERIOD_S = 0.05
"""Time between two readings: three within a block of 150 ms. A reading takes NVML well under a millisecond, on another
processor than the block."""

SLOWED = {
    POWER_LIMIT: "nvmlClocksThrottleReasonSwPowerCap",
    "hardware slowdown": "nvmlClocksThrottleReasonHwSlowdown",
    "thermal limit, by software": "nvmlClocksThrottleReasonSwThermalSlowdown",
    "thermal limit, by hardware": "nvmlClocksThrottleReasonHwThermalSlowdown",
    "power brake": "nvmlClocksThrottleReasonHwPowerBrakeSlowdown",
    BY_HAND: "nvmlClocksThrottleReasonApplicationsClocksSetting",
}
"""Reasons for a lower clock, with NVML's names for their bits. Idling, and following another GPU's clock, do not count:
they do not slow work down."""


class GpuReading(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of the GPU; None is unknown."""

    clock_mhz: int | None
    memory_clock_mhz: int | None
    temperature_c: int | None
    power_w: float | None
    slowed: frozenset[str]
    processes: frozenset[int]


class NvidiaGpu:
    """An NVIDIA GPU, as NVML reports it."""

    def __init__(self, nvml: Any, uuid: str = "") -> None:
        """Take the module pynvml and the GPU's UUID, by default the first; NVML stays open as long as the process."""
        nvml.nvmlInit()
        self._nvml = nvml
        self._device = Device(nvml, uuid)
        self.uuid = uuid
        self.clock_limit_mhz = self._target_mhz()

    def read(self) -> GpuReading:
        """Return one reading."""
        device = self._device
        bits = device.ask("nvmlDeviceGetCurrentClocksThrottleReasons") or 0
        running = device.ask("nvmlDeviceGetComputeRunningProcesses", part=True) or []
        return GpuReading(
            clock_mhz=device.clock("nvmlDeviceGetClockInfo", "SM"),
            memory_clock_mhz=device.clock("nvmlDeviceGetClockInfo", "MEM"),
            temperature_c=device.ask("nvmlDeviceGetTemperature", self._nvml.NVML_TEMPERATURE_GPU),
            power_w=device.watts("nvmlDeviceGetPowerUsage"),
            slowed=frozenset(text for text, name in SLOWED.items() if bits & getattr(self._nvml, name, 0)),
            processes=frozenset(process.pid for process in running),
        )

    def _target_mhz(self) -> int | None:
        """Return the clock that the GPU goes to by itself: its highest, or the one for applications set by hand."""
        wanted = self._device.clock("nvmlDeviceGetApplicationsClock", "GRAPHICS")
        usual = self._device.clock("nvmlDeviceGetDefaultApplicationsClock", "GRAPHICS")
        highest = self._device.clock("nvmlDeviceGetMaxClockInfo", "SM")
        # The usual one is no target: many cards run far above it by themselves.
        return wanted if wanted is not None and wanted != usual else highest

    @contextmanager
    def watched(self) -> Iterator[list[GpuReading]]:
        """Yield a list to which readings are added until the context ends; in the end it holds at least one."""
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


def watched_gpu(uuid: str = "") -> NvidiaGpu | None:
    """Return the GPU with this UUID, by default the first; None where NVML or the GPU is missing."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        return NvidiaGpu(pynvml, uuid)
    except pynvml.NVMLError:
        return None


def summary(turn: int, readings: list[GpuReading], own: frozenset[int], gpu: NvidiaGpu) -> GpuDuringBlock:
    """Return the summary of a block's readings; `own` are the identifiers of the comparison's processes.

    In a container the driver numbers processes otherwise than the container does: where it lists none of `own`, the
    number of other processes is unknown.
    """
    processes: frozenset[int] = frozenset().union(*(reading.processes for reading in readings))
    temperatures_c = [reading.temperature_c for reading in readings if reading.temperature_c is not None]
    return GpuDuringBlock(
        turn=turn,
        uuid=gpu.uuid,
        readings=len(readings),
        clock_mhz=_mean([reading.clock_mhz for reading in readings]),
        clock_limit_mhz=gpu.clock_limit_mhz,
        memory_clock_mhz=_mean([reading.memory_clock_mhz for reading in readings]),
        temperature_c=max(temperatures_c, default=None),
        power_w=_mean([reading.power_w for reading in readings]),
        slowed=tuple(sorted(frozenset().union(*(reading.slowed for reading in readings)))),
        other_processes=len(processes - own) if processes & own else None,
    )


def _mean(values: list[int | None] | list[float | None]) -> float | None:
    """Return the mean of the values that are not None; None where all are."""
    numbers = [value for value in values if value is not None]
    return statistics.fmean(numbers) if numbers else None

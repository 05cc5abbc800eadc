from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from bakeoff.measure.gpu_memory import UNLISTED, held_bytes, peak_watched


class NvmlError(Exception):
    """NVML's error."""


def nvml(*gpus: dict[int, int | None], **other: Any) -> SimpleNamespace:
    """Make a stand-in for pynvml, of GPUs that say how much each process holds."""

    def processes(handle: dict[int, int | None]) -> list[SimpleNamespace]:
        return [SimpleNamespace(pid=pid, usedGpuMemory=held) for pid, held in handle.items()]

    functions = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: len(gpus),
        "nvmlDeviceGetHandleByIndex": lambda index: gpus[index],
        "nvmlDeviceGetComputeRunningProcesses": processes,
    }
    return SimpleNamespace(**functions | {"NVMLError": NvmlError} | other)


def test_what_a_process_holds_counts_on_every_gpu_and_no_others() -> None:
    """The worker's children count with it, on all GPUs; other processes do not."""
    gpus = nvml({10: 5, 11: 7, 99: 1000}, {10: 1})
    assert held_bytes(gpus, {10, 11}) == 13
    assert held_bytes(gpus, {99}) == 1000


def test_what_nvml_does_not_tell_is_unknown() -> None:
    """A process that is not listed, or whose share is not told, is no zero."""
    assert held_bytes(nvml({10: 5}), {12}) is None
    assert held_bytes(nvml({10: 5, 11: None}), {10, 11}) is None


def test_the_peak_is_the_most_of_all_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept when the process gives memory back; a process that has ended does not make it unknown."""
    held: dict[int, int | None] = {10: 50}
    monkeypatch.setitem(sys.modules, "pynvml", nvml(held))
    with peak_watched(lambda: {10}) as peak:
        while peak.readings < 2:
            pass
        held[10] = 20
        before = peak.readings
        while peak.readings < before + 2:
            pass
        del held[10]
    assert (peak.peak_bytes, peak.reason) == (50, "")


def test_why_nothing_is_known_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """No package, a driver that refuses, and a list without the process are three reasons, and no failure."""
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert _reason() == "NVML: its Python package, nvidia-ml-py, is missing"

    def refuse() -> int:
        msg = "Driver Not Loaded"
        raise NvmlError(msg)

    monkeypatch.setitem(sys.modules, "pynvml", nvml(nvmlInit=refuse))
    assert _reason() == "NVML: Driver Not Loaded"
    monkeypatch.setitem(sys.modules, "pynvml", nvml(nvmlDeviceGetCount=refuse))
    assert _reason() == "NVML: Driver Not Loaded"
    monkeypatch.setitem(sys.modules, "pynvml", nvml({99: 5}))
    assert _reason() == UNLISTED


def _reason() -> str:
    """Weigh for a moment."""
    with peak_watched(lambda: {10}) as peak:
        pass
    assert peak.peak_bytes is None
    return peak.reason

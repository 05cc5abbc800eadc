from __future__ import annotations

import platform
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from bakeoff.measure import machine


class NVMLError(Exception):
    """As pynvml has it."""


def nvml(**answers: Any) -> Any:
    """Make a stand-in for pynvml with one H200, some of whose answers are others; an exception is raised."""
    told = {
        "nvmlInit": None,
        "nvmlShutdown": None,
        "nvmlDeviceGetHandleByIndex": "handle",
        "nvmlDeviceGetCudaComputeCapability": (9, 0),
        "nvmlSystemGetCudaDriverVersion_v2": 12080,
        "nvmlDeviceGetName": "NVIDIA H200",
        "nvmlDeviceGetCount": 1,
        "nvmlSystemGetDriverVersion": "570.86.15",
        "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=150_754_820_096),
    } | answers

    def answering(value: Any) -> Any:
        def answer(*_: Any) -> Any:
            if isinstance(value, Exception):
                raise value
            return value

        return answer

    return SimpleNamespace(NVMLError=NVMLError, **{name: answering(value) for name, value in told.items()})


def test_a_gpu_is_described_with_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """What NVML tells of a GPU is there in the words of the machine's facts."""
    monkeypatch.setitem(sys.modules, "pynvml", nvml())
    assert machine.gpu() == {
        "gpu": "NVIDIA H200",
        "gpus": 1,
        "gpu_compute_capability": "9.0",
        "gpu_driver": "570.86.15",
        "gpu_driver_cuda": "12.8",
        "gpu_memory_bytes": 150_754_820_096,
    }


@pytest.mark.parametrize("call", ["nvmlInit", "nvmlDeviceGetHandleByIndex", "nvmlDeviceGetName"])
def test_a_machine_without_a_gpu_has_no_facts_of_one(monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """Where NVML does not start, finds no GPU or breaks off, nothing is claimed."""
    monkeypatch.setitem(sys.modules, "pynvml", nvml(**{call: NVMLError("no")}))
    assert machine.gpu() == {}


def apple(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    """Make a macOS whose sysctl gives this answer."""

    def run(command: list[str], **_: Any) -> Any:
        assert command[-1] == "machdep.cpu.brand_string"
        if isinstance(answer, Exception):
            raise answer
        return SimpleNamespace(stdout=answer)

    monkeypatch.setattr(machine, "Path", _missing)
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "processor", lambda: "arm")
    monkeypatch.setattr(subprocess, "run", run)


def _missing(path: str) -> Any:
    """Give a path that nothing is at."""

    def read_text() -> str:
        raise FileNotFoundError(path)

    return SimpleNamespace(read_text=read_text)


def test_an_apple_chip_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """On macOS the chip's own name is the processor, not the architecture that Python knows."""
    apple(monkeypatch, "Apple M2 Pro\n")
    assert machine.processor() == "Apple M2 Pro"


@pytest.mark.parametrize("answer", ["", OSError("no such program"), subprocess.TimeoutExpired("sysctl", 5)])
def test_a_silent_system_has_python_s_answer(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    """Where sysctl says nothing, fails or hangs, Python's own word stands."""
    apple(monkeypatch, answer)
    assert machine.processor() == "arm"

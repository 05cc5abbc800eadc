"""The GPU beside the blocks: a stand-in for NVML, real workers of the scripted framework."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.race.inline import InlineWorker
from tests.report.shown import data_of

from bakeoff.measure.gpu_clocks import PERIOD_S, NvidiaGpu, summary
from bakeoff.race.workers.watched import WatchedWorker, watching
from bakeoff.report.pages.comparison import cautions


class NvmlError(Exception):
    """NVML's error."""


def nvml(**told: Any) -> SimpleNamespace:
    """Make a stand-in for pynvml, of a GPU that is held at two thirds of its clock by its power limit."""

    def refuse(*arguments: object) -> None:
        raise NvmlError(*arguments)

    def clock(handle: object, kind: int) -> int:
        assert handle == "first"
        return {0: 1000, 1: 2600}[kind]

    def temperature(handle: object, sensor: int) -> int:
        assert (handle, sensor) == ("first", 0)
        return 81

    functions = {
        "nvmlDeviceGetHandleByIndex": lambda index: {0: "first"}[index],
        "nvmlDeviceGetMaxClockInfo": lambda handle, kind: {("first", 0): 1500}[handle, kind],
        "nvmlDeviceGetClockInfo": clock,
        "nvmlDeviceGetTemperature": temperature,
        "nvmlDeviceGetPowerUsage": refuse,
        "nvmlDeviceGetCurrentClocksThrottleReasons": lambda handle: {"first": 0b100}[handle],
        "nvmlDeviceGetComputeRunningProcesses": lambda handle: [SimpleNamespace(pid=1)] if handle else [],
    }
    constants = {"NVML_CLOCK_SM": 0, "NVML_CLOCK_MEM": 1, "NVML_TEMPERATURE_GPU": 0}
    reasons = {"nvmlClocksThrottleReasonGpuIdle": 0b1, "nvmlClocksThrottleReasonSwPowerCap": 0b100}
    return SimpleNamespace(nvmlInit=lambda: None, NVMLError=NvmlError, **(functions | constants | reasons | told))


def test_a_gpu_that_is_held_back_is_a_warning_in_every_form_of_the_report(race: Any) -> None:
    """Each block's record holds what was seen; the verdict stands."""

    def launch(folder: Path, trial: Any, interpreter: str) -> WatchedWorker:
        return WatchedWorker(InlineWorker(folder, trial, interpreter), NvidiaGpu(nvml()))

    outcome = race("fake", "fake:step_ms=2", launch=launch, max_rounds=3)
    first = outcome.contenders[0]
    assert [one.round_number for one in first.gpu] == [1, 2, 3]
    assert (first.gpu[0].clock_mhz, first.gpu[0].clock_limit_mhz, first.gpu[0].temperature_c) == (1000, 1500, 81)
    (said, _) = [sentence for sentence in cautions(outcome) if "GPU" in sentence]
    assert said == (
        "fake: the GPU's clock was below 75 % of its 1,500 MHz in 3 of 3 rounds (power limit); "
        "81 degrees Celsius at most. Let it cool, or fix the clocks (nvidia-smi -lgc), and run again."
    )
    assert data_of(outcome)["contenders"][0]["gpu"][0]["slowed"] == ["power limit"]


def test_contenders_whose_clocks_part_are_told(race: Any) -> None:
    """A ratio holds the difference of the clocks."""
    outcome = race(
        "fake",
        "fake:step_ms=2",
        max_rounds=3,
        launch=lambda *trial: WatchedWorker(InlineWorker(*trial), NvidiaGpu(nvml())),
    )
    first, second = outcome.contenders
    faster = [msgspec.structs.replace(one, clock_mhz=1400.0) for one in second.gpu]
    parted = msgspec.structs.replace(outcome, contenders=[first, msgspec.structs.replace(second, gpu=faster)])
    assert any("differed between contenders by more than 2 % in 3 rounds" in sentence for sentence in cautions(parted))
    assert not any("differed" in sentence for sentence in cautions(outcome))


def test_the_gpu_is_read_while_the_block_runs() -> None:
    """A block of several periods has several readings; the shortest one has one."""
    gpu = NvidiaGpu(nvml())
    with gpu.watched() as readings:
        time.sleep(5 * PERIOD_S)
    assert len(readings) >= 2
    with gpu.watched() as readings:
        pass
    assert len(readings) == 1


def test_what_a_driver_does_not_tell_is_unknown() -> None:
    """Power is refused; processes are compared only where the driver names one of ours."""
    own, other = os.getpid(), 1
    gpu = NvidiaGpu(nvml())
    state = summary(0, [gpu.read()], frozenset({own}), gpu.clock_limit_mhz)
    assert (state.power_w, state.other_processes) == (None, None)
    shared = nvml(nvmlDeviceGetComputeRunningProcesses=lambda _: [SimpleNamespace(pid=own), SimpleNamespace(pid=other)])
    assert summary(0, [NvidiaGpu(shared).read()], frozenset({own}), None).other_processes == 1


def test_only_workers_on_a_gpu_are_watched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a processor nothing asks NVML; where no GPU answers, a worker is left as it is."""
    monkeypatch.setattr("bakeoff.race.workers.watched.first_gpu", lambda: None)

    def trial(device: str) -> Any:
        return SimpleNamespace(contender=SimpleNamespace(options={"device": device}))

    start = watching(lambda *_: "worker")  # type: ignore[arg-type,return-value]
    assert start(tmp_path, trial("cuda"), "") == "worker"
    monkeypatch.setattr("bakeoff.race.workers.watched.first_gpu", lambda: NvidiaGpu(nvml()))
    assert isinstance(start(tmp_path, trial("cuda"), ""), WatchedWorker)
    assert start(tmp_path, trial("cpu"), "") == "worker"

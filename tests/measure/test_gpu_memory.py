from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pynvml
import pytest
from tests.gpu.pretended import H100

from bakeoff.measure import nvml
from bakeoff.measure.gpu_memory import UNLISTED, Room, held_bytes, peak_watched, room_of

if TYPE_CHECKING:
    from tests.gpu.pretended import PretendedGpus

OWN, OTHER = os.getpid(), os.getppid()


def test_what_a_process_holds_counts_on_its_gpu_and_no_others(pretended_gpus: PretendedGpus) -> None:
    """The worker's children count with it; other processes, and what it holds elsewhere, do not."""
    pretended_gpus.add(H100)
    for gpu, pid, held in ((0, OWN, 5), (0, OTHER, 1000), (1, OWN, 1)):
        pretended_gpus.hold(gpu, pid, held)
    with nvml.opened():
        assert held_bytes(pynvml, {OWN}, pretended_gpus.uuid(0)) == 5
        assert held_bytes(pynvml, {OWN}) == 6
        assert held_bytes(pynvml, {OWN, OTHER}) == 1006
        # A process that is not listed, or whose share is not told, is no zero.
        assert held_bytes(pynvml, {OTHER}, pretended_gpus.uuid(1)) is None
        pretended_gpus.set(0, processes="unsized")
        assert held_bytes(pynvml, {OWN}) is None


@pytest.mark.parametrize(("mode", "exclusive"), [(0, ""), (2, "prohibited"), (3, "exclusive process")])
def test_room_is_what_is_free_of_that_gpu(pretended_gpus: PretendedGpus, mode: int, exclusive: str) -> None:
    """By its UUID; with the mode that admits no second process."""
    pretended_gpus.add(H100, memory_total_bytes=1000, compute_mode=mode)
    pretended_gpus.hold(1, OTHER, 300)
    assert room_of(pretended_gpus.uuid(1)) == Room(free_bytes=700, total_bytes=1000, exclusive=exclusive)


def test_the_peak_is_the_most_of_all_readings(pretended_gpus: PretendedGpus) -> None:
    """It is kept when the process gives memory back; a process that has ended does not make it unknown."""
    pretended_gpus.hold(0, OWN, 50)
    with peak_watched(lambda: {OWN}, pretended_gpus.uuid()) as peak:
        while peak.readings < 2:
            pass
        pretended_gpus.hold(0, OWN, 20)
        before = peak.readings
        while peak.readings < before + 2:
            pass
        pretended_gpus.hold(0, OWN, 0)
    assert (peak.peak_bytes, peak.reason) == (50, "")


def test_the_peak_of_several_gpus_is_of_each(pretended_gpus: PretendedGpus) -> None:
    """In the order that they were asked for, the fullest as one number; where one tells nothing there is none."""
    pretended_gpus.add(H100)
    pretended_gpus.hold(0, OWN, 50)
    both = pretended_gpus.uuid(1), pretended_gpus.uuid(0)
    with peak_watched(lambda: {OWN}, *both) as half:
        pass
    assert (half.each_bytes, half.peak_bytes, half.reason) == (None, None, UNLISTED)
    pretended_gpus.hold(1, OWN, 70)
    with peak_watched(lambda: {OWN}, *both) as peak:
        pass
    assert (peak.each_bytes, peak.peak_bytes, peak.reason) == ([70, 50], 70, "")


def test_why_nothing_is_known_is_told(pretended_gpus: PretendedGpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list without the process, a driver that refuses, and no package are three reasons, and no failure."""
    pretended_gpus.hold(0, OTHER, 5)
    assert _reason() == UNLISTED
    pretended_gpus.system(count="error:NO_PERMISSION")
    assert _reason() == "NVML: Insufficient Permissions"
    pretended_gpus.system(init="error:DRIVER_NOT_LOADED")
    assert _reason() == "NVML: Driver Not Loaded"
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert _reason() == "NVML: its Python package, nvidia-ml-py, is missing"


def _reason() -> str:
    """Weigh for a moment."""
    with peak_watched(lambda: {OWN}) as peak:
        pass
    assert peak.peak_bytes is None
    return peak.reason

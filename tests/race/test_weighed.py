"""Memory trials whose workers are weighed, with a scale that always shows the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.gpu.pretended import H100, PretendedGpus
from tests.report.shown import data_of, markdown

from bakeoff.race.workers import watched
from bakeoff.race.workers.group import GroupWorker
from bakeoff.race.workers.watched import WeighedWorker, weighing
from bakeoff.report.sections.memory import MEMORY, device_memory_table
from bakeoff.spec import protocol
from bakeoff.spec.contender import Contender
from bakeoff.spec.record import Memory


@contextmanager
def scale(pids: object, *uuids: str) -> Iterator[SimpleNamespace]:
    """Show 3 GB, read 40 times."""
    yield SimpleNamespace(peak_bytes=3_000_000_000, readings=40, reason="", each_bytes=[3_000_000_000])


def test_what_was_seen_from_outside_is_in_the_record(
    race: Any, monkeypatch: pytest.MonkeyPatch, pretended_gpus: PretendedGpus
) -> None:
    """The parent hands over what it has read; it is in the record beside what the process tells of itself."""
    monkeypatch.setattr(watched, "peak_watched", scale)
    assert pretended_gpus.uuid()
    memory = race("fake:gpu_kib=1024", device="cuda", max_rounds=3).contenders[0].memory
    assert (memory.device_process_bytes, memory.device_readings, memory.device_reason) == (3_000_000_000, 40, "")
    assert memory.device_reserved_bytes == 1 << 20
    assert memory.peak_bytes is not None


def test_only_trials_that_hold_what_a_round_will_are_weighed(tmp_path: Path) -> None:
    """The certificate's on CUDA, before the first round, and those of memory alone; nothing beside what is timed."""
    launch = weighing(lambda folder, trial, interpreter: SimpleNamespace())

    def is_weighed(purpose: str, device: str) -> bool:
        contender = Contender(framework="fake", label="fake", options={"device": device})
        trial = SimpleNamespace(purpose=purpose, contender=contender, gpu=None, variables={})
        worker = launch(tmp_path, trial, "python")
        return isinstance(worker, WeighedWorker)

    assert is_weighed("memory", "cuda")
    assert is_weighed("certify", "cuda")
    assert not is_weighed("memory", "cpu")
    assert not is_weighed("time", "cuda")


def test_a_group_is_weighed_on_all_of_its_gpus(tmp_path: Path, pretended_gpus: PretendedGpus) -> None:
    """What every replica's process holds counts, on the GPU where it holds it; another process's there does not."""
    pretended_gpus.add(H100)
    with running() as first, running() as second:
        for gpu, pid, held in ((0, first.pid, 50), (1, second.pid, 20), (1, os.getpid(), 1000)):
            pretended_gpus.hold(gpu, pid, held)
        asked: list[Any] = []
        replicas = [SimpleNamespace(pids=(one.pid,), ask=lambda *_: None) for one in (first, second)]
        group = SimpleNamespace(pids=GroupWorker(replicas, tmp_path).pids, ask=lambda command, _: asked.append(command))
        trial = SimpleNamespace(
            purpose="memory",
            contender=Contender(framework="fake", label="fake", options={"device": "cuda", "devices": "2"}),
            gpu={"gpu_uuid": pretended_gpus.uuid(0)},
            variables={"CUDA_VISIBLE_DEVICES": f"{pretended_gpus.uuid(0)},{pretended_gpus.uuid(1)}"},
        )
        worker = weighing(lambda *_: group)(tmp_path, trial, "python")
        for command in (protocol.Build(), protocol.MeasureMemory(steps=1)):
            worker.ask(command, 1.0)
    note = asked[-1]
    assert isinstance(note, protocol.NoteGpuMemory)
    assert (note.each_bytes, note.peak_bytes, note.reason) == ([50, 20], 50, "")


@contextmanager
def running() -> Iterator[subprocess.Popen[bytes]]:
    """Give a process that does nothing, and end it."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def test_memory_of_several_gpus_is_told_of_each(race: Any) -> None:
    """In the order of the devices; programs get the list, and the fullest as one number."""
    outcome = race("fake", max_rounds=3)
    (one,) = outcome.contenders
    plan = msgspec.structs.replace(
        one.plan, contender=msgspec.structs.replace(one.plan.contender, options={"device": "cuda"})
    )
    memory = Memory(device_process_bytes=3_000_000_000, device_each_bytes=[3_000_000_000, 2_000_000_000])
    seen = msgspec.structs.replace(one, plan=plan, memory=memory)
    on_gpus = msgspec.structs.replace(outcome, contenders=[seen])
    (line,) = device_memory_table(on_gpus).lines
    assert line.cells[1] == "3.0 GB + 2.0 GB"
    for shown, is_told in ((on_gpus, True), (outcome, False)):
        _, fold = MEMORY.sections(shown)
        assert any(note.startswith("Of several GPUs the peak by NVML") for note in fold.notes) == is_told
    told = data_of(on_gpus)["contenders"][0]["memory"]
    assert (told["device_process_bytes"], told["device_each_bytes"]) == (3_000_000_000, [3_000_000_000, 2_000_000_000])


def test_a_gpus_memory_is_told_on_one_scale(race: Any) -> None:
    """Process, live peak, reserve and policy stand side by side; what is unknown has its reason."""
    outcome = race("fake", max_rounds=3)
    (one,) = outcome.contenders
    assert not device_memory_table(outcome).lines
    plan = msgspec.structs.replace(
        one.plan, contender=msgspec.structs.replace(one.plan.contender, options={"device": "cuda"})
    )
    known = Memory(
        device_process_bytes=3_000_000_000,
        device_peak_bytes=1_000_000_000,
        device_reserved_bytes=2_000_000_000,
        device_preallocation="none; allocator native",
    )
    unknown = msgspec.structs.replace(known, device_process_bytes=None, device_reason="NVML: Not Supported")
    for memory, process in ((known, "3.0 GB"), (unknown, "unknown (NVML: Not Supported)")):
        seen = msgspec.structs.replace(one, plan=plan, memory=memory)
        on_gpu = msgspec.structs.replace(outcome, contenders=[seen])
        (line,) = device_memory_table(on_gpu).lines
        assert line.cells == ["fake", process, "1.0 GB", "2.0 GB", "none; allocator native"]
        assert f"process: fake {process} (live at most 1.0 GB, reserved 2.0 GB; taken" in markdown(on_gpu)
        told = data_of(on_gpu)["contenders"][0]["memory"]
        assert (told["device_process_bytes"], told["device_reason"]) == (
            memory.device_process_bytes,
            memory.device_reason,
        )

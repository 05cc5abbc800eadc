"""Workers whose memory on NVIDIA GPUs is read from outside while it is measured."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import psutil

from bakeoff.measure.gpu_memory import peak_watched
from bakeoff.spec import protocol
from bakeoff.spec.trial import KINDS

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.measure.gpu_memory import GpuMemoryPeak
    from bakeoff.race.workers.worker import Launcher, Worker
    from bakeoff.spec.protocol import Answer, Command, Ready
    from bakeoff.spec.trial import TrialSpec


class WeighedWorker:
    """A worker whose memory on the GPU is watched from its build until its memory is read."""

    def __init__(self, worker: Worker) -> None:
        """Take a started worker."""
        self._worker = worker
        self._weighing = ExitStack()
        self._scale: GpuMemoryPeak | None = None

    def ready(self, limit_s: float) -> Ready:
        """Wait until the framework is imported."""
        return self._worker.ready(limit_s)

    def ask(self, command: Command, limit_s: float) -> Answer:
        """Return the answer to a command; note what was seen when the memory has been measured."""
        if isinstance(command, protocol.Build):
            self._scale = self._weighing.enter_context(peak_watched(_own_processes))
        answer = self._worker.ask(command, limit_s)
        if isinstance(command, protocol.MeasureMemory):
            self._weighing.close()
            seen = self._scale
            assert seen is not None
            note = protocol.NoteGpuMemory(peak_bytes=seen.peak_bytes, readings=seen.readings, reason=seen.reason)
            self._worker.ask(note, limit_s)
        return answer

    def end(self) -> None:
        """End the weighing and the worker."""
        self._weighing.close()
        self._worker.end()


def weighing(launch: Launcher) -> Launcher:
    """Return a launcher that reads the GPU memory of workers in memory trials on CUDA."""

    def start(folder: Path, trial: TrialSpec, interpreter: str) -> Worker:
        worker = launch(folder, trial, interpreter)
        is_weighed = KINDS[trial.purpose].weighed and trial.contender.options.get("device") == "cuda"
        return WeighedWorker(worker) if is_weighed else worker

    return start


def _own_processes() -> frozenset[int]:
    """Return the processes below this one: a memory trial has the machine for itself, so they are its own."""
    return frozenset(process.pid for process in psutil.Process().children(recursive=True))

"""Workers on a GPU, watched: its clocks and heat are read beside every block and handed to the record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil

from bakeoff.measure.gpu_clocks import NvidiaGpu, first_gpu, summary
from bakeoff.spec import protocol

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.race.workers.worker import Launcher, Worker
    from bakeoff.spec.protocol import Answer, Command, Ready
    from bakeoff.spec.record import GpuDuringBlock
    from bakeoff.spec.trial import TrialSpec


class WatchedWorker:
    """A worker beside whose blocks the GPU is read."""

    def __init__(self, worker: Worker, gpu: NvidiaGpu) -> None:
        """Take a started worker."""
        self._worker = worker
        self._gpu = gpu
        self._states: list[GpuDuringBlock] = []

    def ready(self, limit_s: float) -> Ready:
        """Wait until the framework is imported."""
        return self._worker.ready(limit_s)

    def ask(self, command: Command, limit_s: float) -> Answer:
        """Return the answer to a command; watch the GPU during a block, and note before the end what was seen."""
        if isinstance(command, protocol.RunBlock):
            with self._gpu.watched() as readings:
                answer = self._worker.ask(command, limit_s)
            own = frozenset(process.pid for process in psutil.Process().children(recursive=True))
            self._states.append(summary(command.turn, readings, own, self._gpu.clock_limit_mhz))
            return answer
        if isinstance(command, protocol.Quit) and self._states:
            self._worker.ask(protocol.NoteGpu(states=self._states), limit_s)
        return self._worker.ask(command, limit_s)

    def end(self) -> None:
        """End the worker."""
        self._worker.end()


def watching(launch: Launcher) -> Launcher:
    """Return a launcher whose workers are watched where they run on a GPU that NVML knows."""

    def start(folder: Path, trial: TrialSpec, interpreter: str) -> Worker:
        worker = launch(folder, trial, interpreter)
        gpu = first_gpu() if trial.contender.options.get("device") == "cuda" else None
        return WatchedWorker(worker, gpu) if gpu else worker

    return start

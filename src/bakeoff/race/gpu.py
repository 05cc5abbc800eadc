"""Workers on a GPU, watched: its clocks and heat are read beside every block and handed to the record."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import psutil

from bakeoff.measure.gpu_state import Gpu, first_gpu, summary
from bakeoff.race.outcome import GpuRound
from bakeoff.spec import trial as protocol

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bakeoff.race.workers import Launcher, Worker
    from bakeoff.spec.gpu import GpuState
    from bakeoff.spec.record import Record
    from bakeoff.spec.trial import Answer, Command, Ready, TrialSpec


class WatchedWorker:
    """A worker beside whose blocks the GPU is read."""

    def __init__(self, worker: Worker, gpu: Gpu) -> None:
        """Take a started worker."""
        self._worker = worker
        self._gpu = gpu
        self._states: list[GpuState] = []

    def ready(self, limit_s: float) -> Ready:
        """Wait until the framework is imported."""
        return self._worker.ready(limit_s)

    def ask(self, command: Command, limit_s: float) -> Answer:
        """Give a command; during a block watch the GPU, and before the end hand over what was seen."""
        if isinstance(command, protocol.Run):
            with self._gpu.watched() as readings:
                answer = self._worker.ask(command, limit_s)
            own = frozenset(process.pid for process in psutil.Process().children(recursive=True))
            self._states.append(summary(command.turn, readings, own, self._gpu.clock_limit_mhz))
            return answer
        if isinstance(command, protocol.Quit) and self._states:
            self._worker.ask(protocol.Gpu(states=self._states), limit_s)
        return self._worker.ask(command, limit_s)

    def end(self) -> None:
        """End the worker."""
        self._worker.end()


def watching(launch: Launcher) -> Launcher:
    """Give a launcher whose workers are watched where they run on a GPU that NVML tells of."""

    def start(folder: Path, trial: TrialSpec, interpreter: str) -> Worker:
        worker = launch(folder, trial, interpreter)
        gpu = first_gpu() if trial.contender.options.get("device") == "cuda" else None
        return WatchedWorker(worker, gpu) if gpu else worker

    return start


def gpu_rounds(timed: Iterable[Record]) -> list[GpuRound]:
    """Give the GPU's state by round, from one contender's timed records."""
    return [
        GpuRound(
            round_number=record.trial.round_number,
            clock_mhz=statistics.fmean(clocks) if clocks else None,
            clock_limit_mhz=max((s.clock_limit_mhz for s in record.gpu if s.clock_limit_mhz is not None), default=None),
            temperature_c=max((s.temperature_c for s in record.gpu if s.temperature_c is not None), default=None),
            slowed=sorted({reason for state in record.gpu for reason in state.slowed}),
            other_processes=max((s.other_processes for s in record.gpu if s.other_processes is not None), default=None),
        )
        for record in timed
        if record.gpu
        for clocks in [[state.clock_mhz for state in record.gpu if state.clock_mhz is not None]]
    ]

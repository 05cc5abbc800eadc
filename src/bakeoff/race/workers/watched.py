"""Workers that are watched from outside: clocks and heat of the GPU, memory on it, and memory above a ceiling."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import psutil

from bakeoff.measure.gpu_clocks import summary, watched_gpu
from bakeoff.measure.gpu_memory import peak_watched
from bakeoff.measure.gpus import VISIBLE, uuid_in
from bakeoff.measure.memory_limit import MemoryLimit
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec import protocol
from bakeoff.spec.trial import KINDS

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.measure.gpu_clocks import GpuReading, NvidiaGpu
    from bakeoff.measure.gpu_memory import GpuMemoryPeak
    from bakeoff.race.workers.worker import Launcher, Worker
    from bakeoff.spec.gpu import GpuDuringBlock
    from bakeoff.spec.protocol import Answer, Command, Ready
    from bakeoff.spec.trial import TrialSpec


class WatchedWorker:
    """A worker beside whose blocks its GPUs are read."""

    def __init__(self, worker: Worker, *gpus: NvidiaGpu) -> None:
        """Take a started worker, and the GPUs of all of its devices."""
        self._worker = worker
        self._gpus = gpus
        self._states: list[GpuDuringBlock] = []
        self.pids: tuple[int, ...] = getattr(worker, "pids", ())
        """Of its processes; none in a worker without one."""
        self._own: frozenset[int] | None = None
        """The comparison's processes: those of the round are all there when its first block has run."""

    def ready(self, limit_s: float) -> Ready:
        """Wait until the framework is imported."""
        return self._worker.ready(limit_s)

    def ask(self, command: Command, limit_s: float) -> Answer:
        """Return the answer to a command; watch the GPUs during a block, and note before the end what was seen."""
        if isinstance(command, protocol.RunBlock):
            with ExitStack() as watching_all:
                readings = [watching_all.enter_context(gpu.watched()) for gpu in self._gpus]
                answer = self._worker.ask(command, limit_s)
            self._note(command.turn, readings)
            return answer
        if isinstance(command, protocol.Quit) and self._states:
            self._worker.ask(protocol.Note(facts={"gpu": self._states}), limit_s)
        return self._worker.ask(command, limit_s)

    def _note(self, turn: int, readings: list[list[GpuReading]]) -> None:
        """Note what was seen during a block; to look through all processes takes long, and idle clocks fall."""
        if self._own is None:
            self._own = _own_processes()
        own = self._own
        self._states += [summary(turn, seen, own, gpu) for seen, gpu in zip(readings, self._gpus, strict=True)]

    def end(self) -> None:
        """End the worker."""
        self._worker.end()


def watching(launch: Launcher) -> Launcher:
    """Return a launcher whose workers are watched where they run on GPUs that NVML knows."""

    def start(folder: Path, trial: TrialSpec, interpreter: str) -> Worker:
        worker = launch(folder, trial, interpreter)
        if not trial.contender.on_cuda:
            return worker
        gpus = [gpu for gpu in map(watched_gpu, _uuids_of(trial)) if gpu]
        return WatchedWorker(worker, *gpus) if gpus else worker

    return start


class WeighedWorker:
    """A worker whose memory on its GPUs is watched from its build until its memory is read."""

    def __init__(self, worker: Worker, *uuids: str) -> None:
        """Take a started worker, and the UUIDs of the GPUs of all of its devices."""
        self._worker = worker
        self._uuids = uuids
        self._weighing = ExitStack()
        self._scale: GpuMemoryPeak | None = None

    def ready(self, limit_s: float) -> Ready:
        """Wait until the framework is imported."""
        return self._worker.ready(limit_s)

    def ask(self, command: Command, limit_s: float) -> Answer:
        """Return the answer to a command; note what was seen when the memory has been measured."""
        if isinstance(command, protocol.Build):
            self._scale = self._weighing.enter_context(peak_watched(self._processes, *self._uuids))
        answer = self._worker.ask(command, limit_s)
        if isinstance(command, protocol.MeasureMemory | protocol.Certify):
            self._weighing.close()
            seen = self._scale
            assert seen is not None
            note = protocol.NoteGpuMemory(
                peak_bytes=seen.peak_bytes,
                readings=seen.readings,
                reason=seen.reason,
                each_bytes=seen.each_bytes if len(self._uuids) > 1 else None,
            )
            self._worker.ask(note, limit_s)
        return answer

    def _processes(self) -> frozenset[int]:
        """Return the worker's processes and their children: others may be resident beside it."""
        found: set[int] = set(getattr(self._worker, "pids", ()))
        if not found:
            return _own_processes()
        for pid in tuple(found):
            with suppress(psutil.NoSuchProcess):
                found |= {child.pid for child in psutil.Process(pid).children(recursive=True)}
        return frozenset(found)

    def end(self) -> None:
        """End the weighing and the worker."""
        self._weighing.close()
        self._worker.end()


def weighing(launch: Launcher) -> Launcher:
    """Return a launcher that reads the GPU memory of workers in memory trials on CUDA."""

    def start(folder: Path, trial: TrialSpec, interpreter: str) -> Worker:
        worker = launch(folder, trial, interpreter)
        is_weighed = KINDS[trial.purpose].weighed and trial.contender.on_cuda
        return WeighedWorker(worker, *_uuids_of(trial)) if is_weighed else worker

    return start


def _uuids_of(trial: TrialSpec) -> list[str]:
    """Return the UUIDs of the GPUs that a trial's worker is shown; [""] where they are not known."""
    return (trial.variables.get(VISIBLE) or uuid_in(trial.gpu)).split(",")


def _own_processes() -> frozenset[int]:
    """Return the processes below this one, which are a worker's without a process of its own."""
    return frozenset(process.pid for process in psutil.Process().children(recursive=True))


class BoundedWorker:
    """A worker that is watched from outside while it does a command."""

    def __init__(self, worker: ProcessWorker, ceiling_bytes: int) -> None:
        """Take a started worker."""
        self._worker = worker
        self.pids = worker.pids
        self._ceiling_bytes = ceiling_bytes
        self._watch: MemoryLimit | None = None

    def ready(self, limit_s: float) -> Ready:
        """Wait until the framework is imported: what it holds then does not count."""
        answer = self._worker.ready(limit_s)
        self._watch = MemoryLimit(self._worker.pid)
        return answer

    def ask(self, command: Command, limit_s: float) -> Answer:
        """Return the answer to a command; a worker that took too much memory is lost for that reason."""
        assert self._watch is not None
        try:
            with self._watch.within(self._ceiling_bytes):
                return self._worker.ask(command, limit_s)
        except WorkerLostError as lost:
            if self._watch.reason:
                raise WorkerLostError("out-of-memory", self._watch.reason, lost.detail) from lost
            raise

    def end(self) -> None:
        """End the worker."""
        self._worker.end()


def bounded(launch: Launcher, ceiling_bytes: int) -> Launcher:
    """Return a launcher of processes that are ended above the trial's own ceiling, or where it has none above this."""

    def start(folder: Path, trial: TrialSpec, interpreter: str) -> Worker:
        worker = launch(folder, trial, interpreter)
        if not isinstance(worker, ProcessWorker):
            return worker
        return BoundedWorker(worker, ceiling_bytes if trial.ceiling_bytes is None else trial.ceiling_bytes)

    return start

"""Workers that are ended when they take more memory than they may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.measure.memory_limit import MemoryLimit
from bakeoff.race.workers.process import ProcessWorker
from bakeoff.race.workers.worker import WorkerLostError

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.race.workers.worker import Launcher, Worker
    from bakeoff.spec.protocol import Answer, Command, Ready
    from bakeoff.spec.trial import TrialSpec


class BoundedWorker:
    """A worker that is watched from outside while it does a command."""

    def __init__(self, worker: ProcessWorker, ceiling_bytes: int) -> None:
        """Take a started worker."""
        self._worker = worker
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

"""A worker in this very process: the whole pipeline in milliseconds."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import TYPE_CHECKING
from unittest import mock

from bakeoff.measure.memory import TUNABLES
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec.protocol import Answer, Command, Failed, Ready
from bakeoff.trial import worker
from bakeoff.trial.worker import TrialProcess

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.spec.trial import TrialSpec


class InlineWorker:
    """Obeys as a process would, but a crash is the caller's own: only frameworks without state of their own."""

    def __init__(self, folder: Path, trial: TrialSpec, interpreter: str) -> None:
        """Start nothing: the first command does."""
        del trial, interpreter
        self._worker = TrialProcess(folder, started_ns=0)

    def ready(self, limit_s: float) -> Ready:
        """Import the framework."""
        del limit_s
        theirs = os.environ.get(TUNABLES)
        answer = self._worker.start()
        if theirs is None:
            os.environ.pop(TUNABLES, None)  # a trial's own, which ends with its process: the next has none of a user
        if isinstance(answer, Failed):
            raise WorkerLostError("failed", answer.reason)
        assert isinstance(answer, Ready)
        return answer

    def ask(self, command: Command, limit_s: float) -> Answer:
        """Do a command now."""
        del limit_s
        # This process holds all that tests have imported: to walk through it takes longer than the steps.
        with mock.patch.object(worker, "collected_garbage", nullcontext):
            answer = self._worker.obey(command)
        if isinstance(answer, Failed):
            raise WorkerLostError("failed", answer.reason)
        return answer

    def end(self) -> None:
        """There is nothing to end."""

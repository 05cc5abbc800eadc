"""What a worker is to the parent, whatever runs it: a process, this very process in tests, or one under watch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.spec.protocol import Answer, Command, Ready
    from bakeoff.spec.record import Killer, TrialOutcome
    from bakeoff.spec.trial import TrialSpec


class WorkerLostError(Exception):
    """A worker that will not answer any more, with its outcome for the record."""

    def __init__(
        self,
        outcome: TrialOutcome,
        reason: str,
        detail: str = "",
        *,
        killed_by: Killer = "",
        is_recorded: bool = True,
    ) -> None:
        """Keep what the record needs; a worker that tells of its failure has recorded it, if not said otherwise."""
        super().__init__(reason)
        self.outcome: TrialOutcome = outcome
        self.reason = reason
        self.detail = detail
        self.killed_by: Killer = killed_by
        self.is_recorded = is_recorded and outcome == "failed"


class Worker(Protocol):
    """One started trial."""

    def ready(self, limit_s: float) -> Ready:
        """Wait until the framework is imported; raise WorkerLostError."""

    def ask(self, command: Command, limit_s: float) -> Answer:
        """Return the answer to a command; raise WorkerLostError."""

    def end(self) -> None:
        """End the process and all that it started, whatever state it is in."""


class Launcher(Protocol):
    """Starts workers; one for processes, one for this very process in tests."""

    def __call__(self, folder: Path, trial: TrialSpec, interpreter: str) -> Worker:
        """Return a worker on the trial whose trial.json is in `folder`; raise WorkerLostError."""

"""Who has killed a process: the kernel, for want of memory, or somebody else, which says nothing of memory."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from tests.race.inline import InlineWorker
from tests.race.test_certify import ASKED, _Changed

from bakeoff.race import conductor
from bakeoff.race.conductor import search_batches
from bakeoff.race.workers import process
from bakeoff.race.workers.process import KILLED, ProcessWorker
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec.protocol import Answer, Certify, Command
from bakeoff.store.results import read_records

if TYPE_CHECKING:
    from tests.race.conftest import Race

    from bakeoff.spec.record import Killer
    from bakeoff.spec.trial import Purpose, TrialSpec

pytestmark = pytest.mark.slow


def counted(monkeypatch: pytest.MonkeyPatch, killer: Killer) -> None:
    """Have the kernel count what it kills: each process, none, or nothing at all, where it does not count."""
    counts = count(5)
    ways = {"kernel": lambda: next(counts), "other": lambda: 5, "": lambda: None}
    monkeypatch.setattr(process, "oom_kills", ways[killer])


@pytest.mark.parametrize("killer", ["kernel", "other", ""])
def test_a_batch_is_too_large_whose_process_the_kernel_has_killed(
    request_of: Any, monkeypatch: pytest.MonkeyPatch, killer: Killer
) -> None:
    """Or may have killed; where it has not, nothing is said of the size, and the attempt is made again."""
    counted(monkeypatch, killer)
    outcome = search_batches(request_of("fake:fault=kill,fault_at=memory", batch_size=2), launch=ProcessWorker)
    (one,) = outcome.found
    states = [("nothing", ["killed", "killed"])] if killer != "other" else [("stopped", ["killed"])]
    assert [(one.state, [attempt.outcome for attempt in one.attempts])] == states
    assert one.reason == ("batch 2: " if killer == "other" else "") + KILLED[killer]
    asked = request_of("fake:fault=kill,fault_at=memory", batch_size=2, resume=True)
    events: list[Any] = []
    search_batches(asked, launch=ProcessWorker, observe=events.append)
    began = [event for event in events if getattr(event, "purpose", "") == "batch"]
    assert bool(began) is (killer == "other")


class Killed(InlineWorker):
    """A worker that is killed where evidence of one kind is asked of it."""

    purpose: ClassVar[Purpose] = "program"
    killer: ClassVar[Killer] = ""

    def __init__(self, folder: Path, trial: TrialSpec, interpreter: str) -> None:
        """Keep what the trial is for."""
        super().__init__(folder, trial, interpreter)
        self._is_lost = trial.purpose == self.purpose

    def ask(self, command: Command, limit_s: float) -> Answer:
        """Answer, but for that evidence."""
        if self._is_lost and isinstance(command, Certify):
            raise WorkerLostError("killed", KILLED[self.killer], killed_by=self.killer)
        return super().ask(command, limit_s)


@pytest.mark.parametrize("killer", ["kernel", "other", ""])
def test_a_program_that_somebody_has_killed_is_not_excused(
    race: Race, monkeypatch: pytest.MonkeyPatch, killer: Killer
) -> None:
    """For want of memory the timed settings are held alone; a program that somebody has killed is done again."""
    honest = conductor.prepared
    monkeypatch.setattr(conductor, "prepared", lambda *given, **asked: _Changed(honest(*given, **asked)))
    monkeypatch.setattr(Killed, "purpose", "program")
    monkeypatch.setattr(Killed, "killer", killer)
    outcome = race("fake", launch=Killed, **ASKED)
    (only,) = outcome.contenders
    assert only.certificate is not None
    assert only.certificate.passed is (killer != "other")
    if killer == "other":
        assert only.certificate.reason == f"in float64: {KILLED[killer]}"
        monkeypatch.setattr(Killed, "purpose", "bare")
        (again,) = race("fake", launch=Killed, resume=True, **ASKED).contenders
        assert again.status == "ranked"


@pytest.mark.parametrize("killer", ["kernel", "other", ""])
def test_advice_about_memory_is_for_what_memory_may_have_ended(
    race: Race, monkeypatch: pytest.MonkeyPatch, killer: Killer
) -> None:
    """More swap does not help against somebody who kills."""
    monkeypatch.setattr(Killed, "purpose", "reference")
    monkeypatch.setattr(Killed, "killer", killer)
    outcome = race("fake", launch=Killed)
    (only,) = outcome.contenders
    assert only.certificate is not None
    assert only.certificate.reason.endswith("or add swap" if killer != "other" else f"failed: {KILLED[killer]}")
    (lost,) = [one for one in read_records(Path(outcome.path)).records.values() if one.trial.purpose == "reference"]
    assert (lost.outcome, lost.killed_by, lost.reason) == ("killed", killer, KILLED[killer])

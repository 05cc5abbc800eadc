"""The loop over stages: what is on disk is not done again, the time budget ends stages, and versions do not mix.

The workers of a trial that is wanted are started, obey its script, and are ended in any case.
"""

from __future__ import annotations

import shutil
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bakeoff.measure.machine import describe
from bakeoff.race.devices import why_late
from bakeoff.race.progress import TrialEnded, TrialStarted
from bakeoff.race.stages.stage import Adopted, Checkpoint, Session, Team, WantedTrials
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec.errors import StoreError
from bakeoff.spec.protocol import Quit
from bakeoff.spec.record import Record
from bakeoff.spec.trial import CACHE_FOLDER
from bakeoff.store.evidence import checked_arrays
from bakeoff.store.files import RECORD_FILE, clear_trial, read_record, write_atomically, write_record, write_trial

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bakeoff.race.progress import Observer
    from bakeoff.race.stages.stage import RaceState, Stage
    from bakeoff.race.workers.worker import Launcher, Worker
    from bakeoff.spec.trial import TrialSpec


class Loop:
    """One comparison or search on its way."""

    def __init__(self, state: RaceState, launch: Launcher, observe: Observer) -> None:
        """Take the state, which the loop keeps up to date, what starts workers, and who observes events."""
        self.state = state
        self._runner = Runner(state.folder, launch, observe, limit_s=state.comparison.procedure.trial_limit_s)
        self._observe = observe

    def run(self, stages: Iterable[Stage]) -> list[Stage]:
        """Run stages one after another; return those that the time budget cut short.

        Raises StoreError where a record cannot be written, or was made with other versions than those before it.
        """
        return [stage for stage in stages if not self._finish(stage)]

    def _finish(self, stage: Stage) -> bool:
        """Run one stage; return whether it came to its end within the time budget."""
        for wish in stage(self.state):
            match wish:
                case WantedTrials():
                    if not all(trial.spec.name in self.state.records for trial in wish.trials):
                        self._keep(self._runner.run(wish))
                case Adopted(record, arrays):
                    if record.trial.name not in self.state.records:
                        self._adopt(record, arrays)
                case Checkpoint(needs_s):
                    left_s = self.state.left_s()
                    if left_s is not None and left_s <= needs_s:
                        return False
                case event:
                    self._observe(event)
        return True

    def _adopt(self, record: Record, arrays: Path | None) -> None:
        """Write a record that was made before, as if its trial had been run; not where its arrays are others now."""
        folder = _own(self.state.folder / record.trial.name)
        if arrays is not None:
            assert record.evidence is not None
            try:
                content = checked_arrays(arrays, record.evidence.arrays_sha256)
            except StoreError:
                return  # The stage has a trial instead.
            write_atomically(folder / arrays.name, content)
        write_trial(folder, record.trial)
        write_record(folder, record)
        self._keep([record])

    def _keep(self, finished: list[Record]) -> None:
        """Take finished trials in; those with other versions than before are removed, and StoreError says why."""
        strange = [(before, record) for record in finished if (before := self._of_other_versions(record))]
        for _, record in strange:
            shutil.rmtree(self.state.folder / record.trial.name)
        for before, record in strange:
            label, had, has = record.trial.contender.label, _versions(before), _versions(record)
            msg = f"cannot go on with {self.state.comparison.id}: {label} had {had} and has {has} here"
            raise StoreError(msg)
        self.state.records |= {record.trial.name: record for record in finished}

    def _of_other_versions(self, record: Record) -> Record | None:
        """Return a record of the same contender that was made with other versions; None where there is none."""
        for before in self.state.records.values():
            is_same = before.trial.contender == record.trial.contender and before.outcome == record.outcome == "done"
            if is_same and _versions(before) != _versions(record):
                return before
        return None


def _own(folder: Path) -> Path:
    """Return the folder of a trial that is written; raise StoreError for a link, which leads out of the comparison."""
    if folder.is_symlink():
        msg = f"{folder} is a link, and links are not followed: remove it"
        raise StoreError(msg)
    return folder


def _versions(record: Record) -> str:
    """Return what a trial ran with: Python, versions, and the user's variables that count."""
    facts = [("Python", record.python), *record.versions.items(), *record.inherited.items()]
    return ", ".join(f"{name} {version}" for name, version in facts)


class Runner:
    """Runs the trials of one comparison; their folders lie in its folder."""

    def __init__(self, folder: Path, launch: Launcher, observe: Observer, *, limit_s: float) -> None:
        """Take what all trials share; `limit_s` is the longest that a worker may take for an answer."""
        self._folder = folder
        self._launch = launch
        self._observe = observe
        self._limit_s = limit_s

    def run(self, wanted: WantedTrials) -> list[Record]:
        """Return the records of these trials, which start together, so that their imports overlap.

        A worker that is lost leaves a record with its outcome. Raises StoreError where a record cannot be written.
        """
        began_s = time.monotonic()
        specs = {trial.spec.contender.label: trial.spec for trial in wanted.trials}
        started: dict[str, Worker] = {}

        def lose(label: str, lost: WorkerLostError) -> None:
            self._write_lost(specs[label], lost)
            self._tell_end(specs[label], began_s)

        try:
            for trial in wanted.trials:
                label = trial.spec.contender.label
                self._observe(TrialStarted(trial.spec.name, label, trial.spec.purpose))
                try:
                    started[label] = self._start(*trial)
                except WorkerLostError as lost:
                    lose(label, lost)
            sessions = {
                one: Session(worker, one, self._limit_s, self._observe, specs[one].pass_steps)
                for one, worker in started.items()
            }
            team = Team(sessions, lose)
            team.each(lambda session: session.worker.ready(self._limit_s))
            wanted.script(team)
            # What is read back before the record is written may be compiled for it.
            team.each(lambda session: session.ask(Quit(), self._limit_s))
            for label in team.labels:
                self._tell_end(specs[label], began_s)
        finally:
            for worker in started.values():
                worker.end()
        return [read_record(self._folder / spec.name) for spec in specs.values()]

    def _start(self, spec: TrialSpec, interpreter: str) -> Worker:
        """Make the trial's folder and start its worker; what an unfinished run left there is cleared."""
        folder = _own(self._folder / spec.name)
        if folder.exists() and not (folder / RECORD_FILE).exists():
            clear_trial(folder)
        write_trial(folder, spec)
        return self._launch(folder, spec, interpreter)

    def _write_lost(self, spec: TrialSpec, lost: WorkerLostError) -> None:
        """Write the record of a worker that could not write its own."""
        folder = self._folder / spec.name
        if (folder / RECORD_FILE).exists():
            return
        if lost.is_recorded:
            # A worker that can still tell of its failure has written it down, unless it cannot write.
            raise StoreError(lost.reason) from lost
        record = Record(
            trial=spec,
            outcome=lost.outcome,
            reason=f"{lost.reason}{why_late(spec) if lost.outcome == 'timeout' else ''}",
            killed_by=lost.killed_by,
            detail=lost.detail,
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            machine=describe(spec.gpu),
            variables=spec.variables,
        )
        write_record(folder, record)
        shutil.rmtree(folder / CACHE_FOLDER, ignore_errors=True)

    def _tell_end(self, spec: TrialSpec, began_s: float) -> None:
        """Report the end of a trial to the observer."""
        record, seconds = read_record(self._folder / spec.name), time.monotonic() - began_s
        label, outcome = spec.contender.label, record.outcome
        self._observe(TrialEnded(spec.name, label, spec.purpose, outcome, record.reason, seconds))

"""The loop over stages: what is on disk is not done again, the time budget ends stages, and versions do not mix."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from bakeoff.race.runner import Runner
from bakeoff.race.stages.stage import Adopted, Checkpoint, Wanted
from bakeoff.spec.errors import StoreError
from bakeoff.store.files import write_record, write_trial

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.race.progress import Observer
    from bakeoff.race.stages.stage import Stage, State
    from bakeoff.race.workers.worker import Launcher
    from bakeoff.spec.record import Record


class Loop:
    """One comparison or search on its way."""

    def __init__(self, state: State, launch: Launcher, observe: Observer) -> None:
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
                case Wanted():
                    if not all(trial.spec.name in self.state.records for trial in wish.trials):
                        self._keep(self._runner.run(wish))
                case Adopted(record):
                    if record.trial.name not in self.state.records:
                        self._adopt(record)
                case Checkpoint():
                    if self.state.left_s() == 0:
                        return False
                case event:
                    self._observe(event)
        return True

    def _adopt(self, record: Record) -> None:
        """Write a record that was made before, as if its trial had been run."""
        folder = self.state.folder / record.trial.name
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


def _versions(record: Record) -> str:
    """Return what a trial ran with: Python, versions, and the user's variables that count."""
    facts = [("Python", record.python), *record.versions.items(), *record.inherited.items()]
    return ", ".join(f"{name} {version}" for name, version in facts)

"""The record of a trial on its way: what is known so far, and the writing of it."""

from __future__ import annotations

import platform
import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from bakeoff.measure.machine import describe, usable_cores
from bakeoff.measure.system_settings import weather
from bakeoff.spec.record import Record
from bakeoff.spec.trial import CACHE_FOLDER
from bakeoff.store.files import write_record

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.spec.record import TrialOutcome
    from bakeoff.spec.trial import TrialSpec


Fact = TypeVar("Fact")


class Draft:
    """Facts by the names of the fields of `bakeoff.spec.record.Record`; what nobody has put in stays its default."""

    def __init__(self, folder: Path, trial: TrialSpec, *, started_ns: int) -> None:
        """Begin with when the process started, and how long its interpreter took."""
        self.folder, self.trial = folder, trial
        self._usable_cores = usable_cores()  # the machine's, before this process is bound to some of them
        self._facts: dict[str, Any] = {
            "start_ns": started_ns,
            "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    def put(self, **facts: Any) -> None:
        """Set fields of the record."""
        self._facts |= facts

    def known(self, field: str, kind: type[Fact]) -> Fact:
        """Return a field that was set before."""
        fact = self._facts[field]
        assert isinstance(fact, kind)
        return fact

    def seen(self, field: str, kind: type[Fact]) -> Fact | None:
        """Return a field if it was set before."""
        return self.known(field, kind) if self._facts.get(field) is not None else None

    def amend_last(self, field: str, **changes: Any) -> None:
        """Replace parts of the last item of a field that is a list of structs."""
        self._facts[field][-1] = msgspec.structs.replace(self._facts[field][-1], **changes)

    def append(self, field: str, *items: Any) -> None:
        """Add to a field that is a list."""
        self._facts.setdefault(field, []).extend(items)

    def amend(self, field: str, **changes: Any) -> None:
        """Replace parts of a field that was set before and is a struct."""
        self._facts[field] = msgspec.structs.replace(self._facts[field], **changes)

    def write(self, outcome: TrialOutcome, reason: str = "", detail: str = "") -> None:
        """Write the record and clear what the framework cached for this trial; raise StoreError where it cannot be."""
        record = Record(
            trial=self.trial,
            outcome=outcome,
            reason=reason,
            detail=detail,
            machine=describe(self.trial.gpu) | {"usable_cores": self._usable_cores},
            weather=weather(),
            python=platform.python_version(),
            variables=self.trial.variables,
            **self._facts,
        )
        write_record(self.folder, record)
        shutil.rmtree(self.folder / CACHE_FOLDER, ignore_errors=True)

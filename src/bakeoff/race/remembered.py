"""What is not done again in every comparison: records of trials, kept in the user's folder by all they depend on."""

from __future__ import annotations

import hashlib
import os
import shutil
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

import bakeoff
from bakeoff.environments.installed import base
from bakeoff.measure.memory import TUNABLES
from bakeoff.spec.errors import StoreError
from bakeoff.spec.options import inherited
from bakeoff.store.evidence import checked_arrays
from bakeoff.store.files import read_record, write_atomically, write_record, write_trial
from bakeoff.store.fingerprints import files_sha256

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.record import Record

MOST_KEPT_BYTES = 2 << 30
"""Of one kind of record with its arrays: some hundred comparisons of full-size networks, of 20 MB each. The oldest go.
"""

DISTURBED_HOLDS = timedelta(hours=1)
"""How long a reading counts that other processes have disturbed: the next comparisons of a study, minutes later, would
not read better."""


class KeptRecord(NamedTuple):
    """A record that was kept, and its folder."""

    record: Record
    folder: Path


def recall(kind: str, name: str) -> KeptRecord | None:
    """Return a record that was kept; None where there is none, or not as it was written."""
    folder = base() / kind / name
    try:
        return KeptRecord(read_record(folder), folder)
    except StoreError:
        return None


def everything(kind: str) -> Iterator[KeptRecord]:
    """Yield all that was kept of one kind and is as it was written."""
    for folder in sorted((base() / kind).glob("*")):
        if (kept := recall(kind, folder.name)) is not None:
            yield kept


def keep(kind: str, name: str, record: Record, arrays: Path | None = None) -> None:
    """Keep a record and the arrays of its evidence; where they cannot be written, the trial is run again next time."""
    folder = base() / kind / name
    try:
        if arrays is not None and record.evidence is not None:
            write_atomically(folder / arrays.name, checked_arrays(arrays, record.evidence.arrays_sha256))
        write_trial(folder, record.trial)
        write_record(folder, record)
        _make_room(folder.parent)
    except (StoreError, OSError):
        return


def _make_room(folder: Path) -> None:
    """Remove the oldest records of one kind until the others take no more than MOST_KEPT_BYTES."""
    oldest_last = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    taken = 0
    for one in oldest_last:
        taken += sum(file.stat().st_size for file in one.iterdir())
        if taken > MOST_KEPT_BYTES:
            shutil.rmtree(one, ignore_errors=True)


def name_of(code: Sequence[str], plan: ContenderPlan, facts: Sequence[object]) -> str:
    """Return the name of a trial that is not run yet: its facts, bakeoff's own code, and what its interpreter has.

    Empty where the packages of the interpreter are unknown.
    """
    seen = sorted(inherited(plan.watched, os.environ).items())
    known = [bakeoff.__version__, code_sha256(tuple(code)), plan.contender.framework, plan.packages_sha256, seen]
    return digest([*known, sorted(plan.variables.items()), *facts]) if plan.packages_sha256 else ""


def saw_these_variables(record: Record, plan: ContenderPlan) -> bool:
    """Return whether a trial saw the watched variables of now: a comparison may go on with others than it began with.

    Those of malloc, of which a trial's own are a part, are left out.
    """
    now = {name: value for name, value in inherited(plan.watched, os.environ).items() if name not in plan.variables}
    return {**record.inherited, TUNABLES: ""} == {**now, TUNABLES: ""}


def setting_of(record: Record, code: Sequence[str]) -> list[object]:
    """Return what a trial's reading could depend on, but for its data: with what it ran, and bakeoff's code for it."""
    trial, contender = record.trial, record.trial.contender
    return [
        bakeoff.__version__,
        code_sha256(tuple(code)),
        trial.workload_sha256,
        trial.steps_sha256,
        trial.scenario,
        trial.size,
        trial.batch_size,
        trial.joined,
        trial.pass_steps,
        trial.per_sample,
        trial.framework_sha256,
        sorted(record.machine.items()),
        contender.framework,
        sorted(contender.options.items()),
        record.python,
        sorted(record.versions.items()),
        sorted(record.inherited.items()),
    ]


def age(record: Record) -> timedelta:
    """Return how long ago a record was made."""
    return datetime.now(UTC) - datetime.fromisoformat(record.started_at)


def digest(facts: Sequence[object]) -> str:
    """Return the name of a folder for these facts."""
    return hashlib.sha256(msgspec.json.encode(facts)).hexdigest()[:32]


@cache
def code_sha256(parts: tuple[str, ...]) -> str:
    """Return the hash of a part of bakeoff's own code; `parts` are patterns below the package's folder."""
    root = Path(bakeoff.__file__).parent
    return files_sha256(root, [path for part in parts for path in root.glob(part)])

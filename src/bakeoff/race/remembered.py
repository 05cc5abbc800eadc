"""Timer self-tests that were made on this machine before: whole records, in the user's data folder."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import bakeoff
from bakeoff.environments.installed import base
from bakeoff.judge.timer import timer_verdict
from bakeoff.spec.errors import StoreError
from bakeoff.store.files import read_record, write_record, write_trial
from bakeoff.store.fingerprints import files_sha256

if TYPE_CHECKING:
    from bakeoff.spec.record import Record


MEASURING = ("measure/*.py", "trial/*.py", "frameworks/*.py", "stats/selftest.py", "race/stages/selftest.py")
"""Below the package's folder; what belongs to one framework has a hash of its own."""

UNTOLD_HOLDS = timedelta(hours=1)
"""On a busy machine a self-test has no answer, and the next comparison of a study would have none minutes later."""


def remember(record: Record) -> None:
    """Keep the record of a self-test that did not fail; one that cannot be written is run again next time."""
    if record.outcome != "done" or timer_verdict(record).outcome == "failed":
        return
    folder = _folder(record)
    try:
        write_trial(folder, record.trial)
        write_record(folder, record)
    except StoreError:
        return


def remembered(like: Record) -> Record | None:
    """Return the self-test that holds for what a contender runs with, which its record `like` names; else None."""
    try:
        before = read_record(_folder(like))
    except StoreError:  # It does not exist, or is not as it was written.
        return None
    age = datetime.now(UTC) - datetime.fromisoformat(before.started_at)
    return before if timer_verdict(before).outcome == "passed" or age < UNTOLD_HOLDS else None


@cache
def measuring_sha256() -> str:
    """Return the hash of bakeoff's own code that takes part in a self-test: what measures, and what judges it."""
    root = Path(bakeoff.__file__).parent
    files = [path for part in MEASURING for path in root.glob(part)]
    return files_sha256(root, files)


def _folder(record: Record) -> Path:
    """Return the folder of a self-test, named by all that its outcome could depend on."""
    trial, contender = record.trial, record.trial.contender
    facts = [
        bakeoff.__version__,
        measuring_sha256(),
        trial.workload_sha256,
        trial.scenario,
        trial.size,
        trial.batch_size,
        trial.framework_sha256,
        sorted(record.machine.items()),
        contender.framework,
        sorted(contender.options.items()),
        record.python,
        sorted(record.versions.items()),
        sorted(record.inherited.items()),
    ]
    return base() / "selftests" / hashlib.sha256(msgspec.json.encode(facts)).hexdigest()[:32]

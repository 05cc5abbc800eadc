"""Timer self-tests that were passed on this machine before: whole records, in the user's data folder."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

import bakeoff
from bakeoff.environments.made import base
from bakeoff.spec.errors import StoreError
from bakeoff.store.files import read_record, write_record, write_trial

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.spec.record import Record


def remember(record: Record) -> None:
    """Keep the record of a self-test that was passed; where that cannot be written, it is made again next time."""
    folder = _folder(record)
    try:
        write_trial(folder, record.trial)
        write_record(folder, record)
    except StoreError:
        return


def remembered(like: Record) -> Record | None:
    """Give the self-test that a contender passed before in what it runs with now, which its record `like` tells."""
    try:
        return read_record(_folder(like))
    except StoreError:  # Not there, or not as it was written.
        return None


def _folder(record: Record) -> Path:
    """Give the folder of a self-test by all that could make its outcome another one."""
    contender = record.trial.contender
    facts = [
        bakeoff.__version__,
        sorted(record.machine.items()),
        contender.framework,
        sorted(contender.options.items()),
        record.python,
        sorted(record.versions.items()),
    ]
    return base() / "selftests" / hashlib.sha256(msgspec.json.encode(facts)).hexdigest()[:32]

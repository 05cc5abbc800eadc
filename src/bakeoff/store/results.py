"""The comparisons in a results directory, and the records of one of them."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.bounded import read_bounded
from bakeoff.spec.errors import DamagedError, OtherVersionError, StoreError, UnknownNameError, UsageError
from bakeoff.spec.record import Record, TrialOutcome
from bakeoff.spec.text import plain
from bakeoff.store import folders
from bakeoff.store.files import (
    COMPARISON_FILE,
    DAMAGED_FILE,
    EARLIER_FILE,
    RECORD_FILE,
    STUDY_FILE,
    read_record,
)
from bakeoff.store.reading import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.spec.trial import Purpose


MOST_NAMED = 20
"""Names in a message, the latest: a results directory may hold thousands."""

AGAIN: frozenset[TrialOutcome] = frozenset({"killed", "timeout", "crashed", "unavailable", "changed"})
"""How a trial ends that came to nothing for what may have passed: when its comparison goes on it is done again."""

STANDING: dict[Purpose, frozenset[TrialOutcome]] = {
    "time": AGAIN - {"changed"},
    "batch": frozenset({"killed", "crashed"}),
}
"""Such ends that are an answer: what a round lost is counted, unless it was refused for what somebody has changed, and
a batch size may be too large, where no other process has killed it."""


class Records(msgspec.Struct, frozen=True, kw_only=True):
    """The readable records of a comparison by the trial's name, and what is not used."""

    records: dict[str, Record]
    damaged: list[str]
    """A sentence for each record that is not used, with its file."""


def read_records(folder: Path) -> Records:
    """Return every record of a comparison, and a sentence for each that is not used; change nothing."""
    records: dict[str, Record] = {}
    unused = [f"{path} was set aside earlier" for path in sorted(folder.glob(f"*/{DAMAGED_FILE}"))]
    unused += [f"{path} is a link, and links are not followed" for path in _links_without_a_record(folder)]
    for trial in _trials(folder):
        try:
            records[trial.name] = _read_own(trial)
        except (DamagedError, OtherVersionError) as error:
            unused.append(str(error))
    return Records(records=records, damaged=unused)


def take_up(folder: Path) -> tuple[str, ...]:
    """Make a folder fit to go on with, whose lock is held; return the names of the trials that are to be done again.

    A damaged record is set aside, and so is that of a trial that came to nothing. Raises StoreError where a record is
    of another version, or lies behind a link: both stay as they are.
    """
    again = []
    for trial in _trials(folder):
        if trial.is_symlink():
            msg = f"cannot go on with {folder.name}: {trial} is a link, and links are not followed; remove it"
            raise StoreError(msg)
        try:
            record = _read_own(trial)
        except DamagedError:
            _set_aside(trial, DAMAGED_FILE)
        except OtherVersionError as error:
            msg = f"cannot go on with {folder.name}: {error}; start a new one without --resume"
            raise StoreError(msg) from error
        else:
            if is_done_again(record):
                _set_aside(trial, EARLIER_FILE)
                again.append(trial.name)
    return tuple(again)


def is_done_again(record: Record) -> bool:
    """Return whether a trial came to nothing, so that its record is set aside when its comparison goes on."""
    if record.trial.purpose == "batch" and record.killed_by == "other":
        return True
    return record.outcome in AGAIN - STANDING.get(record.trial.purpose, frozenset())


def _trials(folder: Path) -> list[Path]:
    """Return the folders of the trials that have a record, or something in its place, sorted by name.

    Raises StoreError for a folder that may not be entered: its record would be missing without a word.
    """
    for one in sorted(folder.glob("[!.]*")):
        try:
            if not one.is_symlink():
                os.lstat(one / RECORD_FILE)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            msg = f"cannot read {one}: {error.strerror or error}"
            raise StoreError(msg) from error
    return sorted(path.parent for path in folder.glob(f"*/{RECORD_FILE}"))


def _links_without_a_record(folder: Path) -> list[Path]:
    """Return the links in the place of trials' folders that lead to no record: to another folder, or nowhere."""
    links = [path for path in folder.glob("[!.]*") if path.is_symlink()]
    # Unlike those of Path, these two raise nothing for what lies in a folder that may not be entered.
    return sorted(
        one
        for one in links
        if not os.path.isfile(one) and not os.path.exists(one / RECORD_FILE)  # noqa: PTH110, PTH113
    )


def _read_own(trial: Path) -> Record:
    """Return the record of the trial that a folder is named for, and that lies in this folder itself."""
    if trial.is_symlink():
        msg = f"{trial} is a link, and links are not followed"
        raise DamagedError(msg)
    record = read_record(trial)
    if record.trial.name != trial.name:
        msg = f"{trial / RECORD_FILE} is the record of another trial: {record.trial.name!r}"
        raise DamagedError(msg)
    return record


def _set_aside(trial: Path, name: str) -> None:
    """Rename a record; raise StoreError where that is not possible."""
    try:
        (trial / RECORD_FILE).replace(trial / name)
    except OSError as error:
        msg = f"cannot set {trial / RECORD_FILE} aside: {error.strerror or error}"
        raise StoreError(msg) from error


def comparisons(results: Path) -> list[Path]:
    """Return the folders of all comparisons, oldest first; those that cannot be read come before them."""
    return _oldest_first(results, COMPARISON_FILE)


def _oldest_first(results: Path, *names: str) -> list[Path]:
    """Return the folders that hold one of these files, by when they were made."""
    known = [path.parent for path in folders.holding(results, *names)]
    return sorted(known, key=lambda folder: (_created_at(folder), folder.name))


class _Begun(msgspec.Struct, frozen=True):
    """What study.json and comparison.json have in common."""

    created_at: str


def _created_at(folder: Path) -> str:
    """Return when a comparison or a study was made; "" where its file is damaged: reading it raises the error."""
    path = folder / (STUDY_FILE if is_study(folder) else COMPARISON_FILE)
    try:
        return decoded(read_bounded(path), _Begun).created_at
    except (OSError, ValueError, StoreError):
        return ""


def is_study(folder: Path) -> bool:
    """Return whether a folder holds a study, with its comparisons in it."""
    return os.path.exists(folder / STUDY_FILE)  # noqa: PTH110 - unlike Path.exists, no error for a name that is too long


def find(results: Path, name: str | None = None) -> Path:
    """Return the folder of a comparison or a study, by its id, the end of its id, or its path; None: the latest.

    Raises UsageError where there is none, and where a name is that of several.
    """
    # os.path.exists, unlike Path.exists, raises nothing for a name that is too long.
    if name is not None and (os.path.exists(Path(name) / COMPARISON_FILE) or is_study(Path(name))):  # noqa: PTH110
        return Path(name)
    available = _oldest_first(results, COMPARISON_FILE, STUDY_FILE)
    if not available:
        called = "" if name is None else f", so none is called {name!r}"
        first = "run one first (bakeoff run mlp-mnist), or name its directory by --results"
        msg = f"no comparison in {results}{called}: {first}"
        raise UsageError(msg)
    if name is None:
        return available[-1]
    within = [folder for study in folders.holding(results, STUDY_FILE) for folder in comparisons(study.parent)]
    return _the_one(name, [*within, *available], available)


def _the_one(name: str, everything: list[Path], available: list[Path]) -> Path:
    """Return the folder that a name means: an id before the ends of others; raise UsageError for none or several."""
    exact = [folder for folder in everything if folder.name == name]
    found = exact or [folder for folder in everything if folder.name.endswith(f"-{name}")]
    if not found:
        latest = [folder.name for folder in reversed(available)]
        close = difflib.get_close_matches(name, latest, n=1)
        more = f"one of {len(latest) - MOST_NAMED:,} older ones" if len(latest) > MOST_NAMED else ""
        raise UnknownNameError("comparison", name, {*latest[:MOST_NAMED], *close}, more)
    if len(found) > 1:
        told = ", ".join(str(folder) for folder in found[:MOST_NAMED])
        msg = f"{name!r} is the name of {len(found)} comparisons: name one by its folder: {plain(told)}"
        raise UsageError(msg)
    return found[0]


def of_contender(records: Iterable[Record], label: str) -> list[Record]:
    """Return a contender's records, in their order."""
    return [record for record in records if record.trial.contender.label == label]


def of_purpose(records: Iterable[Record], purpose: Purpose) -> list[Record]:
    """Return the records of trials of one purpose, in their order."""
    return [record for record in records if record.trial.purpose == purpose]


def finished(records: Iterable[Record]) -> list[Record]:
    """Return the records of trials that did all that was asked, in their order."""
    return [record for record in records if record.outcome == "done"]


def last(records: Iterable[Record], purpose: Purpose) -> Record | None:
    """Return the last record of a purpose; None where there is none."""
    return next(reversed(of_purpose(records, purpose)), None)

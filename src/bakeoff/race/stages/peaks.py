"""The machine's peaks, which every contender's framework is asked for once; what was found is remembered.

A reading hangs on the machine, the framework and its options, and on no workload. The peak is the best of all readings
for a device, a precision and a number of threads, so the best that was found by others before is taken in, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

import bakeoff
from bakeoff.judge.light import is_calm, macs_per_s, place_of
from bakeoff.race.remembered import DISTURBED_HOLDS, age, code_sha256, digest, everything, keep, recall
from bakeoff.race.stages.stage import PROCESS_S, Adopted, Checkpoint, RaceState, Session, WantedTrials, adopted, alone
from bakeoff.spec.protocol import MeasurePeaks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.judge.light import PeakKey
    from bakeoff.spec.record import Record

FOLDER = "peaks"
"""In bakeoff's folder of the user: a folder for each machine and place, and in it one for each reading."""

MEASURING = ("measure/peaks.py", "measure/clock.py", "trial/peaks.py")
"""Below the package's folder; what belongs to one framework has a hash of its own."""


def wanted(state: RaceState) -> Iterator[WantedTrials | Adopted | Checkpoint]:
    """Want a reading of each contender's framework, unless one that was made before holds, and adopt the best."""
    places: dict[PeakKey, Record] = {}
    for plan in state.racing():
        if plan.devices > 1:
            continue  # a device's peak is that of the same contender on one
        (certified,) = state.of("certify", plan)
        trial = state.specs.trial(plan, "peak")
        before = remembered(certified)
        if before is None:
            yield Checkpoint(needs_s=PROCESS_S)
            yield alone(trial, _read)
        else:
            yield adopted(before, trial.spec)
        for record in state.of("peak", plan):
            remember(record)
            places[place_of(record.trial.contender.options)] = record
    for number, (place, record) in enumerate(places.items(), start=1):
        best = best_of_others(record, place, state.of("peak"))
        if best is not None:
            contender = best.trial.contender
            theirs = msgspec.structs.replace(contender, label=f"{contender.label} before")
            yield adopted(best, msgspec.structs.replace(best.trial, name=f"peak-before-{number}", contender=theirs))


def _read(session: Session) -> None:
    """Have the worker time its products and sums."""
    session.tell("measuring the machine's peaks")
    session.ask(MeasurePeaks())


def best_of_others(like: Record, place: PeakKey, known: list[Record]) -> Record | None:
    """Return the best remembered reading for a place of this machine, if it is better than all that are known."""
    every = [one.record for one in everything(_kind(like, place))]
    found = [record for record in every if record.peaks is not None and is_calm(record.peaks)]
    best = max(found, key=_rate, default=None)
    here = max((_rate(record) for record in known if place_of(record.trial.contender.options) == place), default=0.0)
    return best if best is not None and _rate(best) > here else None


def _rate(record: Record) -> float:
    """Return the rate of a reading's products."""
    return macs_per_s(record.peaks) if record.peaks else 0.0


def remember(record: Record) -> None:
    """Keep a reading that came to its end; one that cannot be written is made again next time."""
    if record.outcome == "done" and record.peaks is not None:
        keep(_kind_of(record), _name(record), record)


def remembered(like: Record) -> Record | None:
    """Return the reading that holds for what a contender runs with, which its record `like` names; else None.

    One that other processes have disturbed holds for an hour.
    """
    before = recall(_kind_of(like), _name(like))
    if before is None or before.record.peaks is None:
        return None
    return before.record if is_calm(before.record.peaks) or age(before.record) < DISTURBED_HOLDS else None


def _kind_of(record: Record) -> str:
    """Return the folder of the readings that a record is one of, or would be."""
    return _kind(record, place_of(record.trial.contender.options))


def _kind(record: Record, place: PeakKey) -> str:
    """Return the folder of all readings for one place of a machine; a scripted clock's are no other's."""
    return f"{FOLDER}/{digest([code_sha256(MEASURING), sorted(record.machine.items()), record.clock, list(place)])}"


def _name(record: Record) -> str:
    """Return the name of a reading: all that it could depend on."""
    trial, contender = record.trial, record.trial.contender
    facts = [
        bakeoff.__version__,
        trial.framework_sha256,
        contender.framework,
        # How batches come is no part of it.
        sorted(item for item in contender.options.items() if item[0] != "input"),
        record.python,
        sorted(record.versions.items()),
        sorted(record.inherited.items()),
    ]
    return digest(facts)

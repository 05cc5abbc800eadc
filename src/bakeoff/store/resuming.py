"""Whether a comparison that was begun can be gone on with, and what it then is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.comparison import ANEW, FIRST_RULES
from bakeoff.spec.errors import StoreError
from bakeoff.store import folders
from bakeoff.store.files import read_comparison
from bakeoff.store.fingerprints import check_unchanged
from bakeoff.store.results import comparisons

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.spec.comparison import Aim, Comparison, ContenderPlan

_FIRST_AIMS: dict[Aim, Aim] = {"size": "how-much", "direction": "verdict"}
"""What is wanted now, by the names of the first procedure, which a comparison that was begun by it keeps."""


def latest_like(results: Path, wanted: Comparison) -> tuple[Path, Comparison] | None:
    """Return the latest comparison that asked for the same work of the same contenders; None where there is none.

    One whose workload's file, or else whose data, are others now counts where no other is there: `continued` refuses it
    with the reason.
    """
    known = comparisons(results)
    found = (folders.latest_like(known, read_comparison, likeness, wanted) for likeness in LIKENESSES)
    return next(filter(None, found), None)


def identity_of(comparison: Comparison) -> tuple[object, ...]:
    """Return what must agree for a comparison to be resumed with another's records."""
    return comparison.workload_sha256, *asked_of(comparison)


def asked_of(comparison: Comparison) -> tuple[object, ...]:
    """Return what was asked for, whatever stands in the workload's file."""
    return (
        comparison.workload.name,
        comparison.scenario,
        comparison.per_sample,
        comparison.size,
        comparison.batch_size,
        comparison.data.sha256,
        # Labels are the texts as they were written: the same contender may be written in two ways.
        [msgspec.structs.replace(plan.contender, label="") for plan in comparison.contenders],
        [plan.injected for plan in comparison.contenders],
        msgspec.structs.replace(comparison.procedure, **dict.fromkeys((*ANEW, "rules"))),
        # Until-sure has other boundaries, which hold only if they are used from the first round on.
        comparison.procedure.aim == "until-sure",
    )


def _but_for_data(comparison: Comparison) -> tuple[object, ...]:
    """Return what was asked for, whatever numbers its source of data gives."""
    data = msgspec.structs.replace(comparison.data, sha256="", entries={}, sequences={})
    return data, comparison.workload_sha256, *asked_of(msgspec.structs.replace(comparison, data=data))


LIKENESSES = (identity_of, asked_of, _but_for_data)
"""What must agree for records to be looked at: one that agrees in less counts where none agrees in more."""


def continued(before: Comparison, wanted: Comparison) -> Comparison:
    """Return a comparison as it was fixed, to go on as long as is wanted now.

    What is started and opened is what is wanted now: a folder may have been moved, or be a stranger's. Raises
    StoreError on another machine, with other packages or other data, and ChangedError where the workload or a
    framework's folder is another now.
    """
    check_same_machine(before, wanted.machine)
    _check_same_sources(before, wanted)
    if before.data.sha256 != wanted.data.sha256:
        msg = (
            f"cannot go on with {before.id}: its data, {before.data.source}, are other numbers now: put back what they "
            "are read from, or start a new comparison (without --resume)"
        )
        raise StoreError(msg)
    _check_same_packages(before, wanted)
    if before.reference is not None and _reference_of(before) != _reference_of(wanted):
        msg = (
            f"cannot go on with {before.id}: its reference was {_reference_of(before)}, and is {_reference_of(wanted)} "
            "(--reference-device says where it computes)"
        )
        raise StoreError(msg)
    anew = {name: getattr(wanted.procedure, name) for name in ANEW}
    if before.procedure.rules == FIRST_RULES:
        anew["aim"] = _FIRST_AIMS.get(wanted.procedure.aim, wanted.procedure.aim)
    kept = {name: getattr(before, name) for name in ("id", "created_at", "bakeoff", "no_energy", "notices")}
    procedure = msgspec.structs.replace(before.procedure, **anew)
    # Records name contenders by the labels of the first run; the same contender may be written in another way now.
    plans = [
        msgspec.structs.replace(plan, contender=msgspec.structs.replace(plan.contender, label=first.contender.label))
        for plan, first in zip(wanted.contenders, before.contenders, strict=True)
    ]
    command = _command(before.command, wanted.command)
    return msgspec.structs.replace(wanted, procedure=procedure, contenders=plans, command=command, **kept)


def _command(before: str, now: str) -> str:
    """Return what repeats a comparison that is gone on with: it says how long to go on, which is what may change.

    What only adds to a race, as `bakeoff explain` does, is not what repeats it.
    """
    adds = before and before.split()[:2] != now.split()[:2]
    return before if adds or not now else now


def _reference_of(comparison: Comparison) -> str:
    """Return the contender that computes the reference, with its options."""
    if comparison.reference is None:
        return "none"
    contender = comparison.reference.contender
    options = ",".join(f"{name}={value}" for name, value in sorted(contender.options.items()))
    return f"{contender.framework}:{options}"


def _check_same_sources(before: Comparison, now: Comparison) -> None:
    """Raise ChangedError where the workload's file or a framework's folder is not as it was when it was fixed."""
    check_unchanged(f"the workload's file {before.workload_path}", before.workload_sha256, now.workload_sha256)
    if before.bakeoff == now.bakeoff:  # another version may note other things
        what = f"what the workload's file {before.workload_path} reads elsewhere, as a table or its settings,"
        check_unchanged(what, before.numbers_sha256, now.numbers_sha256)
    folders_now = {plan.framework_path: plan.framework_sha256 for plan in _plans(now)}
    for plan in _plans(before):
        sha256 = folders_now.get(plan.framework_path, plan.framework_sha256)
        check_unchanged(f"the framework's folder {plan.framework_path}", plan.framework_sha256, sha256)


def _plans(comparison: Comparison) -> list[ContenderPlan]:
    """Return the plans of all contenders and of the reference, if there is one."""
    return [*comparison.contenders, *([comparison.reference] if comparison.reference else [])]


def _check_same_packages(before: Comparison, now: Comparison) -> None:
    """Raise StoreError where other packages are installed beside an interpreter than when its contender was fixed."""
    packages_now = {plan.interpreter: plan.packages_sha256 for plan in _plans(now)}
    for plan in _plans(before):
        if plan.packages_sha256 != (packages_now.get(plan.interpreter) or plan.packages_sha256):
            msg = (
                f"cannot go on with {before.id}: what is installed beside {plan.interpreter} is not what it was begun "
                "with: put that back, or start a new comparison (without --resume)"
            )
            raise StoreError(msg)


def check_same_machine(comparison: Comparison, machine: dict[str, str | int | float | None]) -> None:
    """Raise StoreError for records of another machine, with the fact that differs and both values."""
    for key in sorted(comparison.machine.keys() | machine.keys()):
        if key.startswith("gpu_") and key not in comparison.machine:
            continue  # A fact of the same GPU that was not read then.
        before, now = comparison.machine.get(key), machine.get(key)
        if before != now:
            msg = f"cannot go on with {comparison.id}: {key} was {before!r} and is {now!r} here"
            raise StoreError(msg)

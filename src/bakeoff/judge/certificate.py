"""From the evidence on disk to each contender's certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.certify.axes import well_formed
from bakeoff.certify.certificate import certify, refuse
from bakeoff.certify.checks import Exhibit, diverging
from bakeoff.certify.ready_made import certify_ready_made
from bakeoff.certify.varying import ALIKE
from bakeoff.environments.tiers import NATIVE
from bakeoff.spec.errors import StoreError
from bakeoff.spec.trial import spread_name
from bakeoff.store.evidence import EVIDENCE_FILE, read_arrays
from bakeoff.store.results import last, of_contender

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.evidence import Evidence
    from bakeoff.spec.record import Record
    from bakeoff.spec.verdict import Certificate


def certificate_of(
    comparison: Comparison, records: Mapping[str, Record], folder: Path, plan: ContenderPlan
) -> Certificate:
    """Return one contender's certificate, held against the reference; whatever is missing fails closed."""
    label = plan.contender.label
    own = of_contender(records.values(), label)
    mine, program, reference = last(own, "certify"), program_of(comparison, records, plan), reference_of(records, plan)
    size = comparison.workload.sizes[comparison.size]
    if mine is not None and mine.evidence is not None and mine.evidence.ready_made:
        exhibit = _exhibit(mine, mine.evidence, folder)
        return certify_ready_made(exhibit, size=size, scenario=comparison.scenario, batch_size=comparison.batch_size)
    reason = _missing(comparison, mine, reference) or _why_no_program(plan, program)
    if reason or mine is None or reference is None or mine.evidence is None or reference.evidence is None:
        return refuse(label, _reference_label(comparison), reason)
    ran = program if program is not None and program.outcome == "done" else None
    found = _held(comparison, folder, plan, mine, reference, program=ran, alone=program.reason if program else "")
    if nothing := _why_nothing(reference.evidence.losses, found):
        return msgspec.structs.replace(found, reason=nothing)
    why = [*_why_rounded(plan, found), *_why_far(reference.evidence.losses, found)]
    return msgspec.structs.replace(found, reason="; ".join([*_why_close(records, plan, found), found.reason, *why]))


def is_off(comparison: Comparison, records: Mapping[str, Record], folder: Path, plan: ContenderPlan) -> bool:
    """Return whether a contender's program is further from the reference in float64 than any may be.

    Not where what float64 loses was measured, nor where that would excuse nothing: an optimiser by its formula, what is
    no number or of another shape, and a model that itself has nothing to hold anyone against.
    """
    program, reference = program_of(comparison, records, plan), reference_of(records, plan)
    if program is None or program.outcome != "done" or program.evidence is None:
        return False
    if reference is None or reference.outcome != "done" or reference.evidence is None:
        return False
    if "float64" in reference.evidence.spreads:
        return False
    found = _held(comparison, folder, plan, program, reference)
    failed = [check for check in found.checks if not check.passed and check.stage == "program"]
    if any(check.name == "optimizer" or check.error is None for check in failed):
        return False
    return bool(failed) and not _why_nothing(reference.evidence.losses, found)


def _held(  # noqa: PLR0913 - both sides, and what is asked of them
    comparison: Comparison,
    folder: Path,
    plan: ContenderPlan,
    mine: Record,
    reference: Record,
    *,
    program: Record | None = None,
    alone: str = "",
) -> Certificate:
    """Return the certificate of evidence that is there, with that of the same code in float64 or why there is none."""
    assert mine.evidence is not None
    assert reference.evidence is not None
    size = comparison.workload.sizes[comparison.size]
    return certify(
        _exhibit(mine, mine.evidence, folder),
        _as_kept_by(plan, _exhibit(reference, reference.evidence, folder)),
        workload=comparison.workload,
        size=msgspec.structs.replace(size, batch_size=mine.trial.batch_size),
        scenario=comparison.scenario,
        per_sample=comparison.per_sample,
        steps=_steps(reference, reference.evidence),
        program=_exhibit(program, program.evidence, folder) if program and program.evidence else None,
        alone=plan.no_program or alone,
    )


def _why_nothing(losses: Sequence[float | None], found: Certificate) -> str:
    """Return why the model, with its data, is what to mend, where the reference has nothing to hold anyone against."""
    failed = {check.name: check.detail for check in found.checks if not check.passed}
    if not found.passed and losses and losses[0] is None:
        return f"the very first loss is no finite number, {_OF_MODEL}: {_NOT_FINITE}"
    if (detail := failed.get("informative", "")) and ALIKE in detail and failed.keys() == {"informative"}:
        return f"{detail}, {_OF_MODEL}: look for data that are all alike, and for a layer that is 0 everywhere"
    return ""


_OF_MODEL = "in float64, too, which comes from the model or its data and not from a framework"

_NOT_FINITE = "look for a logarithm or root of what is not positive, a division by 0, and numbers that are very large"


def _why_close(records: Mapping[str, Record], plan: ContenderPlan, found: Certificate) -> list[str]:
    """Return why a program that failed was allowed no more than float64 always is, where more was to be measured."""
    behind = records.get(spread_name(plan.whose))
    failed = any(not check.passed and check.stage == "program" for check in found.checks)
    if not failed or behind is None or behind.outcome == "done":
        return []
    return [f"what float64 itself loses in this model could not be measured: {behind.reason}{_advice(behind)}"]


def _why_rounded(plan: ContenderPlan, found: Certificate) -> list[str]:
    """Return what a contender is known to round off where a check failed for it, and settings that lose less."""
    failed = {check.name for check in found.checks if not check.passed}
    in_float64 = {check.name for check in found.checks if not check.passed and check.stage == "program"}
    said = [reason for name, reason in plan.rounding.items() if name in failed - in_float64]
    if plan.more_exact and failed & BY_DIGITS:
        advice = " and ".join(f"{plan.contender.framework}:{setting}" for setting in plan.more_exact)
        said.append(f"{advice} would lose fewer digits")
    return said


def _why_far(losses: Sequence[float | None], found: Certificate) -> list[str]:
    """Return that training diverges in the reference, too, where a contender failed: that magnifies any rounding."""
    far = "" if found.passed else diverging(losses)
    return [f"{far}, which a smaller learning rate may mend, or inputs that are scaled to about 1"] if far else []


BY_DIGITS = frozenset({"outputs", "loss", "gradients", "trajectory", "state"})
"""Checks that a loss of digits within the model may fail."""


def _steps(reference: Record, evidence: Evidence) -> int:
    """Return how many losses there have to be; one more than there are for what a stranger may ask beyond these."""
    asked, known = reference.trial.certify_steps, len(evidence.losses)
    return (asked if 0 <= asked <= known else known) + 1


def reference_of(records: Mapping[str, Record], plan: ContenderPlan) -> Record | None:
    """Return the record of the reference that a contender is held against; None before there is one.

    The one with its spread in float64, where that was measured behind it: it stands for no reference that failed.
    """
    own, behind = records.get(plan.whose), records.get(spread_name(plan.whose))
    are_done = all(one is not None and one.outcome == "done" for one in (own, behind))
    return behind if are_done else own


def failed_reference(records: Mapping[str, Record], plan: ContenderPlan) -> Record | None:
    """Return the record of the reference whose failure leaves a contender without certificate; None where none does."""
    found = None if plan.contender.options.get("tier") == NATIVE else reference_of(records, plan)
    return found if found is not None and found.outcome != "done" else None


def program_of(comparison: Comparison, records: Mapping[str, Record], plan: ContenderPlan) -> Record | None:
    """Return the record of a contender's code in float64: the reference's where that is the same code and settings."""
    asked = plan.in_float64()
    if asked is None:
        return None
    if comparison.reference is not None and asked.runs_as(comparison.reference):
        return reference_of(records, plan)
    return last(of_contender(records.values(), plan.contender.label), "program")


CANNOT = frozenset({"unsupported", "unavailable", "out-of-memory", "killed", "timeout"})
"""Outcomes of a program in float64 that say nothing against what is timed: float64 takes twice the memory, and more
time. The timed settings are held alone, and the report says why. What another process has killed is to be done again.
"""


def _why_no_program(plan: ContenderPlan, program: Record | None) -> str:
    """Return why a contender's program does not count, although it should run in float64; empty where it does."""
    could = program is not None and program.outcome in {"done", *CANNOT} and program.killed_by != "other"
    if plan.program is None or could:
        return ""
    return f"in float64: {program.reason}" if program else "its program was not run in float64 yet"


def _missing(comparison: Comparison, mine: Record | None, reference: Record | None) -> str:
    """Return why there is no evidence to compare; empty where there is."""
    if mine is not None and mine.outcome != "done":
        return mine.reason
    if mine is None and (reference is None or reference.outcome == "done"):  # else it will never be
        return "its evidence was not computed yet"
    if comparison.reference is None:
        return "no framework here can compute the reference in float64"
    if reference is None or reference.outcome != "done":
        why = reference.reason if reference else "not computed yet"
        advice = _advice(reference) if reference else ""
        return f"the reference ({_reference_label(comparison)}) failed: {why}{advice}"
    return ""


def _advice(record: Record) -> str:
    """Return what to do where a trial of the reference ended as this record says, beside its own reason."""
    return "" if record.killed_by == "other" else _ADVICE.get(record.outcome, "")


_MEMORY = "; float64 takes twice the memory of what is timed and more: give a smaller --batch-size, or add swap"
_ADVICE = {
    "killed": _MEMORY,
    "out-of-memory": _MEMORY,
    "timeout": "; give a smaller --batch-size, or a longer --trial-limit",
}


def _reference_label(comparison: Comparison) -> str:
    """Return the label of the contender that computes the reference; empty where there is none."""
    return comparison.reference.contender.label if comparison.reference else ""


def _exhibit(record: Record, evidence: Evidence, folder: Path) -> Exhibit:
    """Return a trial's evidence with its arrays."""
    arrays = _arrays(folder / record.trial.name, evidence.arrays_sha256)
    contender = record.trial.contender
    return Exhibit(
        label=contender.label,
        evidence=evidence,
        arrays=arrays,
        precision=contender.precision,
        device=contender.device,
    )


def _as_kept_by(plan: ContenderPlan, reference: Exhibit) -> Exhibit:
    """Return a reference with the running statistics that a contender's replicas keep: the mean, or the first's."""
    if plan.sync is None or plan.sync.statistics == "mean":
        return reference
    first = {f"state/{name.removeprefix('first/')}": one for name, one in reference.arrays.items() if "first/" in name}
    return msgspec.structs.replace(reference, arrays=reference.arrays | first)


def _arrays(folder: Path, sha256: str) -> dict[str, NDArray[Any]]:
    """Return a trial's arrays; none where they are not what was written, so that the certificate fails."""
    try:
        return well_formed(read_arrays(folder / EVIDENCE_FILE, sha256))
    except StoreError:
        return {}

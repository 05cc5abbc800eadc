"""From the evidence on disk to each contender's certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.certify.certificate import Exhibit, certify, refuse
from bakeoff.certify.ready_made import certify_ready_made
from bakeoff.spec.errors import StoreError
from bakeoff.store.evidence import EVIDENCE_FILE, read_arrays
from bakeoff.store.results import last, of_contender

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.record import Evidence, Record
    from bakeoff.spec.verdict import Certificate


def certificate_of(
    comparison: Comparison, records: Mapping[str, Record], folder: Path, plan: ContenderPlan
) -> Certificate:
    """Return one contender's certificate, held against the reference; whatever is missing fails closed."""
    label = plan.contender.label
    mine = last(of_contender(records.values(), label), "certify")
    reference = last(records.values(), "reference")
    size = comparison.workload.sizes[comparison.size]
    if mine is not None and mine.evidence is not None and mine.evidence.ready_made:
        exhibit = _exhibit(mine, mine.evidence, folder)
        return certify_ready_made(exhibit, size=size, scenario=comparison.scenario, batch_size=comparison.batch_size)
    reason = _missing(comparison, mine, reference)
    if reason or mine is None or reference is None or mine.evidence is None or reference.evidence is None:
        return refuse(label, _reference_label(comparison), reason)
    return certify(
        _exhibit(mine, mine.evidence, folder),
        _exhibit(reference, reference.evidence, folder),
        workload=comparison.workload,
        size=size.at_batch(comparison.batch_size),
        scenario=comparison.scenario,
        steps=reference.trial.certify_steps + 1,
    )


def _missing(comparison: Comparison, mine: Record | None, reference: Record | None) -> str:
    """Return why there is no evidence to compare; empty where there is."""
    if mine is None:
        return "its evidence was not computed yet"
    if mine.outcome != "done":
        return mine.reason
    if comparison.reference is None:
        return "no framework here can compute the reference in float64"
    if reference is None or reference.outcome != "done":
        why = reference.reason if reference else "not computed yet"
        return f"the reference ({_reference_label(comparison)}) failed: {why}"
    return ""


def _reference_label(comparison: Comparison) -> str:
    """Return the label of the contender that computes the reference; empty where there is none."""
    return comparison.reference.contender.label if comparison.reference else ""


def _exhibit(record: Record, evidence: Evidence, folder: Path) -> Exhibit:
    """Return a trial's evidence with its arrays."""
    arrays = _arrays(folder / record.trial.name, evidence.arrays_sha256)
    contender = record.trial.contender
    options = contender.options
    return Exhibit(
        label=contender.label,
        evidence=evidence,
        arrays=arrays,
        precision=options.get("precision", "float32"),
        device=options.get("device", "cpu"),
    )


def _arrays(folder: Path, sha256: str) -> dict[str, NDArray[Any]]:
    """Return a trial's arrays; none where they are not what was written, so that the certificate fails."""
    try:
        return read_arrays(folder / EVIDENCE_FILE, sha256)
    except StoreError:
        return {}

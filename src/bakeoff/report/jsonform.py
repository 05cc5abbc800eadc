"""An outcome as one JSON object, for programs; docs/json.md documents every key. SI units: seconds, bytes, shares."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.judge.ledger import ledger
from bakeoff.report.cautions import cautions
from bakeoff.report.pairs import kind
from bakeoff.report.region import region
from bakeoff.report.tiers import tier_of
from bakeoff.report.whole import whole_json

if TYPE_CHECKING:
    from bakeoff.judge.compiling import Start
    from bakeoff.judge.ledger import Entry
    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.spec.comparison import Comparison
    from bakeoff.spec.verdict import Interval, Verdict

VERSION = 1
"""Raised when a key changes its meaning or goes away; new keys may come without."""


def to_json(outcome: Outcome) -> dict[str, Any]:
    """Give the object; every documented key is there, and null is not known."""
    document = {
        "version": VERSION,
        "bakeoff": outcome.comparison.bakeoff,
        "timed_region": region(outcome),
        "comparison": _comparison(outcome),
        "machine": outcome.comparison.machine,
        "noise": {
            "calm": outcome.calm,
            "foreign_share": outcome.foreign_share,
            "flagged_rounds": outcome.flagged_rounds,
            "clock_mhz": None if outcome.clock_mhz is None else list(outcome.clock_mhz),
        },
        "contenders": [_contender(contender) for contender in outcome.contenders],
        "ledger": [_entry(entry) for entry in ledger(outcome.contenders)],
        "excluded": outcome.comparison.excluded,
        "verdicts": [_verdict(verdict) for verdict in outcome.verdicts],
        "warnings": cautions(outcome),
        "damaged": outcome.damaged,
    }
    finite: dict[str, Any] = _finite(msgspec.to_builtins(document))
    return finite


def _comparison(outcome: Outcome) -> dict[str, Any]:
    """Give what was compared, and how it went."""
    comparison = outcome.comparison
    return {
        "id": comparison.id,
        "path": outcome.path,
        "created_at": comparison.created_at,
        "command": comparison.command,
        "workload": comparison.workload.name,
        "workload_sha256": comparison.workload_sha256,
        "scenario": comparison.scenario,
        "size": comparison.size,
        "parameters": _parameters(comparison),
        "batch_size": comparison.batch_size,
        "data": comparison.data.source,
        "data_sha256": comparison.data.sha256,
        "reference": comparison.reference.contender.label if comparison.reference else None,
        "margin": comparison.procedure.margin,
        "aim": comparison.procedure.aim,
        "no_energy": comparison.no_energy,
        "max_rounds": comparison.procedure.max_rounds,
        "budget_s": comparison.procedure.budget_s,
        "seed": comparison.procedure.seed,
        "epochs": comparison.procedure.epochs,
        "steps": comparison.procedure.steps,
        "repeats": comparison.procedure.repeats,
        "rounds": outcome.rounds,
        "processes": outcome.processes,
        "cut_steps": outcome.cut_steps,
        "resident": outcome.resident,
        "ended": outcome.ended,
    }


def _parameters(comparison: Comparison) -> int | None:
    """Give the number of parameters that the workload declares."""
    size = comparison.workload.sizes.get(comparison.size)
    return size.parameters if size else None


def _contender(contender: ContenderOutcome) -> dict[str, Any]:
    """Give what is known of one contender."""
    memory = contender.memory
    return {
        "label": contender.label,
        "framework": contender.plan.contender.framework,
        "options": contender.plan.contender.options,
        "tier": tier_of(contender),
        "best": msgspec.to_builtins(contender.plan.best),
        "best_left": contender.plan.best_left,
        "status": contender.status,
        "reason": contender.reason,
        "rounds": contender.rounds,
        "step_s": contender.median_step_s,
        "step_interval_s": _bounds(contender.step_s),
        "mean_step_s": contender.mean_step_s,
        "samples_per_s": contender.samples_per_s,
        "fenced_p50_s": contender.fenced_p50_s,
        "fenced_p90_s": contender.fenced_p90_s,
        "fenced_steps": contender.fenced_steps,
        "hidden_s": contender.hidden_s.estimate if contender.hidden_s else None,
        "hidden_interval_s": _bounds(contender.hidden_s),
        "timer": msgspec.to_builtins(contender.timer) if contender.timer else None,
        "import_s": contender.import_s,
        "build_s": contender.build_s,
        "first_step_s": contender.first_step_s,
        "compile_s": contender.compile_s,
        "compilation": _compilation(contender),
        "memory": {
            "baseline_bytes": memory.baseline_bytes if memory else None,
            "peak_bytes": memory.peak_bytes if memory else None,
            "device_peak_bytes": memory.device_peak_bytes if memory else None,
            "device_reserved_bytes": memory.device_reserved_bytes if memory else None,
            "device_preallocation": memory.device_preallocation if memory else None,
            "device_process_bytes": memory.device_process_bytes if memory else None,
            "device_readings": memory.device_readings if memory else None,
            "device_reason": memory.device_reason if memory else "",
        },
        "energy": _energy(contender),
        "whole": whole_json(contender),
        "accuracy": contender.accuracy,
        "learning_steps": contender.learning_steps,
        "settings": contender.settings,
        "inherited": contender.inherited,
        "versions": contender.versions,
        "python": contender.python,
        "cores_used": contender.counters.cores_used,
        "minor_faults_per_step": contender.counters.minor_faults_per_step,
        "major_faults": contender.counters.major_faults,
        "gpu": [msgspec.to_builtins(one) for one in contender.gpu],
        "steady": contender.steady,
        "blocks": len(contender.blocks),
        "flagged_blocks": sum(block.flagged for block in contender.blocks),
        "certificate": _certificate(contender),
    }


def _compilation(contender: ContenderOutcome) -> dict[str, Any] | None:
    """Give what a contender compiled, and when."""
    known = contender.compiling
    if known is None:
        return None
    return {"cold": _start(known.cold), "warm": _start(known.warm), "count": known.count, "again": known.again}


def _start(start: Start | None) -> dict[str, Any] | None:
    """Give the parts of a first step."""
    return None if start is None else msgspec.to_builtins(start)


def _entry(entry: Entry) -> dict[str, Any]:
    """Give one setting, contenders side by side."""
    told: dict[str, Any] = msgspec.to_builtins(entry)
    return told | {"strays": list(entry.strays)}


def _energy(contender: ContenderOutcome) -> dict[str, Any] | None:
    """Give what a contender's steps cost."""
    known = contender.energy
    if known is None:
        return None
    return {
        "joules_per_sample": known.joules_per_sample,
        "interval_joules": _bounds(known.interval),
        "rounds": known.rounds,
        "source": known.source,
    }


def _bounds(interval: Interval | None) -> list[float] | None:
    """Give an interval as [low, high]."""
    return None if interval is None else [interval.low, interval.high]


def _certificate(contender: ContenderOutcome) -> dict[str, Any] | None:
    """Give a contender's certificate, check by check."""
    certificate = contender.certificate
    if certificate is None:
        return None
    return {
        "passed": certificate.passed,
        "ready_made": certificate.ready_made,
        "reference": certificate.reference,
        "reason": certificate.reason,
        "checks": msgspec.to_builtins(certificate.checks),
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    """Give what is known of one pair; below the first look its verdict is "no verdict"."""
    known: dict[str, Any] = msgspec.to_builtins(verdict)
    return known | {"verdict": kind(verdict)}


def _finite(value: Any) -> Any:
    """Replace what JSON cannot say, infinity and not-a-number, by null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

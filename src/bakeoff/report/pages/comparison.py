"""The page of a comparison: its subjects in the order in which they are read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.report.page import Page, Section
from bakeoff.report.sections.certificate import CERTIFICATE, same_work_within
from bakeoff.report.sections.compiling import COMPILING
from bakeoff.report.sections.counters import COUNTERS
from bakeoff.report.sections.energy import ENERGY
from bakeoff.report.sections.figures import ABSENT, STEPS, SUMMARY
from bakeoff.report.sections.gpu import GPU
from bakeoff.report.sections.independence import INDEPENDENCE
from bakeoff.report.sections.late import LATE
from bakeoff.report.sections.light import LIGHT
from bakeoff.report.sections.memory import MEMORY, MEMORY_DRAWN
from bakeoff.report.sections.noise import CALM, NOISE, evidence
from bakeoff.report.sections.padding import PADDING
from bakeoff.report.sections.runs import RUNS
from bakeoff.report.sections.scaling import SCALING
from bakeoff.report.sections.settings import ENVIRONMENT, SETTINGS
from bakeoff.report.sections.tiers import TIERS
from bakeoff.report.sections.timing import TIMING
from bakeoff.report.sections.verdicts import PAIRS, VERDICTS, headline
from bakeoff.report.sections.whole import WHOLE
from bakeoff.report.words import machine_line, measured_line, source_name
from bakeoff.spec.per_sample import clipping_words
from bakeoff.spec.trial import FIXED

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.report.page import Subject

VERSION = 1
"""Of the JSON object, which docs/json.md documents: raised when a key changes its meaning or goes away; new keys may
come without. SI units: seconds, bytes, shares."""

SUBJECTS: tuple[Subject, ...] = (
    CALM,
    SUMMARY,
    VERDICTS,
    INDEPENDENCE,
    TIERS,
    SCALING,
    ABSENT,
    PAIRS,
    STEPS,
    MEMORY_DRAWN,
    RUNS,
    LIGHT,
    CERTIFICATE,
    TIMING,
    PADDING,
    NOISE,
    COMPILING,
    MEMORY,
    COUNTERS,
    ENERGY,
    GPU,
    LATE,
    SETTINGS,
    ENVIRONMENT,
    WHOLE,
)
"""In the order of tables, of sentences, of warnings, of pictures and of folds."""


def comparison_page(outcome: Outcome) -> Page:
    """Return the page of a comparison."""
    comparison = outcome.comparison
    return Page(
        title=work(outcome),
        headline=headline(outcome),
        beside=machine_line(outcome),
        trust=f"{same_work_within(outcome)}. {evidence(outcome)}.",
        sections=_sections(outcome),
        measured=measured_line(outcome.contenders, comparison.bakeoff, comparison.created_at),
        command=comparison.command,
        path=outcome.path,
        data=_data(outcome),
    )


def cautions(outcome: Outcome) -> list[str]:
    """Return every warning in a sentence; none twice."""
    return list(dict.fromkeys(said for subject in SUBJECTS for said in subject.cautions(outcome)))


def _sections(outcome: Outcome) -> list[Section]:
    """Return what the subjects say: tables, sentences, folds, warnings, pictures, and what has a title of its own."""
    found = [section for subject in SUBJECTS for section in subject.sections(outcome)]
    found.append(Section(kind="warnings", words=cautions(outcome)))
    return _shared(sorted((section for section in found if not section.is_empty), key=_place))


def _place(section: Section) -> int:
    """Return how far down a section stands."""
    if section.kind == "open":
        return 5 if section.title else 0 if section.tables else 1
    return {"fold": 2, "warnings": 3, "page": 4}[section.kind]


def _shared(sections: list[Section]) -> list[Section]:
    """Return the sections, with neighbours that share a title, or are sentences alone, made one."""
    found: list[Section] = []
    for section in sections:
        last = found[-1] if found else None
        if last and _is_shared(last, section):
            parts = {name: getattr(last, name) + getattr(section, name) for name in ("words", "notes", "tables")}
            found[-1] = msgspec.structs.replace(last, **parts)
        else:
            found.append(section)
    return found


def _is_shared(first: Section, second: Section) -> bool:
    """Return whether two neighbours are one section."""
    if first.kind != second.kind or first.title != second.title:
        return False
    return bool(first.title) or (first.kind == "open" and not first.tables and not second.tables)


def work(outcome: Outcome) -> str:
    """Return the work in one line: "mlp-mnist, train, batch 32, float32, digits"."""
    comparison = outcome.comparison
    counted = [one for one in outcome.contenders if one.status == "ranked"] or outcome.contenders
    options = [one.plan.contender.options for one in counted]
    precisions = sorted({option["precision"] for option in options if "precision" in option})
    devices = sorted({option["device"] for option in options if "device" in option})
    parts = [comparison.workload.name, comparison.scenario, f"batch {comparison.batch_size}"]
    parts += [words] if (words := clipping_words(comparison.per_sample)) else []
    parts += [] if comparison.size == "full" else [f"{comparison.size} size"]
    parts += ["/".join(precisions)] if precisions else []
    parts += ["/".join(devices)] if devices != ["cpu"] and devices else []
    inputs = sorted({option.get("input", "resident") for option in options} - {"resident"})
    parts += [f"input {'/'.join(inputs)}"] if inputs else []
    parts += [f"padding {comparison.data.padding}"] if comparison.data.padding != FIXED else []
    return ", ".join([*parts, source_name(comparison)])


# --- For programs -------------------------------------------------------------------------------------------------


def _data(outcome: Outcome) -> dict[str, Any]:
    """Return the JSON object; every documented key is there, and null is not known."""
    document: dict[str, Any] = {
        "version": VERSION,
        "bakeoff": outcome.comparison.bakeoff,
        "headline": headline(outcome),
        "comparison": _comparison(outcome),
        "contenders": [
            {name: value for subject in SUBJECTS for name, value in subject.fields(contender).items()}
            for contender in outcome.contenders
        ],
        "warnings": cautions(outcome),
    }
    for subject in SUBJECTS:
        document |= subject.data(outcome)
    finite: dict[str, Any] = finite_only(msgspec.to_builtins(document))
    return finite


def _comparison(outcome: Outcome) -> dict[str, Any]:
    """Return what was compared, and how it went."""
    comparison = outcome.comparison
    size = comparison.workload.sizes.get(comparison.size)
    procedure: dict[str, Any] = msgspec.to_builtins(comparison.procedure)
    del procedure["trial_limit_s"]
    return procedure | {
        "id": comparison.id,
        "path": outcome.path,
        "created_at": comparison.created_at,
        "command": comparison.command,
        "workload": comparison.workload.name,
        "workload_sha256": comparison.workload_sha256,
        "scenario": comparison.scenario,
        "per_sample": comparison.per_sample,
        "size": comparison.size,
        "parameters": size.parameters if size else None,
        "batch_size": comparison.batch_size,
        "data": comparison.data.source,
        "data_sha256": comparison.data.sha256,
        "reference": comparison.reference.contender.label if comparison.reference else None,
        "no_energy": comparison.no_energy,
        "rounds": outcome.rounds,
        "processes": outcome.processes,
        "cut_steps": outcome.cut_steps,
        "first_step": outcome.first_step,
        "repeated_turns": outcome.repeated_turns,
        "resident": outcome.resident,
        "apart": outcome.apart,
        "ended": outcome.ended,
    }


def finite_only(value: Any) -> Any:
    """Return the value with what JSON cannot say, infinity and not-a-number, as null."""
    if isinstance(value, dict):
        return {key: finite_only(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite_only(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

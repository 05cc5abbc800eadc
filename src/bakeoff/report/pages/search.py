"""The page of a search for the largest batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.report.page import Line, Page, Picture, Section, Table
from bakeoff.report.pictures.search import attempts_chart
from bakeoff.report.sections.certificate import verified
from bakeoff.report.units import UNKNOWN, listed, percent, size
from bakeoff.report.words import measured_line
from bakeoff.spec.per_sample import clipping_words
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.text import count

if TYPE_CHECKING:
    from bakeoff.judge.search import Attempt, LargestBatch, SearchOutcome
    from bakeoff.spec.comparison import Search
    from bakeoff.spec.record import Memory

VERSION = 1
"""Of the JSON object, which docs/json-max-batch.md documents: raised when a key changes its meaning or goes away."""

ON_DEVICE = "the framework's live peak on the device"
ON_HOST = "the process's peak beyond its import"


def search_page(outcome: SearchOutcome) -> Page:
    """Return the page of a search."""
    plan, answer = outcome.search.plan, headline(outcome)
    is_drawn = any(one.attempts for one in outcome.found)
    picture = Section(
        kind="page",
        picture=Picture(answer, lambda width: attempts_chart(outcome, width)),
        tables=[attempt_table(outcome)],
    )
    return Page(
        title=_work(outcome),
        headline=answer,
        trust=_trust(outcome),
        sections=[
            Section(tables=[table(outcome)]),
            Section(words=sentences(outcome)),
            *([picture] if is_drawn else []),
        ],
        begun=f"bakeoff {plan.bakeoff}, search {plan.id}, begun {plan.created_at}.",
        measured=measured_line(outcome.found, plan.bakeoff, plan.created_at),
        command=plan.command,
        path=outcome.path,
        data=_data(outcome),
    )


def _trust(outcome: SearchOutcome) -> str:
    """Return whether the contenders do the same work, and what was run; without certificates only the latter."""
    attempts = sum(len(one.attempts) for one in outcome.found)
    work = f"{verified(outcome.found)}. " if any(one.certificate for one in outcome.found) else ""
    return f"{work}{count(attempts, 'fresh process')}."


def headline(outcome: SearchOutcome) -> str:
    """Return the answer in a sentence."""
    verb = SCENARIOS[outcome.search.plan.scenario].verb
    return f"Largest batch that {verb}: {listed(f'{one.label} {largest(one)}' for one in _ordered(outcome))}."


def largest(one: LargestBatch) -> str:
    """Return the largest batch in words: a bound where the search has not ended by itself."""
    if one.state == "uncertified" or one.largest is None:
        return "none" if one.state == "nothing" else "not known"
    return f"{one.largest:,}" if one.state == "found" else f"at least {one.largest:,}"


def table(outcome: SearchOutcome) -> Table:
    """Return what was found for each contender, the largest batch first."""
    heads = ["contender", "largest batch", "memory at it", "does not fit", "because", "attempts"]
    lines = [Line(_cells(one), colour=one.plan.drawn_in) for one in _ordered(outcome)]
    return Table(heads, lines, prose=heads.index("because"))


def attempt_table(outcome: SearchOutcome) -> Table:
    """Return every attempt, which the picture shows."""
    heads = ["contender", "batch", "fits", "process's peak beyond its import", "live peak on the device"]
    lines = []
    for one in _ordered(outcome):
        for attempt in one.attempts:
            fits = {True: "fits", False: "does not fit", None: "failed"}[attempt.fits]
            device = attempt.memory.device_peak_bytes if attempt.memory else None
            held = [size(attempt.peak_bytes), "" if device is None else size(device)]
            lines.append(Line([one.label, f"{attempt.batch_size:,}", fits, *held], marked=attempt.fits is None))
    return Table(heads, lines)


def sentences(outcome: SearchOutcome) -> list[str]:
    """Return what the figures are, and what they are not."""
    search, plan = outcome.search, outcome.search.plan
    meaning = ON_DEVICE if _all_on_device(outcome) else ON_HOST
    ends = f"a search ends within {percent(search.precision)}"
    said = [
        _limit(search),
        f"Memory: {meaning}, from the first step on.",
        f"Each attempt is a process of its own, and {ends}; no interval stands behind these figures.",
    ]
    policies = {one.label: m.device_preallocation for one in outcome.found if (m := _memory(one.at_largest))}
    told = [f"{label} {policy}" for label, policy in policies.items() if policy]
    said += [f"Taken beforehand on the device: {listed(told)}."] if told else []
    said += [f"{label} was left out: {reason}." for label, reason in plan.excluded.items()]
    return said + [f"Not used: {sentence}." for sentence in outcome.damaged]


def _limit(search: Search) -> str:
    """Return what all attempts had to keep within."""
    if search.gpu_limit_bytes is not None:
        share = f"{percent(search.gpu_limit_bytes / (search.gpu_free_bytes or 1))} of the {size(search.gpu_free_bytes)}"
        asked = "as asked" if search.asked_bytes else f"{share} that were free"
        return (
            f"Limit: {size(search.gpu_limit_bytes)} of the GPU for each framework's allocator ({asked}), set by its "
            "own means; the process's context, 0.3 to 0.6 GB in most, is beyond it."
        )
    share = f"{percent(search.limit_bytes / search.available_bytes)} of the {size(search.available_bytes)} available"
    asked = "as asked" if search.asked_bytes else share
    return (
        f"Limit: {size(search.limit_bytes)} of resident memory beyond the import ({asked}), on an accelerator its own."
    )


def _work(outcome: SearchOutcome) -> str:
    """Return the work in one line."""
    plan = outcome.search.plan
    precisions = sorted({one.contender.options.get("precision", "") for one in plan.contenders} - {""})
    words = clipping_words(plan.per_sample)
    parts = [
        plan.workload.name,
        plan.scenario,
        *([words] if words else []),
        *([] if plan.size == "full" else [f"{plan.size} size"]),
    ]
    return f"{', '.join([*parts, *(['/'.join(precisions)] if precisions else [])])}: the largest batch"


def _ordered(outcome: SearchOutcome) -> list[LargestBatch]:
    """Return what was found, the largest first."""
    return sorted(outcome.found, key=lambda one: -(one.largest or 0))


def _cells(one: LargestBatch) -> list[str]:
    """Return the cells of one contender."""
    beyond = one.at_too_large
    too_large = "" if one.too_large is None else f"{one.too_large:,}"
    reason = beyond.reason if beyond else ""
    if one.state in ("stopped", "uncertified", "unfinished", "unbounded"):
        reason = f"{one.state}: {one.reason}"
    return [one.label, largest(one), _held(one.at_largest), too_large, reason, count(len(one.attempts), "process")]


def _memory(attempt: Attempt | None) -> Memory | None:
    """Return the memory that an attempt's record holds."""
    return attempt.memory if attempt else None


def _held(attempt: Attempt | None) -> str:
    """Return the memory at an attempt: of the device where it is known."""
    if attempt is None:
        return ""
    device = attempt.memory.device_peak_bytes if attempt.memory else None
    held = attempt.peak_bytes if device is None else device
    return UNKNOWN if held is None else size(held)


def _all_on_device(outcome: SearchOutcome) -> bool:
    """Return whether the memory on devices is known for every result."""
    seen = [memory for one in outcome.found if (memory := _memory(one.at_largest))]
    return bool(seen) and all(memory.device_peak_bytes is not None for memory in seen)


# --- For programs -------------------------------------------------------------------------------------------------


def _data(outcome: SearchOutcome) -> dict[str, Any]:
    """Return the JSON object; null is not known."""
    search, plan = outcome.search, outcome.search.plan
    names = ("limit_bytes", "asked_bytes", "available_bytes", "gpu_limit_bytes", "gpu_free_bytes", "precision")
    limits = {name: getattr(search, name) for name in names}
    document = {
        "version": VERSION,
        "bakeoff": plan.bakeoff,
        "search": {
            "id": plan.id,
            "path": outcome.path,
            "created_at": plan.created_at,
            "command": plan.command,
            "workload": plan.workload.name,
            "workload_sha256": plan.workload_sha256,
            "scenario": plan.scenario,
            "per_sample": plan.per_sample,
            "size": plan.size,
            "first_batch_size": plan.batch_size,
            "data": plan.data.source,
            "seed": plan.procedure.seed,
        }
        | limits,
        "machine": plan.machine,
        "contenders": [_fields(one) for one in outcome.found],
        "excluded": plan.excluded,
        "damaged": outcome.damaged,
    }
    plain: dict[str, Any] = msgspec.to_builtins(document)
    return plain


def _fields(one: LargestBatch) -> dict[str, Any]:
    """Return what was found for one contender."""
    fields: dict[str, Any] = msgspec.to_builtins(one)
    del fields["plan"], fields["certificate"]
    return fields | {
        "framework": one.plan.contender.framework,
        "options": one.plan.contender.options,
        "attempts": [_attempt(attempt) for attempt in one.attempts],
        "certified": one.certificate is not None and one.certificate.passed,
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    """Return one attempt, with what its record holds of a device."""
    fields: dict[str, Any] = msgspec.to_builtins(attempt)
    del fields["memory"], fields["suspected"]
    names = ("device_peak_bytes", "device_reserved_bytes", "device_process_bytes", "device_preallocation")
    return fields | {name: getattr(attempt.memory, name, None) for name in names}

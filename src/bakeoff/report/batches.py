"""A search for the largest batch, reported: on a terminal, as Markdown, as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from bakeoff.report.markdown import escaped, table
from bakeoff.report.terminal import readable
from bakeoff.report.units import UNKNOWN, count, listed, percent, size

if TYPE_CHECKING:
    from bakeoff.judge.search import Attempt, Found, SearchOutcome

VERSION = 1
"""Of the JSON object; raised when a key changes its meaning or goes away."""

HEADS = ["contender", "largest batch", "memory at it", "does not fit", "because", "attempts"]

REPORT_FILE = "report.md"

_VERBS = {"train": "trains", "infer": "infers"}

ON_DEVICE = "the framework's live peak on the device"
ON_HOST = "the process's peak beyond its import"


def show(outcome: SearchOutcome, console: Console | None = None) -> None:
    """Print an outcome: the answer, the table, what it means, and where the records are."""
    console = console or Console()
    plan = outcome.search.plan

    def say(text: str = "", *, whole: bool = False) -> None:
        shown = Text(readable(text, console.encoding))
        console.print(shown, soft_wrap=whole, highlight=False, emoji=False)

    say()
    say(_work(outcome))
    say()
    say(headline(outcome))
    say()
    rows = [HEADS, *([readable(cell, console.encoding) for cell in row] for row in rows_of(outcome))]
    # The reason is a sentence, so it stands beneath its line.
    short = [[*row[:4], row[5]] for row in rows]
    widths = [max(cell_len(row[index]) for row in short) for index in range(len(short[0]))]
    for row, cells in zip(rows, short, strict=True):
        padded = [cell + " " * (width - cell_len(cell)) for cell, width in zip(cells, widths, strict=True)]
        say("  ".join(padded).rstrip(), whole=True)
        if row is not HEADS and row[4]:
            say(f"  {row[3] or row[0]}: {row[4]}")
    say()
    for sentence in sentences(outcome):
        say(sentence)
    say()
    say(f"records  {outcome.path}", whole=True)
    if plan.command:
        say(f"again    {plan.command}", whole=True)


def to_markdown(outcome: SearchOutcome) -> str:
    """Give the section of one search."""
    lines = [f"- {escaped(sentence)}" for sentence in sentences(outcome)]
    parts = [
        f"## {escaped(_work(outcome))}",
        f"**{escaped(headline(outcome))}**",
        table(HEADS, rows_of(outcome), numbers=(1, 2, 3, 5)).rstrip(),
        "\n".join(lines),
    ]
    command = outcome.search.plan.command
    parts += [f"Repeat it with\n\n```\n{command}\n```"] if command else []
    return "\n\n".join(parts) + "\n"


def save(outcome: SearchOutcome) -> Path:
    """Write the Markdown into the search's folder; give its path."""
    from bakeoff.store.files import write_atomically

    path = Path(outcome.path) / REPORT_FILE
    write_atomically(path, to_markdown(outcome).encode())
    return path


def to_json(outcome: SearchOutcome) -> dict[str, Any]:
    """Give the object that docs/json-max-batch.md describes; null is not known."""
    search, plan = outcome.search, outcome.search.plan
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
            "size": plan.size,
            "first_batch_size": plan.batch_size,
            "data": plan.data.source,
            "seed": plan.procedure.seed,
            "limit_bytes": search.limit_bytes,
            "asked_bytes": search.asked_bytes,
            "available_bytes": search.available_bytes,
            "precision": search.precision,
        },
        "machine": plan.machine,
        "contenders": [_contender(one) for one in outcome.found],
        "excluded": plan.excluded,
        "damaged": outcome.damaged,
    }
    plain: dict[str, Any] = msgspec.to_builtins(document)
    return plain


def headline(outcome: SearchOutcome) -> str:
    """Answer in a sentence."""
    verb = _VERBS[outcome.search.plan.scenario]
    return f"Largest batch that {verb}: {listed(f'{one.label} {largest(one)}' for one in _ordered(outcome))}."


def largest(one: Found) -> str:
    """Give the largest batch in words: a bound where the search has not ended by itself."""
    if one.state == "uncertified" or one.largest is None:
        return "none" if one.state == "nothing" else "not known"
    return f"{one.largest:,}" if one.state == "found" else f"at least {one.largest:,}"


def rows_of(outcome: SearchOutcome) -> list[list[str]]:
    """Give the table, the largest batch first."""
    return [_row(one) for one in _ordered(outcome)]


def sentences(outcome: SearchOutcome) -> list[str]:
    """Say what the figures are, and what they are not."""
    search, plan = outcome.search, outcome.search.plan
    share = f"{percent(search.limit_bytes / search.available_bytes)} of the {size(search.available_bytes)} available"
    asked = "as asked" if search.asked_bytes else share
    meaning = ON_DEVICE if _all_on_device(outcome) else ON_HOST
    ends = f"a search ends within {percent(search.precision)}"
    said = [
        f"Limit: {size(search.limit_bytes)} of resident memory beyond the import ({asked}), on an accelerator its own.",
        f"Memory: {meaning}, from the first step on.",
        f"Each attempt is a process of its own, and {ends}; no interval stands behind these figures.",
    ]
    policies = {one.label: m.device_preallocation for one in outcome.found if (m := _memory(one.at_largest))}
    told = [f"{label} {policy}" for label, policy in policies.items() if policy]
    said += [f"Taken beforehand on the device: {listed(told)}."] if told else []
    said += [f"{label} was left out: {reason}." for label, reason in plan.excluded.items()]
    return said + [f"Set aside, not used: {sentence}." for sentence in outcome.damaged]


def _work(outcome: SearchOutcome) -> str:
    """Name the work in one line."""
    plan = outcome.search.plan
    precisions = sorted({one.contender.options.get("precision", "") for one in plan.contenders} - {""})
    parts = [plan.workload.name, plan.scenario, *([] if plan.size == "full" else [f"{plan.size} size"])]
    return f"{', '.join([*parts, *(['/'.join(precisions)] if precisions else [])])}: the largest batch"


def _ordered(outcome: SearchOutcome) -> list[Found]:
    """Put the largest first."""
    return sorted(outcome.found, key=lambda one: -(one.largest or 0))


def _row(one: Found) -> list[str]:
    """Put one contender into words."""
    beyond = one.at_too_large
    too_large = "" if one.too_large is None else f"{one.too_large:,}"
    reason = beyond.reason if beyond else ""
    if one.state in ("stopped", "uncertified", "unfinished", "unbounded"):
        reason = f"{one.state}: {one.reason}"
    return [one.label, largest(one), _held(one.at_largest), too_large, reason, count(len(one.attempts), "process")]


def _memory(attempt: Attempt | None) -> Any:
    """Give what an attempt's record tells of memory."""
    return attempt.memory if attempt else None


def _held(attempt: Attempt | None) -> str:
    """Give the memory at an attempt: of the device where it tells."""
    if attempt is None:
        return ""
    device = attempt.memory.device_peak_bytes if attempt.memory else None
    held = attempt.peak_bytes if device is None else device
    return UNKNOWN if held is None else size(held)


def _all_on_device(outcome: SearchOutcome) -> bool:
    """Tell whether devices tell the memory of all that was found."""
    seen = [memory for one in outcome.found if (memory := _memory(one.at_largest))]
    return bool(seen) and all(memory.device_peak_bytes is not None for memory in seen)


def _contender(one: Found) -> dict[str, Any]:
    """Give what was found for one contender."""
    return {
        "label": one.label,
        "framework": one.plan.contender.framework,
        "options": one.plan.contender.options,
        "state": one.state,
        "reason": one.reason,
        "largest": one.largest,
        "too_large": one.too_large,
        "attempts": [_attempt(attempt) for attempt in one.attempts],
        "certified": one.certificate is not None and one.certificate.passed,
        "settings": one.settings,
        "versions": one.versions,
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    """Give one attempt."""
    memory = attempt.memory
    return {
        "batch_size": attempt.batch_size,
        "fits": attempt.fits,
        "outcome": attempt.outcome,
        "reason": attempt.reason,
        "peak_bytes": attempt.peak_bytes,
        "device_peak_bytes": memory.device_peak_bytes if memory else None,
        "device_reserved_bytes": memory.device_reserved_bytes if memory else None,
        "device_process_bytes": memory.device_process_bytes if memory else None,
        "device_preallocation": memory.device_preallocation if memory else None,
    }

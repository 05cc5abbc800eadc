"""Step times: the table of those that are ranked, those that are not, and the first picture with its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.report.page import Line, Picture, Section, Subject, Table
from bakeoff.report.pictures.comparison import step_time_chart
from bakeoff.report.sections import light
from bakeoff.report.standings import (
    between,
    bounds,
    fastest,
    kind,
    ranked,
    ratio_text,
    step_parts,
    step_unit,
    throughput_parts,
)
from bakeoff.report.units import UNKNOWN, duration, size, unit_for

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.spec.verdict import Interval

ON_DEVICE = "the most that the framework held on the device"
ON_HOST = "the process's peak beyond its import"


def against(outcome: Outcome) -> str:
    """Return what the ratios of the table are against."""
    labels = [contender.label for contender in ranked(outcome)]
    return "against the fastest" if fastest(labels, outcome.verdicts) is not None else "against the first"


def summary(outcome: Outcome) -> Table:
    """Return the table of those that are ranked; an empty cell has nothing to say, "unknown" was not measured."""
    found = ranked(outcome)
    share = [light.HEAD] if light.is_known(outcome) else []
    numbers = ["samples/s", *share, "first step", "memory"]
    heads = ["contender", "step time", "95 %", *numbers, against(outcome), "verdict"]
    lines = [Line(_cells(contender, outcome, found), colour=contender.plan.drawn_in) for contender in found]
    return Table(heads, lines, last_words=2, right=tuple(range(3, 3 + len(numbers))), joined=True)


def _cells(contender: ContenderOutcome, outcome: Outcome, found: list[ContenderOutcome]) -> list[str]:
    """Return the cells of one contender of the table."""
    first_step = unit_for([max((other.first_step_s or 0.0) for other in found)])
    held = _device_bytes(contender) if _is_on_device(found) else _process_bytes(contender)
    pair = between(outcome.verdicts, contender.label, found[0].label)
    return [
        contender.label,
        *step_parts(contender, step_unit(outcome)),
        throughput_parts(contender, outcome.comparison.batch_size)[0],
        *([light.share_cell(contender)] if light.is_known(outcome) else []),
        duration(contender.first_step_s, first_step),
        size(held),
        ratio_text(pair, outcome.comparison.procedure.margin) if pair else "",
        kind(pair) if pair else "",
    ]


def _is_on_device(found: list[ContenderOutcome]) -> bool:
    """Return whether the memory of all of them is known from their accelerators."""
    return bool(found) and all(_device_bytes(contender) is not None for contender in found)


def _device_bytes(contender: ContenderOutcome) -> int | None:
    """Return the peak of the framework's own allocator on an accelerator."""
    return contender.memory.device_peak_bytes if contender.memory else None


def _process_bytes(contender: ContenderOutcome) -> int | None:
    """Return the process's peak beyond what its framework's import had taken."""
    return contender.memory.beyond_import_bytes if contender.memory else None


def _summary(outcome: Outcome) -> list[Section]:
    """Return the table of those that are ranked, with what its columns mean."""
    meaning = ON_DEVICE if _is_on_device(ranked(outcome)) else ON_HOST
    notes = [f"Memory: {meaning}.", "Ratios: times as long."]
    table = summary(outcome)
    return [Section(tables=[table], notes=notes)] if table.lines else []


def absent(outcome: Outcome) -> Table:
    """Return everything that was asked for and is not ranked, with its reason."""
    others = [contender for contender in outcome.contenders if contender.status != "ranked"]
    lines = [Line([other.label, other.status, other.reason or "no reason is known"]) for other in others]
    lines += [Line([name, "excluded", reason]) for name, reason in outcome.comparison.excluded.items()]
    return Table(["not ranked", "status", "reason"], lines, words=3)


def _absent(outcome: Outcome) -> list[Section]:
    """Return those that are not ranked."""
    table = absent(outcome)
    return [Section(tables=[table])] if table.lines else []


def step_table(outcome: Outcome) -> Table:
    """Return what the first picture shows."""
    heads = ["contender", "step time", "95 %", "mean", "fenced p50", "p90 (n)", "hidden", "blocks"]
    unit = step_unit(outcome)
    lines = []
    for contender in ranked(outcome):
        step, interval = step_parts(contender, unit)
        p50, p90 = (duration(value, unit) for value in (contender.fenced_p50_s, contender.fenced_p90_s))
        waited = [p50, f"{p90} ({contender.fenced_steps:,})" if contender.fenced_steps else p90]
        flagged = sum(block.flagged for block in contender.blocks)
        cells = [contender.label, step, f"{interval} {unit.name}" if interval else ""]
        cells += [duration(contender.mean_step_s, unit), *waited, _hidden(contender.hidden_s)]
        lines.append(Line([*cells, f"{len(contender.blocks)}", f"{flagged}"]))
    return Table([*heads, "beside foreign load"], lines)


def _hidden(time_s: Interval | None) -> str:
    """Return the host time that asynchronous dispatch hides: "none seen" where its interval is not above zero."""
    if time_s is None:
        return UNKNOWN
    return "none seen" if time_s.low <= 0 else duration(time_s.estimate)


def _steps(outcome: Outcome) -> list[Section]:
    """Return the first picture, where there is something to draw."""
    found = ranked(outcome)
    if all(contender.median_step_s is None for contender in found):
        return []
    steps = [(contender.label, *step_parts(contender, step_unit(outcome))) for contender in found]
    parts = [f"{label} {step}" + (f" ({interval})" if interval else "") for label, step, interval in steps]
    finding = f"Step time, median and 95 % interval: {', '.join(parts)}."
    picture = Picture(finding, lambda width: step_time_chart(outcome, width))
    return [Section(kind="page", picture=picture, tables=[step_table(outcome)])]


def _fields(contender: ContenderOutcome) -> dict[str, Any]:
    """Return a contender's times."""
    return {
        "status": contender.status,
        "reason": contender.reason,
        "rounds": contender.rounds,
        "step_s": contender.median_step_s,
        "step_interval_s": bounds(contender.step_s),
        "mean_step_s": contender.mean_step_s,
        "samples_per_s": contender.samples_per_s,
        "fenced_p50_s": contender.fenced_p50_s,
        "fenced_p90_s": contender.fenced_p90_s,
        "fenced_steps": contender.fenced_steps,
        "hidden_s": contender.hidden_s.estimate if contender.hidden_s else None,
        "hidden_interval_s": bounds(contender.hidden_s),
        "steady": contender.steady,
        "blocks": len(contender.blocks),
        "flagged_blocks": sum(block.flagged for block in contender.blocks),
    }


SUMMARY = Subject(sections=_summary, fields=_fields)
ABSENT = Subject(sections=_absent, data=lambda outcome: {"excluded": outcome.comparison.excluded})
STEPS = Subject(sections=_steps)

"""Step times: the table of those that are ranked, those that are not, and the first picture with its table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bakeoff.report.page import Line, Picture, Section, Subject, Table
from bakeoff.report.pictures.comparison import step_time_chart
from bakeoff.report.sections import light
from bakeoff.report.standings import (
    bounds,
    fastest,
    kind,
    ranked,
    step_numbers,
    step_parts,
    step_unit,
    throughput_parts,
    times_text,
)
from bakeoff.report.units import BYTES, PERCENT, SECONDS, UNKNOWN, column, duration, percent, unit_for
from bakeoff.spec.verdict import between
from bakeoff.stats.size import LEVEL

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.spec.verdict import Interval

ON_DEVICE = "the most that the framework held on the device"
ON_HOST = "the peak of the whole process, with Python and the framework"
START = "import, building the model and the first step of a fresh process; their medians added, without an interval"


def against(outcome: Outcome) -> str:
    """Return what the ratios of the table are against."""
    interval = f" ({_interval(outcome)})" if any(pair.low is not None for pair in outcome.verdicts) else ""
    return f"vs the {'first' if _winner(outcome) is None else 'fastest'}{interval}"


def _interval(outcome: Outcome) -> str:
    """Return what the intervals of ratios are: by the first procedure, those that decided."""
    known = all(pair.level is not None for pair in outcome.verdicts if pair.low is not None)
    return f"{percent(LEVEL)} CI" if known else "deciding interval"


def _winner(outcome: Outcome) -> str | None:
    """Return the contender that is decided to be faster than all others."""
    return fastest([contender.label for contender in ranked(outcome)], outcome.verdicts)


def summary(outcome: Outcome) -> Table:
    """Return the table of those that are ranked; an empty cell has nothing to say, "unknown" was not measured."""
    found, unit, batch_size = ranked(outcome), step_unit(outcome), outcome.comparison.batch_size
    columns = {"contender": [one.label for one in found]}
    if outcome.verdicts:
        columns |= {against(outcome): _standings(outcome, found)}
    steps = [step_numbers(one, unit) for one in found]
    columns |= {f"step, {unit.name}": [step for step, _ in steps], f"{percent(LEVEL)} CI": [ends for _, ends in steps]}
    columns |= {"samples/s": [throughput_parts(one, batch_size)[0] for one in found]}
    columns |= {
        f"{what}/s": [throughput_parts(one, batch_size, number)[0] for one in found]
        for what, number in contained(outcome).items()
    }
    if light.is_known(outcome):
        shares = [one.light.macs_share if one.light else None for one in found]
        columns |= {f"{light.HEAD}, %": column(shares, PERCENT)}
    starts, held = [first_step_after(one) for one in found], _held(found)
    columns |= {"first step after, s": column(starts, SECONDS[0])}
    bytes_unit = unit_for([max((known or 0 for known in held), default=0)], BYTES, least=1)
    columns |= {f"memory, {bytes_unit.name}": column(held, bytes_unit)}
    lines = [Line(list(cells), colour=one.plan.drawn_in) for one, *cells in zip(found, *columns.values(), strict=True)]
    words = 2 if outcome.verdicts else 1
    return Table(list(columns), lines, words=words, right=tuple(range(words + 2, len(columns))))


def contained(outcome: Outcome) -> dict[str, int]:
    """Return what the workload says that a sample has so many of, such as environment steps."""
    size = outcome.comparison.workload.sizes.get(outcome.comparison.size)
    return size.contains if size else {}


def _contained_data(outcome: Outcome) -> dict[str, Any]:
    """Return how many of that each contender does a second; nothing where a sample has none."""
    rates = {
        what: {one.label: one.samples_per_s * number for one in ranked(outcome) if one.samples_per_s is not None}
        for what, number in contained(outcome).items()
    }
    return {"contained_per_s": rates} if rates else {}


def _standings(outcome: Outcome, found: list[ContenderOutcome]) -> list[str]:
    """Return how each stands to the first of the table: "slower, 1.66x (1.64 to 1.68)"."""
    margin, first = outcome.comparison.procedure.margin, found[0].label
    cells = ["fastest" if first == _winner(outcome) else ""]
    for one in found[1:]:
        pair = between(outcome.verdicts, one.label, first)
        known = pair is not None and pair.ratio is not None
        cells.append(f"{kind(pair)}, {times_text(pair, margin, names_level=False)}" if pair and known else "no verdict")
    return cells


def first_step_after(contender: ContenderOutcome) -> float | None:
    """Return the time from the start of its import to the end of its first step, in seconds."""
    parts = [contender.import_s, contender.build_s, contender.first_step_s]
    known = [part for part in parts if part is not None]
    return math.fsum(known) if len(known) == len(parts) else None


def _held(found: list[ContenderOutcome]) -> list[int | None]:
    """Return each contender's peak of memory in bytes: on the device where all are known there, else of the process."""
    on_device = _is_on_device(found)
    return [
        None if one.memory is None else one.memory.device_peak_bytes if on_device else one.memory.peak_bytes
        for one in found
    ]


def _is_on_device(found: list[ContenderOutcome]) -> bool:
    """Return whether the memory of all of them is known from their accelerators."""
    return bool(found) and all(one.memory and one.memory.device_peak_bytes is not None for one in found)


def _summary(outcome: Outcome) -> list[Section]:
    """Return the table of those that are ranked, with what its columns mean."""
    meaning = ON_DEVICE if _is_on_device(ranked(outcome)) else ON_HOST
    is_size = _interval(outcome) != "deciding interval"
    what = f"the {percent(LEVEL)} confidence interval (CI)" if is_size else "the interval that decided"
    ratios = f"2x: a step takes twice as long; in brackets {what}."
    notes = [*([ratios] if outcome.verdicts else []), f"First step after: {START}.", f"Memory: {meaning}."]
    table = summary(outcome)
    return [Section(tables=[table], notes=notes)] if table.lines else []


def absent(outcome: Outcome) -> Table:
    """Return everything that was asked for and is not ranked, with its reason; where none was named, no uninstalled."""
    others = [contender for contender in outcome.contenders if contender.status != "ranked"]
    lines = [Line([other.label, other.status, other.reason or "no reason is known"]) for other in others]
    comparison = outcome.comparison
    asked = {name: why for name, why in comparison.excluded.items() if name not in comparison.uninstalled}
    lines += [Line([name, "excluded", why]) for name, why in asked.items()]
    return Table(["not ranked", "status", "reason"], lines, words=3)


def _absent(outcome: Outcome) -> list[Section]:
    """Return those that are not ranked."""
    table = absent(outcome)
    return [Section(tables=[table])] if table.lines else []


def step_table(outcome: Outcome) -> Table:
    """Return what the first picture shows."""
    heads = ["contender", "step time", "95 % CI", "mean", "fenced p50", "p90 (n)", "hidden", "blocks"]
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
    return Table([*heads, "disturbed"], lines)


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
        "lost_rounds": {str(number): reason for number, reason in contender.lost_rounds.items()},
        "step_s": contender.median_step_s,
        "step_interval_s": bounds(contender.step_s),
        "mean_step_s": contender.mean_step_s,
        "samples_per_s": contender.samples_per_s,
        "fenced_p50_s": contender.fenced_p50_s,
        "fenced_p90_s": contender.fenced_p90_s,
        "fenced_steps": contender.fenced_steps,
        "wait_s": contender.wait_s,
        "hidden_s": contender.hidden_s.estimate if contender.hidden_s else None,
        "hidden_interval_s": bounds(contender.hidden_s),
        "steady": contender.steady,
        "blocks": len(contender.blocks),
        "flagged_blocks": sum(block.flagged for block in contender.blocks),
    }


def _lost(outcome: Outcome) -> list[str]:
    """Return in which rounds a contender that has times was lost, and why."""
    return [
        f"{one.label} was lost in round {number}, which counts for nothing of it ({reason})."
        for one in ranked(outcome)
        for number, reason in sorted(one.lost_rounds.items())
    ]


SUMMARY = Subject(sections=_summary, fields=_fields, data=_contained_data)
ABSENT = Subject(sections=_absent, cautions=_lost, data=lambda outcome: {"excluded": outcome.comparison.excluded})
STEPS = Subject(sections=_steps)

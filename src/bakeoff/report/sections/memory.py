"""Memory: of the process, and of accelerators, from outside and by the framework's own allocator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.report.page import Line, Picture, Section, Subject, Table
from bakeoff.report.pictures.memory import memory_chart, peaks
from bakeoff.report.sections import counters
from bakeoff.report.sections.compiling import FOLD
from bakeoff.report.standings import ranked
from bakeoff.report.units import UNKNOWN, size
from bakeoff.spec.record import Memory

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome

_NOTE = (
    "Memory is what a timed process has held: resident after the import, and at its peak before its blocks; the median "
    "process, with the least and the most of all. On a GPU the process's peak by NVML is of a process of its own, and "
    "holds context, kernels and all that its allocator has reserved; what an allocator takes beforehand "
    "says nothing about the work, and its live peak does."
)
_SEVERAL = (
    "Of several GPUs the peak by NVML is told of each, in the order of the devices, and the allocator's of one: of the "
    "fullest, or of the first where one process has all."
)


def memory_table(outcome: Outcome) -> Table:
    """Return the process's memory, beside what the counters of its blocks say."""
    lines = []
    for one in ranked(outcome):
        memory = one.memory or Memory()
        held = [size(memory.baseline_bytes), size(memory.peak_bytes), _range(one.memory_peaks_bytes)]
        lines.append(Line([one.label, *held, *counters.cells(one.counters)]))
    return Table(["contender", "memory after import", "peak", "from to, processes", *counters.HEADS], lines)


def _range(peaks_bytes: list[int]) -> str:
    """Return the least and the most of all processes, and how many they are."""
    if not peaks_bytes:
        return UNKNOWN
    if len(peaks_bytes) == 1:
        return "1 process, no interval"
    return f"{size(min(peaks_bytes))} to {size(max(peaks_bytes))}, {len(peaks_bytes)}"


def device_memory_table(outcome: Outcome) -> Table:
    """Return what those that ran on an accelerator held of it; no lines on processors."""
    heads = ["contender", "process, by NVML", "allocator: live at most", "reserved at most", "taken beforehand"]
    lines = []
    for one in ranked(outcome):
        memory = one.memory
        if memory is None or one.plan.contender.device == "cpu":
            continue
        process = " + ".join(map(size, memory.device_each_bytes or ())) or size(memory.device_process_bytes)
        process += f" ({memory.device_reason})" if memory.device_process_bytes is None and memory.device_reason else ""
        held = [size(memory.device_peak_bytes), size(memory.device_reserved_bytes)]
        lines.append(Line([one.label, process, *held, memory.device_preallocation or UNKNOWN]))
    return Table(heads, lines)


def _words(table: Table) -> list[str]:
    """Return that table in a sentence."""
    each = [
        f"{label} {process} (live at most {live}, reserved {reserved}; taken beforehand: {policy})"
        for label, process, live, reserved, policy in (line.cells for line in table.lines)
    ]
    return [f"Held of the device by the whole process: {', '.join(each)}."] if each else []


def _apart(outcome: Outcome) -> list[str]:
    """Return why workers were not resident together; nothing where they were."""
    return [f"Workers of a round ran one after another: {outcome.apart}."] if outcome.apart else []


def _sections(outcome: Outcome) -> list[Section]:
    """Return the sentences on accelerators and on who was resident, and their part of the fold."""
    on_device = device_memory_table(outcome)
    has_several = any(one.memory and one.memory.device_each_bytes for one in outcome.contenders)
    notes = [_NOTE, *([_SEVERAL] if has_several else []), *counters.fault_notes(outcome)]
    return [
        Section(words=[*_words(on_device), *_apart(outcome)]),
        Section(kind="fold", title=FOLD, notes=notes, tables=[memory_table(outcome), on_device]),
    ]


def _fields(contender: ContenderOutcome) -> dict[str, Any]:
    """Return a contender's memory; every key is there."""
    unknown = dict.fromkeys(Memory.__struct_fields__) | {"device_reason": ""}
    known = unknown | msgspec.to_builtins(contender.memory or {})
    shown = {name: value for name, value in known.items() if name != "steps"}
    return {"memory": shown, "memory_peaks_bytes": contender.memory_peaks_bytes}


def _drawn(outcome: Outcome) -> list[Section]:
    """Return the picture of the process's peaks, where any is known."""
    bars = peaks(outcome)
    if not bars:
        return []
    told = [
        f"{bar['contender']} {bar['text']}" + (f" ({size(bar['import'])} after its import)" if "import" in bar else "")
        for bar in bars
    ]
    picture = Picture(f"Memory, the process's peak: {', '.join(told)}.", lambda width: memory_chart(outcome, width))
    return [Section(kind="page", picture=picture)]


MEMORY = Subject(sections=_sections, fields=_fields)
MEMORY_DRAWN = Subject(sections=_drawn)

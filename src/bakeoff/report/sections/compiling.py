"""Starts: import, build, and the first step with what of it was tracing and compiling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.report.page import Line, Section, Subject, Table
from bakeoff.report.standings import ranked
from bakeoff.report.units import UNKNOWN, duration, listed, unit_for

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome
    from bakeoff.report.units import Unit

FOLD = "Compilation, memory, energy"
"""Several subjects share this fold."""

MOST_BLOCKS = 3
"""Blocks that a warning names one by one."""

_NOTE = (
    "Medians over fresh processes. Cold is the first round, whose compiler has an empty cache; warm are the processes "
    "after it, which find what that has left. Tracing and lowering go from Python to what the compiler is given; the "
    "first step holds both, autotuning and first allocations. Programs are those traced or compiled from then on."
)


def start_table(outcome: Outcome) -> Table:
    """Return the parts of each contender's start."""
    heads = ["contender", "import", "build", "trace and lower", "compile", "first step", "beyond a steady one"]
    warm_heads = ["warm: trace and lower", "compile", "first step", "programs", "compiled again in"]
    lines = []
    for one in ranked(outcome):
        known = one.compiling
        cold, warm = (known.cold, known.warm) if known else (None, None)
        parts = [None, None] if cold is None else [cold.trace_s, cold.compile_s]
        times = [one.import_s, one.build_s, *parts, one.first_step_s, one.compile_s]
        unit = unit_for([max((value or 0.0) for value in times)])
        cells = [duration(value, unit) for value in times]
        cells[2:4] = [_part(value, unit) for value in parts] if cold and cold.processes else [UNKNOWN, UNKNOWN]
        kept = [""] * 3
        if warm:
            kept = [_part(warm.trace_s, unit), _part(warm.compile_s, unit), duration(warm.first_step_s, unit)]
        programs = UNKNOWN if known is None or known.count is None else f"{known.count}"
        again = known.again if known else []
        lines.append(Line([one.label, *cells, *kept, programs, ", ".join(again)], marked=bool(again)))
    return Table([*heads, *warm_heads], lines)


def _part(seconds: float | None, unit: Unit) -> str:
    """Return a part of a first step; what the framework does not separate is in the whole."""
    if seconds == 0:
        return "none"
    return "not told apart" if seconds is None else duration(seconds, unit)


def _cautions(outcome: Outcome) -> list[str]:
    """Return who compiled within timed steps."""
    said = []
    for one in outcome.contenders:
        again = one.compiling.again if one.compiling else []
        where = listed(again) if len(again) <= MOST_BLOCKS else f"{listed(again[:1])} and {len(again) - 1} more blocks"
        if again:
            said.append(f"{one.label}: compiled again within its timed steps ({where}); they hold that work.")
    return said


def _sections(outcome: Outcome) -> list[Section]:
    """Return its part of the fold."""
    return [Section(kind="fold", title=FOLD, notes=[_NOTE], tables=[start_table(outcome)])]


def _fields(contender: ContenderOutcome) -> dict[str, Any]:
    """Return the parts of a contender's start."""
    return {
        "import_s": contender.import_s,
        "build_s": contender.build_s,
        "first_step_s": contender.first_step_s,
        "compile_s": contender.compile_s,
        "compilation": msgspec.to_builtins(contender.compiling),
    }


COMPILING = Subject(sections=_sections, cautions=_cautions, fields=_fields)

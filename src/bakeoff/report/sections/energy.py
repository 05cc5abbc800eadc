"""Energy: what a sample costs, where there are meters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.report.page import Line, Section, Subject, Table
from bakeoff.report.sections.compiling import FOLD
from bakeoff.report.standings import bounds, ranked
from bakeoff.report.units import Unit, quantity, rounded, unit_for

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome

JOULES = (Unit("J", 1.0), Unit("mJ", 1e3), Unit("\N{MICRO SIGN}J", 1e6))


def energy_table(outcome: Outcome) -> Table:
    """Return the energy of a sample, where it was measured."""
    lines = []
    for one in ranked(outcome):
        known = one.energy
        if known is None:
            continue
        unit = unit_for([known.joules_per_sample], JOULES)
        ends = quantity(known.interval, unit) if known.interval else None
        joules = ends.estimate if ends else rounded(known.joules_per_sample * unit.per_base)
        interval = f"{ends.low} to {ends.high} {unit.name}" if ends else ""
        lines.append(Line([one.label, f"{joules} {unit.name}", interval, f"{known.rounds}", known.source]))
    return Table(["contender", "energy of a sample", "95 % CI", "rounds", "counted by"], lines)


def energy_line(outcome: Outcome) -> str:
    """Return what the energy is that of, or why there is none."""
    reason = outcome.comparison.no_energy
    if reason:
        return f"Energy: not available here, {reason}."
    if not any(one.energy for one in ranked(outcome)):
        return "Energy: not measured, no time was left after the rounds."
    said = "Energy is that of all that the meters see, idle power and other processes too, in trials of their own."
    if len({one.energy.source for one in ranked(outcome) if one.energy}) > 1:
        return f"{said} Contenders have different meters here: their figures are not to be compared."
    return said


def _sections(outcome: Outcome) -> list[Section]:
    """Return its part of the fold."""
    return [Section(kind="fold", title=FOLD, notes=[energy_line(outcome)], tables=[energy_table(outcome)])]


def _fields(contender: ContenderOutcome) -> dict[str, Any]:
    """Return what a contender's samples cost."""
    known = contender.energy
    if known is None:
        return {"energy": None}
    fields: dict[str, Any] = msgspec.to_builtins(known)
    del fields["interval"]
    return {"energy": fields | {"interval_joules": bounds(known.interval)}}


ENERGY = Subject(sections=_sections, fields=_fields)

"""The environment: the machine, the versions, and what the comparison was made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.report.page import Line, Section, Table
from bakeoff.report.sections import Subject
from bakeoff.report.sections.settings import side_by_side
from bakeoff.report.units import UNKNOWN, size

if TYPE_CHECKING:
    from bakeoff.judge.ledger import Value
    from bakeoff.judge.outcome import ContenderOutcome, Outcome


def machine_table(outcome: Outcome) -> Table:
    """Return the machine's facts."""
    facts = outcome.comparison.machine.items()
    names = [name.removesuffix("_bytes").replace("_", " ") for name, _ in facts]
    lines = [Line([shown, _fact(name, value)]) for shown, (name, value) in zip(names, facts, strict=True)]
    return Table(["machine", ""], lines, words=2)


def _fact(name: str, value: Value) -> str:
    """Return a fact with its unit."""
    if value is None:
        return UNKNOWN
    return size(int(value)) if name.endswith("_bytes") and isinstance(value, int | float) else str(value)


def version_table(outcome: Outcome) -> Table:
    """Return Python and packages, contenders side by side."""
    contenders = outcome.contenders
    python = Line(["Python", *(one.python or UNKNOWN for one in contenders)])
    packages = [Line(cells) for cells in side_by_side(contenders, lambda one: one.versions)]
    return Table(["package", *(one.label for one in contenders)], [python, *packages], words=len(contenders) + 1)


def begun(outcome: Outcome) -> str:
    """Return when and by what the comparison was made, and of what it was made."""
    comparison = outcome.comparison
    return (
        f"bakeoff {comparison.bakeoff}, comparison {comparison.id}, begun {comparison.created_at}. "
        f"Data: {comparison.data.source}, SHA-256 {comparison.data.sha256[:12]}; "
        f"workload {comparison.workload.name}, SHA-256 {comparison.workload_sha256[:12]}."
    )


def _sections(outcome: Outcome) -> list[Section]:
    """Return the fold."""
    tables = [machine_table(outcome), version_table(outcome)]
    return [Section(kind="fold", title="Environment", notes=[begun(outcome)], tables=tables)]


def _fields(contender: ContenderOutcome) -> dict[str, Any]:
    """Return a contender's versions."""
    return {"versions": contender.versions, "python": contender.python}


ENVIRONMENT = Subject(sections=_sections, data=lambda outcome: {"machine": outcome.comparison.machine}, fields=_fields)

"""What a column of an exported table is, how a table is made of columns, and the columns that all tables begin with."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.judge.outcome import ContenderOutcome, Outcome

Kind = Literal["text", "integer", "number", "boolean"]
"""integer: 64 bits with a sign.  number: binary64.  Any of them may be missing."""

Row = dict[str, Any]
"""Values by the names of their columns, in the columns' order; None is not known."""


class Column(NamedTuple):
    """One column of a table."""

    name: str
    kind: Kind
    path: str
    """Where its value is, from what a row is about: "block.elapsed_ns"."""
    meaning: str


class ExportTable(NamedTuple):
    """A table: its name, what a row is, and its columns."""

    name: str
    row: str
    columns: tuple[Column, ...]

    def rows(self, subjects: Iterable[object]) -> list[Row]:
        """Return a row for each subject."""
        taken = [(column.name, attrgetter(column.path)) for column in self.columns]
        return [{name: _finite(take(one)) for name, take in taken} for one in subjects]


SHARED = (
    Column("comparison", "text", "outcome.comparison.id", "id of the comparison"),
    Column("created_at", "text", "outcome.comparison.created_at", "when it was begun, UTC, ISO 8601"),
    Column("bakeoff", "text", "outcome.comparison.bakeoff", "version that began it"),
    Column("workload", "text", "outcome.comparison.workload.name", "name"),
    Column("scenario", "text", "outcome.comparison.scenario", "what is timed"),
    Column("size", "text", "outcome.comparison.size", "the workload's size by its name"),
    Column("batch_size", "integer", "outcome.comparison.batch_size", "samples in a batch"),
    Column("data", "text", "outcome.comparison.data.source", "the data source"),
    Column("processor", "text", "processor", "of the machine"),
    Column("gpu", "text", "gpu", "of the machine; missing without one"),
)
"""What every table says of the comparison that a row belongs to."""


def fact(outcome: Outcome, name: str) -> str | None:
    """Return a fact of the machine as text; None where it is not known."""
    value = outcome.comparison.machine.get(name)
    return None if value is None else str(value)


def versions(contender: ContenderOutcome) -> str:
    """Return the versions of a contender's packages, by name."""
    return ", ".join(f"{name} {version}" for name, version in sorted(contender.versions.items()))


def _finite(value: object) -> object:
    """Return a value; None in place of infinity and what is no number, which JSON cannot say."""
    return None if isinstance(value, float) and not math.isfinite(value) else value

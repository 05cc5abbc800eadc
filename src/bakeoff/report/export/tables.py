"""The tables that are exported, by their names, and a comparison's rows in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.export.blocks import BLOCKS, timed_blocks
from bakeoff.report.export.verdicts import VERDICTS, decided_pairs
from bakeoff.spec.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.judge.outcome import Outcome
    from bakeoff.report.export.columns import ExportTable, Row
    from bakeoff.spec.record import Record

TABLES = {table.name: table for table in (BLOCKS, VERDICTS)}


def table_named(name: str) -> ExportTable:
    """Return a table; raise UnknownNameError with the names that there are."""
    if name not in TABLES:
        kind = "table to export"
        raise UnknownNameError(kind, name, TABLES)
    return TABLES[name]


def rows_of(name: str, outcome: Outcome, records: Iterable[Record], said: Outcome | None = None) -> list[Row]:
    """Return the rows of a comparison in a table; raise UnknownNameError for a table that there is not.

    `said` is the same outcome without what is to be left out: what rows say of names is taken from it.
    """
    table, shown = table_named(name), said or outcome
    subjects = timed_blocks(outcome, records, shown) if table is BLOCKS else decided_pairs(shown)
    return table.rows(subjects)

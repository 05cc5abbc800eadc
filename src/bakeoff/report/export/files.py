"""Rows as files: CSV, JSON lines and Parquet, the same bytes for the same rows."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.report.export.tables import table_named
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bakeoff.report.export.columns import Row


def as_csv(name: str, rows: Sequence[Row]) -> bytes:
    """Return rows of a table as CSV (RFC 4180, UTF-8, lines ending in LF) with a head; what is not known is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.name for column in table_named(name).columns)
    writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return text.getvalue().encode()


def as_jsonl(_name: str, rows: Sequence[Row]) -> bytes:
    """Return rows as JSON lines: an object a line with all columns; what is not known is null."""
    return msgspec.json.Encoder().encode_lines(rows)


def as_parquet(name: str, rows: Sequence[Row]) -> bytes:
    """Return rows as a Parquet file of typed columns; raise UsageError where pyarrow is not there."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        msg = "Parquet needs pyarrow, which is not here: pip install 'bakeoff[export]'; CSV and JSON lines need nothing"
        raise UsageError(msg) from error
    types = {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "boolean": pa.bool_(),
    }
    columns = table_named(name).columns
    fields = [pa.field(one.name, types[one.kind], metadata={"meaning": one.meaning}) for one in columns]
    table = pa.Table.from_pylist(list(rows), schema=pa.schema(fields, metadata={"bakeoff": name}))
    sink = io.BytesIO()
    parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue()


WRITERS: dict[str, Callable[[str, Sequence[Row]], bytes]] = {"csv": as_csv, "jsonl": as_jsonl, "parquet": as_parquet}
"""By the format's name, which is its option's."""


def _cell(value: Any) -> Any:
    """Return what stands in a cell of CSV: numbers with every digit, and true and false as JSON has them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else value

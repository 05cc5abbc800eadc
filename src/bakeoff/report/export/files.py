"""Rows as files: CSV, JSON lines and Parquet, the same bytes for the same rows, written as they come."""

from __future__ import annotations

import csv
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from bakeoff.report.export.tables import table_named
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bakeoff.report.export.columns import Row

GROUP_ROWS = 20_000
"""Of a group in a Parquet file: large enough to be packed well, and some 40 MB in memory until it is written."""

_CRLF = "\r\n"
"""Ends a line of csv's, which quotes a text with either character in it only where lines end by both."""


class Bytes(Protocol):
    """What a file is written to."""

    def write(self, content: bytes, /) -> object:
        """Write bytes."""


class Writer(Protocol):
    """Writes rows of one table in one format."""

    def write(self, rows: Sequence[Row]) -> None:
        """Write rows behind those that were written before."""

    def close(self) -> None:
        """Write what has to stand at the end; the file itself stays open."""


class Csv:
    """CSV (RFC 4180, UTF-8, lines ending in LF) with a head; what is not known is empty."""

    def __init__(self, name: str, file: Bytes) -> None:
        """Begin with the names of the columns of a table."""
        self._file = file
        self._lines([[column.name for column in table_named(name).columns]])

    def write(self, rows: Sequence[Row]) -> None:
        """Write rows."""
        self._lines([[_cell(value) for value in row.values()] for row in rows])

    def close(self) -> None:
        """Write nothing more."""

    def _lines(self, rows: Sequence[Sequence[object]]) -> None:
        """Write lines of cells."""
        lines: list[str] = []
        csv.writer(SimpleNamespace(write=lines.append), lineterminator=_CRLF).writerows(rows)
        self._file.write("".join(f"{line.removesuffix(_CRLF)}\n" for line in lines).encode())


class JsonLines:
    """JSON lines: an object a line with all columns; what is not known is null."""

    def __init__(self, name: str, file: Bytes) -> None:
        """Begin with nothing; raise UnknownNameError for a table that there is not."""
        table_named(name)
        self._file, self._encoder = file, msgspec.json.Encoder()

    def write(self, rows: Sequence[Row]) -> None:
        """Write rows."""
        self._file.write(self._encoder.encode_lines(rows))

    def close(self) -> None:
        """Write nothing more."""


class Parquet:
    """A Parquet file of typed columns, each with its meaning."""

    def __init__(self, name: str, file: Bytes) -> None:
        """Begin with the schema of a table; raise UsageError where pyarrow is not there."""
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError as error:
            msg = (
                "Parquet needs pyarrow, which is not here: pip install 'bakeoff[export]'; CSV and JSON lines need "
                "nothing"
            )
            raise UsageError(msg) from error
        types = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}
        columns = table_named(name).columns
        fields = [pa.field(one.name, types[one.kind], metadata={"meaning": one.meaning}) for one in columns]
        self._schema = pa.schema(fields, metadata={"bakeoff": name})
        self._table = pa.Table
        self._writer = parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._rows: list[Row] = []

    def write(self, rows: Sequence[Row]) -> None:
        """Keep rows until they are a group."""
        self._rows += rows
        if len(self._rows) >= GROUP_ROWS:
            self._group()

    def close(self) -> None:
        """Write the last group, and where all of them are."""
        self._group()
        self._writer.close()

    def _group(self) -> None:
        """Write the rows that are kept."""
        if self._rows:
            self._writer.write_table(self._table.from_pylist(self._rows, schema=self._schema))
            self._rows = []


WRITERS: dict[str, Callable[[str, Bytes], Writer]] = {"csv": Csv, "jsonl": JsonLines, "parquet": Parquet}
"""By the format's name, which is its option's."""


def _cell(value: Any) -> Any:
    """Return what stands in a cell of CSV: numbers with every digit, and true and false as JSON has them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else value

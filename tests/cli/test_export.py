"""`bakeoff export`: blocks and verdicts in every format, on records that were made on real machines."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pandas as pd
import pytest

from bakeoff.api import Result
from bakeoff.judge.comparison import judge_comparison
from bakeoff.report.export.files import as_csv
from bakeoff.report.export.tables import BLOCKS, TABLES, VERDICTS, rows_of
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.store.results import read_records

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "docs" / "records"
FOLDER = RECORDS / "mlp-mnist-683b"


@pytest.fixture(scope="module")
def result() -> Result:
    """Judge the records once."""
    return Result(judge_comparison(FOLDER))


def typed(text: str, kind: str) -> Any:
    """Return what a cell of CSV says."""
    read = {"text": str, "integer": int, "number": float, "boolean": lambda word: {"true": True, "false": False}[word]}
    return read[kind](text) if text else None


def test_all_formats_say_the_same_and_nothing_is_lost(cli: Cli) -> None:
    """Every block of every record is a row once, with its whole nanoseconds, in CSV, JSON lines and Parquet alike."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not here: pip install 'bakeoff[export]'")
    said = cli("export", str(FOLDER), "--csv", "b.csv", "--jsonl", "b.jsonl", "--parquet", "b.parquet")
    assert (said.code, said.out, said.err.count("160 blocks in b.")) == (0, "", 3)
    rows = [json.loads(line) for line in Path("b.jsonl").read_text().splitlines()]
    kinds = {column.name: column.kind for column in BLOCKS.columns}
    assert all(list(row) == list(kinds) for row in rows)
    with Path("b.csv").open(newline="") as file:
        cells = list(csv.DictReader(file))
    texts = {name for name, kind in kinds.items() if kind == "text"}
    read = [{name: typed(row[name], kinds[name]) for name in row} for row in cells]
    assert read == rows
    table = parquet.read_table("b.parquet")
    assert table.to_pylist() == rows
    assert {str(table.schema.field(name).type) for name in texts} == {"string"}
    assert str(table.schema.field("elapsed_ns").type) == "int64"
    timed = [one for one in read_records(FOLDER).records.values() if one.trial.purpose == "time"]
    told = sorted((row["contender"], row["round"], row["turn"], row["elapsed_ns"], row["steps"]) for row in rows)
    assert told == sorted(
        (one.trial.contender.label, one.trial.round_number, block.turn, block.elapsed_ns, len(block.steps_ns))
        for one in timed
        for block in one.blocks
    )


def test_which_blocks_count_is_said(result: Result) -> None:
    """A block of a failed trial does not count, nor does one whose repeat stands for it; both are rows all the same."""
    records = list(result.records.values())
    place = next(place for place, one in enumerate(records) if one.trial.name == "r02-jax")
    records[place] = msgspec.structs.replace(records[place], outcome="crashed")
    rows = rows_of("blocks", result.outcome, records)
    lost = [row for row in rows if (row["contender"], row["round"]) == ("jax", 2)]
    assert lost
    assert {(row["outcome"], row["counts"]) for row in lost} == {("crashed", False)}
    assert all(row["counts"] for row in rows if row not in lost)
    assert len(rows) == len(rows_of("blocks", result.outcome, result.records.values()))


def test_verdicts_are_those_of_the_report(cli: Cli, result: Result) -> None:
    """A row for each pair with ratio, interval and both step times; several comparisons are one table, on stdout."""
    said = cli("export", str(FOLDER), str(RECORDS / "mlp-mnist-07d5"), "--of", "verdicts", "--jsonl", "-")
    rows = [json.loads(line) for line in said.out.splitlines()]
    assert [row["comparison"] for row in rows] == ["mlp-mnist-683b"] * 6 + ["mlp-mnist-07d5"] * 3
    for row, verdict in zip(rows, result.verdicts, strict=False):
        for name in ("first", "second", "verdict", "ratio", "low", "high", "rounds", "blocks"):
            assert row[name] == getattr(verdict, name)
        assert row["first_step_s"] / row["second_step_s"] == pytest.approx(row["ratio"], rel=0.05)
    again = cli("export", "--all", "--of", "verdicts", "--jsonl", "-", "--results", str(RECORDS))
    assert sorted(again.out.splitlines()) == sorted(said.out.splitlines())


def test_nothing_that_is_redacted_is_exported(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --redact what would say whose machine it is stands in no row, and every number stays."""
    monkeypatch.setenv("SOME_API_TOKEN", "denormals=flush")
    plain, redacted = (cli("export", str(FOLDER), "--csv", "-", *more).out for more in ([], ["--redact"]))
    assert "denormals=flush" in plain
    assert "denormals=flush" not in redacted
    assert plain.replace("denormals=flush", "<value>") == redacted


def test_a_text_may_hold_anything(result: Result) -> None:
    """Commas, quotes and lines within a text come back from CSV as they were; what is no number is not known."""
    rows = rows_of("verdicts", result.outcome, [])
    odd = [row | {"first": 'a,"b"\nc', "ratio": None} for row in rows]
    (first, *_) = csv.DictReader(io.StringIO(as_csv("verdicts", odd).decode(), newline=""))
    assert (first["first"], first["ratio"]) == ('a,"b"\nc', "")
    verdict = msgspec.structs.replace(result.verdicts[0], ratio=float("inf"), high=float("nan"))
    (row,) = rows_of("verdicts", msgspec.structs.replace(result.outcome, verdicts=[verdict]), [])
    assert (row["ratio"], row["high"]) == (None, None)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "name a file to write: --csv FILE, --jsonl FILE or --parquet FILE"),
        (["--parquet", "-"], "Parquet is no text for stdout"),
        (["--csv", "-", "--jsonl", "-"], "two formats cannot be one file"),
        (["--csv", "there.csv"], "there.csv is there: name another file, or replace it by --force"),
        (["--csv", ".", "--force"], ". is no file to replace"),
        (["--csv", "-", "--of", "pairs"], "unknown table to export 'pairs'. Valid: blocks, verdicts"),
        (["--csv", "-", "--all", "07d5"], "--all takes every comparison: leave out 07d5"),
        (["--csv", "-", "--all", "--results", "nowhere"], "no comparison in nowhere"),
        (["--csv", "-", "vgg"], "unknown comparison 'vgg'"),
    ],
)
def test_what_cannot_be_exported_is_an_error_of_use(cli: Cli, arguments: list[str], told: str) -> None:
    """The message says what is wrong and what to do; a file that is there keeps its bytes."""
    Path("there.csv").write_text("mine")
    said = cli("export", "--results", str(RECORDS), *arguments)
    assert (said.code, said.out) == (2, "")
    assert told in said.err
    assert Path("there.csv").read_text() == "mine"


def test_force_replaces_a_file(cli: Cli) -> None:
    """With --force what is there is replaced."""
    Path("there.csv").write_text("mine")
    assert cli("export", str(FOLDER), "--of", "verdicts", "--csv", "there.csv", "--force").code == 0
    assert Path("there.csv").read_text().startswith("comparison,created_at,")


def test_pandas_has_types_that_know_missing_values(result: Result) -> None:
    """Integers stay integers beside what is missing, and a frame has the rows of the table."""
    frame = result.to_frame("blocks")
    rows = rows_of("blocks", result.outcome, result.records.values())
    assert list(frame.columns) == [column.name for column in BLOCKS.columns]
    assert str(frame["elapsed_ns"].dtype) == str(frame["repeats"].dtype) == "Int64"
    assert list(frame["elapsed_ns"]) == [row["elapsed_ns"] for row in rows]
    assert frame["repeats"].isna().all()
    assert frame["gpu"].iloc[0] is pd.NA


def test_polars_has_the_same_rows(result: Result) -> None:
    """Both tables as polars has them, with the documented types, also where a whole column is missing."""
    pl = pytest.importorskip("polars", reason="polars is not here: pip install 'bakeoff[export]'")
    for name, table in TABLES.items():
        frame = result.to_polars(name)
        assert frame.to_dicts() == rows_of(name, result.outcome, result.records.values())
        types = {"text": pl.String, "integer": pl.Int64, "number": pl.Float64, "boolean": pl.Boolean}
        assert dict(frame.schema) == {column.name: types[column.kind] for column in table.columns}


def test_what_is_not_installed_is_named_with_its_remedy(
    cli: Cli, result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without pyarrow and polars the error names the extra, and nothing is written."""
    for name in ("pyarrow", "polars"):
        monkeypatch.setitem(sys.modules, name, None)
    said = cli("export", str(FOLDER), "--parquet", "b.parquet", "--csv", "b.csv")
    assert said.code == 2
    assert "pip install 'bakeoff[export]'" in said.err
    assert not Path("b.csv").exists()
    with pytest.raises(UsageError, match=r"polars is not here: pip install 'bakeoff\[export\]'"):
        result.to_polars()
    with pytest.raises(UnknownNameError, match="Valid: blocks, verdicts"):
        result.to_polars("pairs")


def test_the_schema_is_documented_and_holds() -> None:
    """docs/export.md is as `make docs` writes it, and every column's name is its own."""
    sys.path.append(str(ROOT / "docs"))
    import write_export

    text = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    assert write_export.page(text) == text
    for table in (BLOCKS, VERDICTS):
        assert len({column.name for column in table.columns}) == len(table.columns)
        assert text.count(f"## `{table.name}`") == 1
        assert all(column.kind == "integer" for column in table.columns if column.name.endswith("_ns"))

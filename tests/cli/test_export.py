"""`bakeoff export`: blocks and verdicts in every format, on records that were made on real machines."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sys
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pandas as pd
import pytest

from bakeoff.api import Result
from bakeoff.cli import export
from bakeoff.judge.comparison import judge_comparison
from bakeoff.report.export import files
from bakeoff.report.export.files import Csv, Parquet
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


def as_csv(name: str, rows: list[dict[str, Any]]) -> str:
    """Return rows as CSV."""
    file = io.BytesIO()
    Csv(name, file).write(rows)
    return file.getvalue().decode()


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


def test_a_comparison_that_is_named_twice_is_exported_once(cli: Cli) -> None:
    """By its folder, by a link to it, and by its id."""
    Path("link").symlink_to(FOLDER)
    said = cli("export", str(FOLDER), "link", FOLDER.name, "--results", str(RECORDS), "--of", "verdicts", "--csv", "-")
    assert len(said.out.splitlines()) == 1 + 6


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
    text = as_csv("verdicts", odd)
    (first, *_) = csv.DictReader(io.StringIO(text, newline=""))
    assert (first["first"], first["ratio"]) == ('a,"b"\nc', "")
    assert "\r" not in text
    # A carriage return alone ends a line for many programs, pandas among them.
    returned = [row | {"first": "a\rb"} for row in rows]
    assert pd.read_csv(io.StringIO(as_csv("verdicts", returned)))["first"].tolist() == ["a\rb"] * len(rows)
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


def test_pandas_and_polars_read_what_is_documented(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both tables in every format, by the programs that they are for: the columns and types of docs/export.md."""
    pytest.importorskip("pyarrow", reason="pyarrow is not here: pip install 'bakeoff[export]'")
    pl = pytest.importorskip("polars", reason="polars is not here: pip install 'bakeoff[export]'")
    monkeypatch.setattr(files, "GROUP_ROWS", 7)
    page = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    of_polars = {"text": pl.String, "integer": pl.Int64, "number": pl.Float64, "boolean": pl.Boolean}
    for name in TABLES:
        section = page.partition(f"## `{name}`")[2].partition("\n## ")[0]
        kinds = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", section, re.MULTILINE))
        out = [f"--{kind}={name}.{kind}" for kind in ("csv", "jsonl", "parquet")]
        assert cli("export", "--all", "--results", str(RECORDS), "--of", name, *out).code == 0
        rows = [json.loads(line) for line in Path(f"{name}.jsonl").read_text().splitlines()]
        assert len(rows) > 7
        frame = pl.read_parquet(f"{name}.parquet")
        assert dict(frame.schema) == {column: of_polars[kind] for column, kind in kinds.items()}
        assert frame.to_dicts() == rows
        assert pd.read_parquet(f"{name}.parquet", dtype_backend="pyarrow").shape == (len(rows), len(kinds))
        told = [{column: None if value == "" else value for column, value in row.items()} for row in rows]
        assert pl.read_csv(f"{name}.csv", schema=frame.schema).to_dicts() == told
        assert list(pd.read_json(f"{name}.jsonl", lines=True).columns) == list(kinds)


def test_ten_thousand_comparisons_are_written_one_by_one(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """No row is lost or double, and of one comparison at a time there are rows in memory, of Parquet's a group."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not here: pip install 'bakeoff[export]'")
    monkeypatch.setattr(files, "GROUP_ROWS", 1000)
    names = [f"x-{number:05}" for number in range(10_000)]
    monkeypatch.setattr(export, "_folders", lambda *_, **__: [Path(name) for name in names])
    row = dict.fromkeys(column.name for column in BLOCKS.columns)
    alive: list[weakref.ref[Rows]] = []
    kept: list[int] = []
    write = Parquet.write

    def rows(_of: str, folder: Path, **_: object) -> Rows:
        assert sum(one() is not None for one in alive[-3:]) <= 1
        found = Rows([row | {"comparison": folder.name}])
        alive.append(weakref.ref(found))
        return found

    def counted(self: Parquet, rows: Rows) -> None:
        write(self, rows)
        kept.append(len(self._rows))

    monkeypatch.setattr(export, "_rows", rows)
    monkeypatch.setattr(Parquet, "write", counted)
    said = cli("export", "--all", "--csv", "b.csv", "--jsonl", "b.jsonl", "--parquet", "b.parquet")
    assert (said.code, said.err.count("10000 blocks in b.")) == (0, 3)
    assert max(kept) < 1000
    with Path("b.csv").open(newline="") as file:
        assert [one["comparison"] for one in csv.DictReader(file)] == names
    assert [json.loads(line)["comparison"] for line in Path("b.jsonl").read_text().splitlines()] == names
    assert parquet.read_table("b.parquet", columns=["comparison"])["comparison"].to_pylist() == names
    assert parquet.ParquetFile("b.parquet").num_row_groups == 10


class Rows(list[dict[str, Any]]):
    """Rows of which can be told whether somebody still has them."""


def test_a_damaged_comparison_is_named_and_the_others_are_exported(cli: Cli, tmp_path: Path) -> None:
    """With --all; exit code 1 says that the table is not whole. One that is named is an error, and nothing is there."""
    shutil.copytree(FOLDER, tmp_path / "results" / FOLDER.name)
    shutil.copytree(RECORDS / "mlp-mnist-07d5", tmp_path / "results" / "broken")
    (tmp_path / "results" / "broken" / "comparison.json").write_text("{")
    said = cli("export", "--all", "--csv", "all.csv")
    assert said.code == 1
    assert "left out: results/broken/comparison.json" in said.err
    assert "160 blocks in all.csv" in said.err
    said = cli("export", FOLDER.name, "broken", "--csv", "two.csv")
    assert said.code == 1
    assert "broken/comparison.json" in said.err
    shutil.rmtree(tmp_path / "results" / FOLDER.name)
    assert cli("export", "--all", "--csv", "none.csv").code == 1
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["all.csv"]


def test_a_record_that_is_not_used_is_named(cli: Cli, tmp_path: Path) -> None:
    """Its blocks are in no table, which is said."""
    shutil.copytree(FOLDER, tmp_path / "results" / FOLDER.name)
    (tmp_path / "results" / FOLDER.name / "r02-jax" / "record.json").write_text("{")
    said = cli("export", "--csv", "b.csv")
    assert said.code == 0
    assert re.search(r"left out: results/\S+/r02-jax/record.json is truncated", said.err)
    assert said.err.endswith(" blocks in b.csv\n")


def test_a_new_folder_is_told_and_one_file_in_two_spellings_is_refused(cli: Cli, tmp_path: Path) -> None:
    """A folder that was not there may be a slip; the second format would replace the first one's file."""
    (tmp_path / "link").symlink_to(tmp_path)
    for other in (str(tmp_path / "t.csv"), "link/t.csv"):
        said = cli("export", str(FOLDER), "--csv", "t.csv", "--jsonl", other)
        assert (said.code, "two formats cannot be one file" in said.err) == (2, True)
    said = cli("export", str(FOLDER), "--of", "verdicts", "--csv", "deep/er/t.csv")
    assert said.err == "folder  deep/er is new\n6 verdicts in deep/er/t.csv\n"
    assert cli("export", str(FOLDER), "--of", "verdicts", "--jsonl", "deep/er/t.jsonl").err.count("\n") == 1

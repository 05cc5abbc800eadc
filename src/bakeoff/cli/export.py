"""`bakeoff export`: every timed block, or every verdict, as a table for other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bakeoff.cli import completing, parameters
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.report.export.columns import Row

STDOUT = Path("-")
"""As a file: write there, for a pipe."""

OF = ("blocks", "verdicts")


def export(
    comparisons: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMPARISON",
            help="An id of a comparison or a study, its end, or a folder; the latest if not said.",
            show_default=False,
        ),
    ] = None,
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Every comparison in the results directory, those of studies too.")
    ] = False,
    of: Annotated[
        str,
        typer.Option(metavar="|".join(OF), help="What a row is.", autocompletion=completing.one_of(OF)),
    ] = OF[0],
    parquet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write Parquet; needs bakeoff[export].", show_default=False)
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write CSV; - is stdout.", show_default=False)
    ] = None,
    jsonl: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write JSON lines, an object for each row; - is stdout.", show_default=False),
    ] = None,
    redact: Annotated[
        bool,
        typer.Option(
            "--redact", help="Leave out folders, names of users and machines, and values that look like keys."
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    results: parameters.Results = "results",
) -> None:
    """Write every timed block, or every verdict, of comparisons as a table (docs/export.md has its columns)."""
    from bakeoff.report.export.files import WRITERS
    from bakeoff.report.export.tables import table_named

    table_named(of)
    files = {name: path for name, path in (("parquet", parquet), ("csv", csv), ("jsonl", jsonl)) if path is not None}
    _check(files, force=force)
    folders = _folders(Path(results), comparisons or [], everything=everything)
    rows = [row for folder in folders for row in _rows(of, folder, redact=redact)]
    # All contents before the first file: what one format lacks leaves nothing behind.
    contents = {files[name]: WRITERS[name](of, rows) for name in files}
    for path, content in contents.items():
        _write(path, content, f"{len(rows)} {of}")


def _check(files: dict[str, Path], *, force: bool) -> None:
    """Raise UsageError where no file is named, one cannot be written to, or is there already."""
    if not files:
        msg = "name a file to write: --csv FILE, --jsonl FILE or --parquet FILE; of CSV and JSON lines - is stdout"
        raise UsageError(msg)
    if files.get("parquet") == STDOUT:
        msg = "--parquet - : Parquet is no text for stdout; name a file, or take --csv - or --jsonl -"
        raise UsageError(msg)
    if len(set(files.values())) < len(files):
        msg = "two formats cannot be one file: name a file for each"
        raise UsageError(msg)
    for path in files.values():
        if path != STDOUT and path.exists() and not (force and path.is_file()):
            why = "is there: name another file, or replace it by --force" if path.is_file() else "is no file to replace"
            msg = f"{path} {why}"
            raise UsageError(msg)


def _folders(results: Path, names: list[str], *, everything: bool) -> list[Path]:
    """Return the folders of what was named, with no name of the latest; raise UsageError where there is none."""
    from bakeoff.store.everywhere import every_comparison
    from bakeoff.store.results import find

    if not everything:
        wanted: list[str | None] = [*names] or [None]
        return every_comparison(find(results, name) for name in wanted)
    if names:
        msg = f"--all takes every comparison: leave out {', '.join(names)}, or --all"
        raise UsageError(msg)
    if found := every_comparison([results]):
        return found
    msg = f"no comparison in {results}: run one first (bakeoff run mlp-mnist), or name its directory by --results"
    raise UsageError(msg)


def _rows(of: str, folder: Path, *, redact: bool) -> "list[Row]":
    """Return a comparison's rows."""
    from bakeoff.cli.report import told_if_absurd
    from bakeoff.judge.comparison import judge_comparison
    from bakeoff.report.export.tables import rows_of
    from bakeoff.report.redacted import redacted
    from bakeoff.store.results import read_records

    with told_if_absurd():
        outcome = judge_comparison(folder)
        said = redacted(outcome) if redact else outcome
        return rows_of(of, outcome, read_records(folder).records.values(), said)


def _write(path: Path, content: bytes, what: str) -> None:
    """Write a file, or to stdout."""
    from bakeoff.store.files import write_atomically

    if path == STDOUT:
        typer.echo(content.decode(), nl=False)
    else:
        write_atomically(path, content)
        typer.echo(f"{what} in {path}", err=True)

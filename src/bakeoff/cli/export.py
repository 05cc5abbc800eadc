"""`bakeoff export`: every timed block, or every verdict, as a table for other programs."""

import os
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bakeoff.cli import FAILED, completing, parameters, showing
from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.spec.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.report.export.columns import Row
    from bakeoff.report.export.files import Bytes, Writer

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
    from bakeoff.report.export.tables import table_named

    table_named(of)
    files = {name: path for name, path in (("parquet", parquet), ("csv", csv), ("jsonl", jsonl)) if path is not None}
    _check(files, force=force)
    folders = _folders(Path(results), comparisons or [], everything=everything)
    lost = _written(of, folders, files, redact=redact, everything=everything)
    if lost:
        raise typer.Exit(FAILED)


def _written(of: str, folders: list[Path], files: dict[str, Path], *, redact: bool, everything: bool) -> int:
    """Write the rows of one comparison after another; return how many could not be read, each named on stderr.

    Raises StoreError, and writes nothing, for one that was named, and where none can be read.
    """
    from bakeoff.store.absurd import told_if_absurd

    rows, lost = 0, 0
    with told_if_absurd(), _opened(of, files) as writers:
        for folder in folders:
            try:
                found = _rows(of, folder, redact=redact)
            except StoreError as error:
                lost += 1
                if not everything or lost == len(folders):
                    raise
                typer.echo(f"left out: {plain(str(error))}", err=True)
                continue
            rows += len(found)
            for writer in writers:
                writer.write(found)
    for path in files.values():
        if path != STDOUT:
            typer.echo(f"{rows} {of} in {path}", err=True)
    return lost


def _check(files: dict[str, Path], *, force: bool) -> None:
    """Raise UsageError where no file is named, one cannot be written to, or is there already."""
    if not files:
        msg = "name a file to write: --csv FILE, --jsonl FILE or --parquet FILE; of CSV and JSON lines - is stdout"
        raise UsageError(msg)
    if files.get("parquet") == STDOUT:
        msg = "--parquet - : Parquet is no text for stdout; name a file, or take --csv - or --jsonl -"
        raise UsageError(msg)
    if len({os.path.realpath(path) for path in files.values()}) < len(files):
        msg = "two formats cannot be one file: name a file for each"
        raise UsageError(msg)
    for path in files.values():
        if path == STDOUT or not os.path.lexists(path):
            continue
        may_be = path.is_file() or not path.exists()  # a file, or a link that leads nowhere
        if not (force and may_be):
            why = "is there: name another file, or replace it by --force" if may_be else "is no file to replace"
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
    """Return a comparison's rows; records of it that are not used are named on stderr."""
    from bakeoff.judge.comparison import judge
    from bakeoff.report.export.tables import rows_of
    from bakeoff.report.redacted import redacted
    from bakeoff.store.absurd import told_if_absurd

    with told_if_absurd():
        outcome, found = judge(folder)
        rows = rows_of(of, outcome, found.records.values(), redacted(outcome) if redact else outcome)
    for sentence in found.damaged:
        typer.echo(f"left out: {plain(sentence)}", err=True)
    return rows


@contextmanager
def _opened(of: str, files: dict[str, Path]) -> "Iterator[list[Writer]]":
    """Yield a writer for each file, which is there once all is written, and not at all where an error comes before."""
    from bakeoff.report.export.files import WRITERS

    with ExitStack() as stack:
        writers = []
        for name, path in files.items():
            # What one format lacks leaves nothing behind: a file is replaced at the end, after its writer is closed.
            writers.append(WRITERS[name](of, stack.enter_context(_file(path))))
            stack.callback(writers[-1].close)
        yield writers


@contextmanager
def _file(path: Path) -> "Iterator[Bytes]":
    """Yield what is written to for a path."""
    from bakeoff.store.files import replacing

    if path == STDOUT:
        yield _Stdout()
        return
    showing.say_new_folder(path)
    with replacing(path) as file:
        yield file


class _Stdout:
    """Takes bytes for stdout, whole lines at a time."""

    def write(self, content: bytes) -> None:
        """Print them, in the characters that stdout has."""
        typer.echo(content.decode(), nl=False)

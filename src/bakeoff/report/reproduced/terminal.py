"""Published beside measured on a terminal: 80 columns are enough, and so is ASCII."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from bakeoff.report.reproduced.model import files, reproduced_of
from bakeoff.report.terminal import readable

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.report.details import Table

_GAP = "  "
"""Between columns."""


def show(study: StudyOutcome, console: Console | None = None) -> None:
    """Print what was published beside what was measured."""
    console = console or Console()
    model = reproduced_of(study)
    console.print()
    _say(console, model.title, "bold")
    _say(console, model.headline)
    for line in model.conditions:
        _say(console, line)
    for titled in [*model.tables, *model.more]:
        console.print()
        _say(console, titled.title, "bold")
        _lay(titled.table, console)
    console.print()
    for line in [*model.holes, *model.open_points, f"Source: {model.citation}"]:
        _say(console, line)
    console.print()
    for name, path in files(study).items():
        if name in ("records", "report", "chart"):
            _say(console, f"{name:<8} {path}", whole=True)
    if study.study.command:
        _say(console, f"{'again':<8} {study.study.command}", whole=True)


def _say(console: Console, text: str, style: str = "", *, whole: bool = False) -> None:
    """Print one paragraph; `whole` never breaks it."""
    plain = Text(readable(text, console.encoding), style=style)
    console.print(plain, soft_wrap=whole, highlight=False, emoji=False)


def _lay(found: Table, console: Console) -> None:
    """Print a table; where it is wider than the terminal, its columns go on beneath in tables of their own."""
    columns = [
        [readable(text, console.encoding) for text in column]
        for column in zip(found.heads, *(line.cells for line in found.lines), strict=True)
    ]
    names, *others = [_padded(column) for column in columns]
    part: list[list[str]] = []
    for column in others:
        if part and cell_len(_GAP.join([names[0], *(one[0] for one in part), column[0]])) > console.width:
            _print_part(names, part, console)
            part = []
        part.append(column)
    _print_part(names, part, console)


def _padded(column: list[str]) -> list[str]:
    """Give the cells of a column the same width."""
    width = max(map(cell_len, column))
    return [text + " " * (width - cell_len(text)) for text in column]


def _print_part(names: list[str], columns: list[list[str]], console: Console) -> None:
    """Print some columns beside the names of the rows."""
    for index, cells in enumerate(zip(names, *columns, strict=True)):
        _say(console, _GAP.join(cells).rstrip(), "dim" if index == 0 else "", whole=True)

"""A study on a terminal: a line for each point, a column for each contender; columns that do not fit stand below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from bakeoff.report.study.model import StudyReport, report_of
from bakeoff.report.study.tables import rate_columns, ratio_columns
from bakeoff.report.terminal import readable

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome

_GAP = "  "
"""Between columns."""
_MOST_WARNINGS = 6
"""More would push the answer off the screen; the page has them all."""


def show(study: StudyOutcome, console: Console | None = None) -> None:
    """Print a study: what was done, the tables, the answer, what is missing, and where the rest is."""
    console = console or Console()
    report = report_of(study)
    console.print()
    _say(console, report.title, "bold")
    for line in (report.work, report.machine):
        _say(console, line)
    console.print()
    places = [[head, *(line.place[index] for line in report.lines)] for index, head in enumerate(report.axes)]
    for title, columns in (("samples/s, 95 %", rate_columns(report)), ("ratio of step times", ratio_columns(report))):
        if columns:
            _table(console, title, places, columns)
    _said(report, console)
    for name, path in report.files.items():
        if name in ("records", "report", "chart"):
            _say(console, f"{name:<8} {path}", whole=True)
    if study.study.command:
        _say(console, f"{'again':<8} {study.study.command}", whole=True)


def _table(console: Console, title: str, places: list[list[str]], columns: list[list[str]]) -> None:
    """Print a table in as many parts as the screen's width asks for, each with its lines' places."""
    left = [
        _padded([readable(text, console.encoding) for text in column], right=_is_numeric(column)) for column in places
    ]
    room = console.width - sum(cell_len(column[0]) + len(_GAP) for column in left)
    _say(console, title)
    for part in _parts([_padded([readable(text, console.encoding) for text in one]) for one in columns], room):
        for index, line in enumerate(zip(*left, *part, strict=True)):
            _say(console, _GAP.join(line).rstrip(), "dim" if index == 0 else "", whole=True)
        console.print()


def _parts(columns: list[list[str]], room: int) -> list[list[list[str]]]:
    """Put columns side by side as long as there is room; a part has one at least."""
    parts: list[list[list[str]]] = [[]]
    used = 0
    for column in columns:
        width = cell_len(column[0]) + len(_GAP)
        if parts[-1] and used + width - len(_GAP) > room:
            parts.append([])
            used = 0
        parts[-1].append(column)
        used += width
    return parts


def _padded(column: list[str], *, right: bool = False) -> list[str]:
    """Give a column in which all are as wide as the widest."""
    width = max(map(cell_len, column))
    spaces = [" " * (width - cell_len(text)) for text in column]
    return [space + text if right else text + space for text, space in zip(column, spaces, strict=True)]


def _is_numeric(column: list[str]) -> bool:
    """Tell whether a column holds numbers under its head."""
    return all(text.replace(".", "", 1).isdigit() for text in column[1:])


def _said(report: StudyReport, console: Console) -> None:
    """Print the answer, what is missing, what it is worth, and the warnings."""
    for line in (report.headline, *report.holes, report.error_rate, f"Evidence: {report.evidence}."):
        if line:
            _say(console, line)
    for caution in report.cautions[:_MOST_WARNINGS]:
        _say(console, f"warning: {caution}", "yellow")
    if len(report.cautions) > _MOST_WARNINGS:
        _say(console, f"warning: {len(report.cautions) - _MOST_WARNINGS} more are in the report", "yellow")
    console.print()


def _say(console: Console, text: str, style: str = "", *, whole: bool = False) -> None:
    """Print one paragraph; `whole` never breaks it, so that a path, a command or a table's line stays one."""
    if text:
        plain = Text(readable(text, console.encoding), style=style)
        console.print(plain, soft_wrap=whole, highlight=False, emoji=False)

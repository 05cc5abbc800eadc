"""An outcome on a terminal, on a pipe, in a log: 80 columns are enough, and so is ASCII."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from bakeoff.report.model import Report, Row, report_of
from bakeoff.report.tiertables import tier_table
from bakeoff.report.whole import whole_lines, whole_table

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome

_GAP = "  "
"""Between columns."""


def show(outcome: Outcome, console: Console | None = None) -> None:
    """Print an outcome: what was done, the table, the sentences, and where the rest is."""
    console = console or Console()
    report = report_of(outcome)
    _head(report, console)
    _figures(report, console)
    _tiers(report, console)
    _whole(report, console)
    _absent(report, console)
    _said(report, console)
    _where(report, console)


def readable(text: str, encoding: str) -> str:
    """Give text that a terminal of this encoding can show and that cannot steer it: other characters are escaped."""
    shown = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    if encoding.lower().replace("_", "-").startswith("utf"):
        return shown
    return shown.replace("\N{MICRO SIGN}", "u").encode(encoding, "backslashreplace").decode(encoding)


def _say(console: Console, text: str, style: str = "", *, whole: bool = False) -> None:
    """Print one paragraph; `whole` never breaks it, so that a path or a command can be copied."""
    plain = Text(readable(text, console.encoding), style=style)
    console.print(plain, soft_wrap=whole, highlight=False, emoji=False)


def _head(report: Report, console: Console) -> None:
    """Print what was done and on what, on one line where it fits; then the certificate."""
    space = console.width - cell_len(report.work) - cell_len(report.machine)
    console.print()
    if space >= len(_GAP):
        _say(console, report.work + " " * space + report.machine, "bold")
    else:
        _say(console, report.work, "bold")
        _say(console, report.machine)
    _say(console, f"certificate: {report.certificate}")
    console.print()


_MEASURED = ("step time", "95 %", "samples/s", "first step", "memory")
_COMPARED = ("against",)


def _figures(report: Report, console: Console) -> None:
    """Print one table where it fits, else the ratios in a table of their own."""
    if not report.rows:
        return
    cells = _cells(report.rows)
    labels = ["", *(readable(row.label, console.encoding) for row in report.rows)]
    whole, *parts = (
        [_column(report.against if name == "against" else name, cells[name]) for name in names]
        for names in ((*_MEASURED, *_COMPARED), _MEASURED, _COMPARED)
    )
    fits = max(map(cell_len, _beside(labels, whole))) <= console.width
    for columns in [whole] if fits else parts:
        _lay(labels, columns, console)


def _lay(labels: list[str], columns: list[list[str]], console: Console) -> None:
    """Print a table."""
    lines = _beside(labels, columns)
    if max(map(cell_len, lines)) > console.width:
        lines = _beneath(labels, columns)
    for index, line in enumerate(lines):
        _say(console, line, "dim" if index == 0 else "", whole=True)
    console.print()


def _tiers(report: Report, console: Console) -> None:
    """Print the tiers of each framework side by side, where there are several."""
    found = tier_table(report)
    if not found.lines:
        return
    rows = [[readable(cell, console.encoding) for cell in line.cells] for line in found.lines]
    columns = [list(column) for column in zip(found.heads, *rows, strict=True)]
    padded = [[text.ljust(max(map(cell_len, column))) for text in column] for column in columns]
    _lay(padded[0], padded[1:], console)


def _whole(report: Report, console: Console) -> None:
    """Print the runs of whole epochs: a table, and under it each process by itself."""
    for line in whole_lines(report):
        _say(console, line)
    found = whole_table(report)
    if not found.lines:
        return
    rows = [[readable(cell, console.encoding) for cell in line.cells] for line in found.lines]
    columns = [_right(list(column)) for column in zip(found.heads[1:-1], *(row[1:-1] for row in rows), strict=True)]
    _lay(["", *(row[0] for row in rows)], columns, console)
    for row in rows:
        _say(console, f"{row[0]}, run by run: {row[-1]}")
    console.print()


def _right(column: list[str]) -> list[str]:
    """Set a column right."""
    return [text.rjust(max(map(len, column))) for text in column]


def _column(head: str, cells: list[str]) -> list[str]:
    """Pad a column; numbers that are not aligned on their point are set right."""
    width = max(map(cell_len, [head, *cells]))
    if head in ("samples/s", "first step", "memory"):
        return [text.rjust(width) for text in (head, *cells)]
    return [text.ljust(width) for text in (head, *cells)]


def _beside(labels: list[str], columns: list[list[str]]) -> list[str]:
    """Set each line's figures beside its label."""
    width = max(map(cell_len, labels))
    padded = [label + " " * (width - cell_len(label)) for label in labels]
    return [_GAP.join(line).rstrip() for line in zip(padded, *columns, strict=True)]


def _beneath(labels: list[str], columns: list[list[str]]) -> list[str]:
    """Set each line's figures beneath its label, which is too long to stand beside them."""
    head, *figures = (_GAP + _GAP.join(line).rstrip() for line in zip(*columns, strict=True))
    pairs = zip(labels[1:], figures, strict=True)
    return [head, *(line for label, figure in pairs for line in (label, figure) if line.strip())]


def _cells(rows: list[Row]) -> dict[str, list[str]]:
    """Give the cells of every column, aligned."""
    lows, highs = on_point([row.low for row in rows]), on_point([row.high for row in rows])
    ratios = on_point([row.ratio for row in rows])
    width = max(len(row.interval) for row in rows)
    compared = [f"{ratio} {row.interval:<{width}}  {row.verdict}" for ratio, row in zip(ratios, rows, strict=True)]
    return {
        "step time": _with_unit([row.step for row in rows]),
        "95 %": [f"{low} to {high}" if high.strip() else "" for low, high in zip(lows, highs, strict=True)],
        "samples/s": [row.samples_per_s for row in rows],
        "first step": _with_unit([row.first_step for row in rows]),
        "memory": [row.memory for row in rows],
        "against": [text.rstrip() for text in compared],
    }


def _with_unit(quantities: list[str]) -> list[str]:
    """Align numbers that are followed by their unit."""
    parts = [quantity.partition(" ") for quantity in quantities]
    numbers = on_point([number for number, _, _ in parts])
    return [f"{number} {unit}".rstrip() for number, (_, _, unit) in zip(numbers, parts, strict=True)]


def on_point(numbers: list[str]) -> list[str]:
    """Pad numbers so that their decimal points stand in one column."""
    parts = [number.partition(".") for number in numbers]
    left = max(len(whole) for whole, _, _ in parts)
    right = max(len(point + decimals) for _, point, decimals in parts)
    return [f"{whole:>{left}}{point + decimals:<{right}}" for whole, point, decimals in parts]


def _absent(report: Report, console: Console) -> None:
    """Print who is not ranked, and why."""
    if not report.absent:
        return
    _say(console, "not ranked", "dim")
    for one in report.absent:
        _say(console, f"  {one.label}  {one.status}: {one.reason}")
    console.print()


def _said(report: Report, console: Console) -> None:
    """Print the sentences, accuracy, short runs and warnings."""
    lines = [
        *report.sentences,
        report.short_runs,
        report.latency,
        report.accuracy,
        report.device_memory,
        f"Evidence: {report.evidence}.",
    ]
    for line in lines:
        if line:
            _say(console, line)
    for caution in report.cautions:
        _say(console, f"warning: {caution}", "yellow")
    console.print()


def _where(report: Report, console: Console) -> None:
    """Print where the records and reports are, and how to repeat it all."""
    for name, path in report.files.items():
        if name in ("records", "report", "chart"):
            _say(console, f"{name:<8} {path}", whole=True)
    if report.outcome.comparison.command:
        _say(console, f"{'again':<8} {report.outcome.comparison.command}", whole=True)

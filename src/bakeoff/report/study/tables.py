"""The columns of a study's tables: each is its head and a cell for every point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.details import Line, Table
from bakeoff.report.terminal import on_point

if TYPE_CHECKING:
    from bakeoff.report.study.model import Cell, StudyReport

VERDICT = "verdict"
"""Head of the column of words."""


def rate_columns(report: StudyReport) -> list[list[str]]:
    """Give a column for each contender, and who is fastest."""
    columns = []
    for label in report.labels:
        cells = [line.cells[label] for line in report.lines]
        rates = on_point([cell.rate for cell in cells])
        columns.append([label, *(_rate(cell, rate) for cell, rate in zip(cells, rates, strict=True))])
    if len(report.labels) > 1:
        columns.append([VERDICT, *(line.verdict for line in report.lines)])
    return columns


def _rate(cell: Cell, rate: str) -> str:
    """Give "32,700 [31,000, 34,000]", or in a word why there is none."""
    if cell.hole or not cell.rate:
        return cell.hole
    return f"{rate} [{cell.interval.replace(' to ', ', ')}]" if cell.interval else rate


def ratio_columns(report: StudyReport) -> list[list[str]]:
    """Give a column for each pair: the ratio of its step times with the verdict on its first."""
    columns = []
    for pair in report.pairs:
        known = [line.ratios.get(pair) for line in report.lines]
        numbers = on_point([ratio.text.partition(" ")[0] if ratio else "" for ratio in known])
        cells = [
            f"{number} {ratio.text.partition(' ')[2]}  {ratio.verdict}" if ratio else ""
            for number, ratio in zip(numbers, known, strict=True)
        ]
        columns.append([" / ".join(pair), *cells])
    return columns


def table(report: StudyReport, columns: list[list[str]]) -> Table:
    """Put columns beside the points' places, for a page."""
    lines = [
        Line([*line.place, *(" ".join(column[index].split()) for column in columns)])
        for index, line in enumerate(report.lines, start=1)
    ]
    heads = [*report.axes, *(column[0] for column in columns)]
    return Table(heads, lines, words=len(report.axes), last_words=int(heads[-1] == VERDICT))

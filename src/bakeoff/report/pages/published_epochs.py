"""The table of epochs that a document tells apart: what is new to a program costs time in the first one alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.judge.reproduced_epochs import epoch_lines
from bakeoff.report.page import Line, Table
from bakeoff.report.units import UNKNOWN, rounded, unit_for

if TYPE_CHECKING:
    from bakeoff.judge.reproduced_epochs import EpochLine
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.report.units import Unit
    from bakeoff.spec.published import PublishedStudy

_DIGITS = 3
"""Of epochs: runs differ in the second or third."""

_NAMES = {1: "first", 2: "second"}

_HEADS = [
    "epoch",
    "published / steps",
    "a step there",
    "here / steps",
    "range",
    "a step here",
    "over the second there",
    "here",
    "compiled",
]


def epochs_table(study: StudyOutcome, published: PublishedStudy) -> Table:
    """Return both epochs of every row that has a figure or was measured.

    Where no document's figures tell epochs apart, the table has no line.
    """
    every = epoch_lines(study, published)
    seconds = {(one.comparison, one.row): one for one in every if one.epoch == len(_NAMES)}
    shown = [one for one in every if one.published_s is not None or one.epochs_s]
    lines = [Line(_cells(one, seconds[one.comparison, one.row])) for one in shown]
    return Table(_HEADS, lines, right=tuple(range(1, len(_HEADS))))


def _cells(line: EpochLine, second: EpochLine) -> list[str]:
    """Return one epoch; `second` is the second one of the same row."""
    name = f"{line.comparison}, {line.row}: {_NAMES[line.epoch]}"
    if line.published_s is None:
        there = ["no number", ""]
    else:
        step_s = line.published_s / line.published_steps
        there = [f"{line.published_s:g} s / {line.published_steps:,}", _time(step_s, unit_for([step_s]))]
    ratios = [_over(line.published_s, second.published_s), _over(line.epoch_s, second.epoch_s)]
    compiled = "" if not line.epochs_s else UNKNOWN if line.compiled is None else f"{line.compiled:,}"
    return [name, *there, *_here(line), *ratios, compiled]


def _here(line: EpochLine) -> list[str]:
    """Return the epoch here with its steps, its range over the runs, and the time of a step in it."""
    if line.epoch_s is None:
        return ["not measured", "", ""]
    unit, step_s = unit_for([line.epoch_s]), line.epoch_s / line.steps
    ends = " to ".join(rounded(end(line.epochs_s) * unit.per_base, _DIGITS) for end in (min, max))
    spread = ends if len(line.epochs_s) > 1 else ""
    return [f"{_time(line.epoch_s, unit)} / {line.steps:,}", spread, _time(step_s, unit_for([step_s]))]


def _over(one: float | None, other: float | None) -> str:
    """Return a ratio of two times; empty where one of them is not there."""
    return rounded(one / other, _DIGITS) if one and other else ""


def _time(seconds: float, unit: Unit) -> str:
    """Return a time with its unit."""
    return f"{rounded(seconds * unit.per_base, _DIGITS)} {unit.name}"

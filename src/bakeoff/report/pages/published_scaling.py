"""The table of communication overheads: as a document prints them, and as they were measured here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.judge.reproduced_scaling import overhead_lines
from bakeoff.report.page import Line, Table
from bakeoff.report.units import rounded, tenths

if TYPE_CHECKING:
    from bakeoff.judge.reproduced_scaling import OverheadLine
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.spec.published import PublishedStudy

_HEADS = ["overhead on several devices", "published, %", "here, %", "95 % CI", "samples/s here"]


def overheads_table(study: StudyOutcome, published: PublishedStudy) -> Table:
    """Return every row that has an overhead in the document or here; no line where all rows are on one device.

    A document that prints none has no column.
    """
    shown = [
        one for one in overhead_lines(study, published) if one.published is not None or one.samples_per_s is not None
    ]
    left_out = () if any(one.published is not None for one in shown) else (_HEADS.index("published, %"),)
    heads, *lines = (
        [cell for place, cell in enumerate(cells) if place not in left_out] for cells in (_HEADS, *map(_cells, shown))
    )
    return Table(heads, [Line(cells) for cells in lines], right=tuple(range(1, len(heads))))


def _cells(line: OverheadLine) -> list[str]:
    """Return one row; an overhead may be below 0, where several devices take less time than one."""
    there = "" if line.published is None else f"{100 * line.published:.3f}"
    samples = "" if line.samples_per_s is None else rounded(line.samples_per_s, 3)
    name = f"{line.comparison}, {line.row}"
    if line.overhead is None:
        so_far = "" if line.so_far is None else f"{tenths(line.so_far)} so far"
        return [name, there, "not measured" if line.hole else so_far, "" if line.hole else "no interval yet", samples]
    low, high = map(tenths, (line.overhead.low, line.overhead.high))
    return [name, there, tenths(line.overhead.estimate), f"{low} to {high}", samples]

"""The table of memory: each of a document's figures beside what stands for it here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.judge.reproduced_memory import memory_lines
from bakeoff.report.page import Line, Table
from bakeoff.report.units import UNKNOWN, size

if TYPE_CHECKING:
    from bakeoff.judge.reproduced_memory import MemoryLine
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.spec.published import PublishedStudy


def memory_table(study: StudyOutcome, published: PublishedStudy) -> Table:
    """Return a line for each figure of memory; none where the document gives none."""
    lines = [Line(_cells(one)) for one in memory_lines(study, published)]
    return Table(["memory", "published", "here", "what it is here"], lines, right=(1, 2), last_words=1)


def _cells(line: MemoryLine) -> list[str]:
    """Return one figure."""
    if line.kind == "not kept":
        here = ""
    elif line.hole:
        here = "not measured"
    else:
        here = UNKNOWN if line.held_bytes is None else size(line.held_bytes)
    return [f"{line.comparison}, {line.row}: {line.name}", f"{line.published_gb:g} GB", here, line.kind]

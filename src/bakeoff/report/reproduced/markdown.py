"""Published beside measured as GitHub Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.markdown import escaped, table
from bakeoff.report.reproduced.model import reproduced_of

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome


def to_markdown(study: StudyOutcome) -> str:
    """Give the section of a page."""
    model = reproduced_of(study)
    parts = [
        f"# {escaped(model.title)}\n",
        f"**{escaped(model.headline)}**\n",
        "".join(f"- {escaped(line)}\n" for line in model.conditions),
    ]
    for titled in [*model.tables, *model.more]:
        found = titled.table
        numbers = range(found.words, len(found.heads) - found.last_words)
        laid = table(found.heads, [line.cells for line in found.lines], numbers=numbers)
        parts += [f"### {escaped(titled.title)}\n", laid]
    notes = [*model.holes, *model.open_points, f"Source: {model.citation}"]
    return "\n".join([*parts, "".join(f"- {escaped(line)}\n" for line in notes)])

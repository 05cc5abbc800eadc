"""A study as GitHub Markdown, fit for a README."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.report.markdown import again, escaped
from bakeoff.report.markdown import table as laid
from bakeoff.report.study.model import report_of
from bakeoff.report.study.tables import rate_columns, ratio_columns, table

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.report.study.model import StudyReport


def to_markdown(study: StudyOutcome) -> str:
    """Give headline, tables, sentences, warnings and how to repeat it."""
    report = report_of(study)
    sentences = [*report.holes, report.error_rate, f"Evidence: {report.evidence}."]
    warnings = [f"Warning: {caution}" for caution in report.cautions]
    parts = [
        f"## {escaped(report.title)}\n",
        f"**{escaped(report.headline)}**\n",
        f"{escaped('; '.join(part for part in (report.work, report.machine) if part) or 'nothing was run')}.\n",
        _table("Samples/s with 95 % intervals, and the verdict at each point:", report, rate_columns(report)),
        _table("Ratio of step times, first over second; the verdict is on the first:", report, ratio_columns(report)),
        "".join(f"- {escaped(line)}\n" for line in [*sentences, *warnings] if line),
        again(study.outcomes, study.bakeoff, study.created_at, study.study.command),
    ]
    return "\n".join(part for part in parts if part)


def _table(caption: str, report: StudyReport, columns: list[list[str]]) -> str:
    """Lay out a table under what it shows; nothing where there is nothing."""
    if not columns:
        return ""
    known = table(report, columns)
    numbers = range(len(report.axes), len(known.heads))
    heads = [escaped(head) for head in known.heads]
    return f"{caption}\n\n{laid(heads, [line.cells for line in known.lines], numbers=numbers)}"

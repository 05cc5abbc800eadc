"""A study as one HTML page that needs nothing else; every comparison has a page of its own, which it links to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bakeoff.report import charts
from bakeoff.report.html import environment
from bakeoff.report.study.charts import figures
from bakeoff.report.study.model import report_of
from bakeoff.report.study.tables import rate_columns, ratio_columns, table

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.report.study.model import Line, StudyReport

_COLUMNS = {"Samples/s": rate_columns, "Ratio by point": ratio_columns}


def to_html(study: StudyOutcome, folder: Path | None = None) -> str:
    """Give the page; links are relative to the `folder` that it will stand in (here)."""
    report = report_of(study)
    pictures = [
        {"finding": finding, "svg": charts.inline_svg(draw(report)), "table": table(report, _COLUMNS[name](report))}
        for name, finding, draw in figures(report)
    ]
    page: str = (
        environment()
        .get_template("study.html.j2")
        .render(
            sections=[],
            report=report,
            pictures=pictures,
            comparisons=[_comparison(line, folder or Path()) for line in report.lines],
            records=_link(report.study.path, folder or Path()),
            begun=_begun(report),
        )
    )
    return page


def _comparison(line: Line, folder: Path) -> dict[str, Any]:
    """Give what the page says of one point's comparison, with its own page where that is there."""
    outcome = line.outcome
    if outcome is None:
        return {"title": line.title, "link": "", "command": "", "said": "not measured"}
    page = Path(outcome.path) / "report.html"
    link = _link(str(page if page.exists() else outcome.path), folder)
    said = f"{outcome.ended}, {outcome.rounds} rounds"
    return {"title": line.title, "link": link, "command": outcome.comparison.command, "said": said}


def _begun(report: StudyReport) -> str:
    """Tell when and by what the study was made."""
    study = report.study
    return f"bakeoff {study.bakeoff}, study {study.id}, begun {study.created_at}."


def _link(path: str, folder: Path) -> str:
    """Give the address of a file or folder, relative to the page's folder."""
    return quote(Path(os.path.relpath(path, folder)).as_posix())

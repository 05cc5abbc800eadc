"""Published beside measured as one HTML page that needs nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from bakeoff.report.charts import inline_svg
from bakeoff.report.html import environment
from bakeoff.report.model import REPORT_FILES
from bakeoff.report.reproduced.charts import pictures
from bakeoff.report.reproduced.model import reproduced_of

if TYPE_CHECKING:
    from bakeoff.judge.study import PointOutcome, StudyOutcome


def to_html(study: StudyOutcome, folder: Path | None = None) -> str:
    """Give the page; links to the comparisons' own are relative to the `folder` it will stand in (here)."""
    drawn = [{"finding": said, "svg": inline_svg(chart)} for said, chart in pictures(study)]
    page: str = (
        environment()
        .get_template("reproduced.html.j2")
        .render(
            model=reproduced_of(study),
            pictures=drawn,
            command=study.study.command,
            comparisons=[_link(point, folder or Path()) for point in study.points if point.outcome],
            sections=[],
        )
    )
    return page


def _link(point: PointOutcome, folder: Path) -> dict[str, str]:
    """Give where a comparison's own report is, or its records where it has none."""
    assert point.outcome is not None
    path = Path(point.outcome.path)
    report = path / REPORT_FILES["report"]
    target = Path(os.path.relpath(report if report.exists() else path, folder))
    return {"title": point.point.title, "name": path.name, "link": quote(target.as_posix())}

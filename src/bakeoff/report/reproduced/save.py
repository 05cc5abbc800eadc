"""The reports beside a study's records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.report import save as comparison_reports
from bakeoff.report.model import REPORT_FILES
from bakeoff.report.reproduced.charts import render
from bakeoff.report.reproduced.html import to_html
from bakeoff.report.reproduced.markdown import to_markdown
from bakeoff.store.files import write_atomically

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome


def save(study: StudyOutcome) -> dict[str, Path]:
    """Write page, Markdown and pictures into the study's folder, each comparison's into its own; give the study's."""
    for outcome in study.outcomes:
        comparison_reports.save(outcome)
    folder = Path(study.path)
    contents = {
        "report": to_html(study, folder).encode(),
        "markdown": to_markdown(study).encode(),
        "chart": render(study, "png"),
        "drawing": render(study, "svg"),
    }
    paths = {name: folder / file for name, file in REPORT_FILES.items()}
    for name, content in contents.items():
        write_atomically(paths[name], content)
    return paths

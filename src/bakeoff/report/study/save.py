"""The reports of a study and of each of its comparisons, beside their records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.report import save as comparison
from bakeoff.report.study import charts
from bakeoff.report.study.html import to_html
from bakeoff.report.study.markdown import to_markdown
from bakeoff.report.study.model import FILES
from bakeoff.store.files import write_atomically

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome


def save(study: StudyOutcome) -> dict[str, Path]:
    """Write page, Markdown and charts of every comparison and of the study; give the study's paths by name."""
    for outcome in study.outcomes:
        comparison.save(outcome)
    folder = Path(study.path)
    contents = {
        "report": to_html(study, folder).encode(),
        "markdown": to_markdown(study).encode(),
        "chart": charts.render(study, "png"),
        "drawing": charts.render(study, "svg"),
    }
    paths = {name: folder / file for name, file in FILES.items()}
    for name, path in paths.items():
        write_atomically(path, contents[name])
    return paths

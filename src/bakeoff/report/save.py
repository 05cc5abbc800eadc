"""The reports beside a comparison's records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.report import charts
from bakeoff.report.html import to_html
from bakeoff.report.markdown import to_markdown
from bakeoff.report.model import REPORT_FILES, report_of
from bakeoff.store.files import write_atomically

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome


def save(outcome: Outcome) -> dict[str, Path]:
    """Write page, Markdown and charts into the comparison's folder; give their paths by name."""
    folder = Path(outcome.path)
    report = report_of(outcome)
    contents = {
        "report": to_html([outcome], folder).encode(),
        "markdown": to_markdown([outcome]).encode(),
        "chart": charts.render([report], "png"),
        "drawing": charts.render([report], "svg"),
    }
    paths = {name: folder / file for name, file in REPORT_FILES.items()}
    for name, path in paths.items():
        write_atomically(path, contents[name])
    return paths

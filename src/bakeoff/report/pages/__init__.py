"""One file an undertaking: from its outcome to its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.judge.explanation import Explanation
from bakeoff.judge.outcome import Outcome
from bakeoff.judge.search import SearchOutcome
from bakeoff.report.pages import explanation
from bakeoff.report.pages.acceptance import acceptance_page
from bakeoff.report.pages.comparison import comparison_page
from bakeoff.report.pages.reproduction import reproduction_page
from bakeoff.report.pages.search import search_page
from bakeoff.report.pages.study import study_page
from bakeoff.spec.acceptance import AcceptanceOutcome

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.report.page import Page


def page_of(outcome: Outcome | StudyOutcome | SearchOutcome | AcceptanceOutcome | Explanation) -> Page:
    """Return the page of whatever was undertaken."""
    if isinstance(outcome, Explanation):
        return explanation.page(outcome)
    if isinstance(outcome, AcceptanceOutcome):
        return acceptance_page(outcome)
    if isinstance(outcome, Outcome):
        return comparison_page(outcome)
    if isinstance(outcome, SearchOutcome):
        return search_page(outcome)
    return study_page(outcome) if outcome.study.reproduces is None else reproduction_page(outcome)

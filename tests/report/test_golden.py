"""What every form says of every kind of outcome, held against accepted texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT
from tests.report.accepted.conftest import accepted
from tests.report.explained.conftest import explained, kinds_alone, nobody, unexplained
from tests.report.reproduced.conftest import article, figure, full, scaled
from tests.report.search.conftest import device, host
from tests.report.shown import check_golden, html, json_text, markdown, printed, rounded, visible
from tests.report.study.conftest import batches, empty, modes, threads

from bakeoff.judge.comparison import judge_comparison

__all__ = ["accepted", "article", "batches", "device", "empty", "explained", "figure", "full", "host", "kinds_alone"]
__all__ += ["modes", "nobody", "scaled", "threads", "unexplained"]

COMPARISONS = ("undecided", "decided", "mixed", "same", "early", "noisy", "bare", "lit")
STUDIES = ("batches", "modes", "threads", "empty")
REPRODUCED = ("scaled", "full", "figure", "article")
SEARCHES = ("host", "device")
EXPLAINED = ("unexplained", "kinds_alone", "nobody")
RECORD = Path("docs/records/mlp-mnist-07d5")

NAMES = {name: name for name in COMPARISONS}
NAMES |= {name: f"study-{name}" for name in STUDIES}
NAMES |= {name: f"reproduced-{name}" for name in REPRODUCED}
NAMES |= {name: f"search-{name}" for name in SEARCHES}
NAMES |= {name: f"explained-{name.replace('_', '-')}" for name in EXPLAINED} | {"explained": "explained"}
NAMES |= {"accepted": "accepted", "record": "record"}

CASES = list(NAMES)


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the comparison that docs/records keeps."""
    monkeypatch.chdir(ROOT)
    return judge_comparison(RECORD)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("case", CASES)
def test_golden_terminal(case: str, width: int, request: pytest.FixtureRequest) -> None:
    """The text on 80 and on 120 columns, without colour, is the accepted one."""
    name = NAMES[case] if width == 80 else f"{NAMES[case]}-{width}"
    check_golden(f"{name}.txt", printed(request.getfixturevalue(case), width))


@pytest.mark.parametrize("case", CASES)
def test_golden_markdown(case: str, request: pytest.FixtureRequest) -> None:
    """The Markdown is the accepted one."""
    check_golden(f"{NAMES[case]}.md", markdown(request.getfixturevalue(case)))


@pytest.mark.parametrize("case", CASES)
def test_golden_json(case: str, request: pytest.FixtureRequest) -> None:
    """The JSON object is the accepted one, whatever the order of its keys."""
    check_golden(f"{NAMES[case]}.json", json_text(request.getfixturevalue(case)), read=rounded)


@pytest.mark.parametrize("case", CASES)
def test_golden_page(case: str, request: pytest.FixtureRequest) -> None:
    """What a reader sees of the page is the accepted text."""
    check_golden(f"{NAMES[case]}.html.txt", visible(html(request.getfixturevalue(case))))

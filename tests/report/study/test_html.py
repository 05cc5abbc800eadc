from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.shown import html

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.judge.study import StudyOutcome


@pytest.mark.parametrize("case", ["batches", "modes", "threads", "empty"])
def test_the_page_needs_nothing_else(case: str, request: pytest.FixtureRequest) -> None:
    """One file without script and network, whose answer stands before its tables."""
    page = html(request.getfixturevalue(case))
    assert "<script" not in page
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page)
    assert page.index("<h1") < page.find("<table")


def test_every_picture_has_its_finding_and_its_table(batches: StudyOutcome) -> None:
    """Each of the two pictures has a text for those who do not see it, and its figures below it."""
    page = html(batches)
    labels = re.findall(r'<div role="img" aria-label="([^"]+)">', page)
    assert len(labels) == 2
    assert "jax / torch batch size 8 1.55 (1.47 to 1.63) slower" in labels[1]
    assert ">17,400 " in page


def test_what_is_missing_is_told(modes: StudyOutcome) -> None:
    """A point that could not be had, and a contender that was left out, stand there with their reasons."""
    page = html(modes)
    assert "mode eager, precision bfloat16: no contender can race" in page
    assert "JAX does not have mode=graph" in page


def test_every_comparison_is_linked(batches: StudyOutcome, tmp_path: Path) -> None:
    """The page links to each comparison's own page where there is one, else to its records, and escapes all text."""
    first = batches.points[0].outcome
    assert first is not None
    there = tmp_path / "sweep" / "one"
    there.mkdir(parents=True)
    (there / "report.html").touch()
    points = [
        msgspec.structs.replace(batches.points[0], outcome=msgspec.structs.replace(first, path=str(there))),
        *batches.points[1:],
    ]
    wild = msgspec.structs.replace(batches.study, title="<b>wild</b>")
    page = html(msgspec.structs.replace(batches, points=points, study=wild), folder=tmp_path / "sweep")
    assert 'href="one/report.html"' in page
    assert "<b>wild" not in page

"""The answer is on the screen before the reports are drawn, which takes seconds."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from bakeoff.cli import showing
from bakeoff.judge.comparison import judge_comparison
from bakeoff.report import forms
from bakeoff.report.pages import page_of
from bakeoff.spec.errors import StoreError

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.report.page import Page

RECORDS = Path(__file__).parents[1] / "records" / "mlp-mnist-fada"


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Give a comparison whose folder has no report yet."""
    return judge_comparison(copytree(RECORDS, tmp_path_factory.mktemp("results") / RECORDS.name))


@pytest.mark.parametrize("json", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_the_answer_comes_before_the_reports_are_saved(
    outcome: Outcome, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, json: bool, fails: bool
) -> None:
    """The answer is printed before anything is drawn; where the files are comes last, also where a disk is full."""
    before = []

    def save(page: Page) -> None:
        before.append(capsys.readouterr().out)
        if fails:
            msg = "cannot write report.html: No space left on device"
            raise StoreError(msg)

    monkeypatch.setattr(forms, "save", save)
    if fails:
        with pytest.raises(StoreError):
            showing.show(outcome, json=json)
    else:
        showing.show(outcome, json=json)
    (answer,), end = before, capsys.readouterr().out
    assert page_of(outcome).headline in " ".join(answer.split())
    assert (end == "") == json
    if not json:
        assert end.startswith("records ")
        showing.print_pages([page_of(outcome)])
        assert answer + end == capsys.readouterr().out

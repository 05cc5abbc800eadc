"""Tiers from the request to the report, with the scripted framework."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.report.shown import data_of, html, markdown, printed

from bakeoff.report.pages.comparison import cautions
from bakeoff.report.sections.certificate import certificate_line
from bakeoff.store.results import read_records

pytestmark = pytest.mark.slow

TIERS = ("matched", "native", "best")


def test_the_tiers_stand_side_by_side(race: Any) -> None:
    """Three tiers of a framework are three contenders, one line of a table, and each says what it is."""
    outcome = race("fake", tiers=TIERS)
    assert [one.label for one in outcome.contenders] == [f"fake ({tier})" for tier in TIERS]
    assert all(one.status == "ranked" for one in outcome.contenders)
    for text in (printed(outcome, 200), markdown(outcome), html(outcome)):
        assert "native / matched" in text
        assert "fake (native) is ready-made (fake.models.mlp-mnist): not held against the reference" in text
        assert "fake (best) runs with mode=compiled" in text
        assert "precision=float64 is left out (it is for cuda, and the device is cpu)" in text


def test_a_ready_made_model_is_held_against_nothing(race: Any) -> None:
    """Its gradients are not asked for, its parameters are told beside the workload's, and no reference is computed."""
    outcome = race("fake:tier=native")
    (one,) = outcome.contenders
    assert one.certificate is not None
    assert (one.certificate.passed, one.certificate.reference) == (True, "")
    declared = outcome.comparison.workload.sizes["reduced"].parameters
    assert declared is not None
    assert one.certificate.checks[0].detail == f"{declared + 1:,} parameters where the workload has {declared:,}"
    assert "reference" not in {record.trial.purpose for record in read_records(Path(outcome.path)).records.values()}
    assert certificate_line(outcome) == "fake:tier=native is ready-made, compared with nothing"


def test_a_ready_made_model_that_does_not_train_is_not_raced(race: Any) -> None:
    """Its losses fall, as with every other batch; its parameters are after all steps what they were."""
    (one,) = race("fake:tier=native,wrong=frozen").contenders
    assert one.status == "uncertified"
    assert "6 steps change none of its" in one.reason


def test_best_is_timed_in_its_settings(race: Any) -> None:
    """The preset's options are those of the trials, count as asked for, and are in the JSON with their document."""
    outcome = race("fake:tier=best", "fake")
    best, matched = outcome.contenders
    assert (best.settings["mode"], matched.settings["mode"]) == ("compiled", "eager")
    assert best.plan.asked["mode"] == "compiled"
    made = data_of(outcome)["contenders"]
    assert [one["tier"] for one in made] == ["best", "matched"]
    assert made[0]["best"][0]["source"] == "this file"
    assert made[0]["best_left"] == {"precision=float64": "it is for cuda, and the device is cpu"}
    assert "mode differs although" not in " ".join(cautions(outcome))


def test_a_workload_without_a_ready_made_model_is_a_hole(request_of: Any) -> None:
    """Where the framework names none, the contender is not ranked, and the reason says for which there are."""
    from tests.race.inline import InlineWorker

    from bakeoff.race import conductor
    from bakeoff.spec.request import Request

    asked = {"workload": "mlp-1024", "scenario": "infer", "size": "reduced", "data": "synthetic"}
    request = Request(**asked, contenders=("fake:tier=native",), results=request_of("fake").results, self_test=False)
    outcome = conductor.run(request, launch=InlineWorker, probe_s=0.001)
    (one,) = outcome.contenders
    assert one.status == "uncertified"
    assert one.reason == "the script has no ready-made model for mlp-1024; it has them for mlp-mnist, cnn-apx"

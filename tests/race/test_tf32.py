"""TF32 as it was measured: recorded beside the switch, and refused where it is not what was asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bakeoff.frameworks.fake import engine
from bakeoff.spec.errors import UnsupportedError
from bakeoff.store.results import read_records
from bakeoff.trial import arithmetic, built

if TYPE_CHECKING:
    from tests.race.conftest import Race

    from bakeoff.trial.opened import Opened

KINDS = ("tf32_matmul", "tf32_convolution")


def settings(switches: tuple[bool, bool], measured: tuple[bool, bool]) -> dict[str, Any]:
    """Make what a trial reads back."""
    return dict(zip(KINDS, switches, strict=True)) | {f"{k}_measured": v for k, v in zip(KINDS, measured, strict=True)}


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a function that sets what the scripted framework measures, on the only device that it has."""
    monkeypatch.setattr(arithmetic, "DEVICES", ("cpu",))

    def set_to(*, value: bool) -> None:
        found = {f"{kind}_measured": value for kind in KINDS}
        monkeypatch.setattr(engine.Engine, "measured_tf32", lambda _: found, raising=False)

    return set_to


@pytest.mark.parametrize(
    ("switches", "found", "words"),
    [
        ((False, False), (True, False), "products of matrices of float32"),
        ((False, False), (False, True), "convolutions of float32"),
        ((True, False), (True, True), "convolutions of float32"),
        ((False, False), (True, True), "products of matrices and convolutions of float32"),
        ((True, True), (False, False), "precision=tf32 is not in force"),
    ],
)
def test_another_arithmetic_is_refused(switches: Any, found: Any, words: str) -> None:
    """What is switched off and measured is named; so is TF32 that was asked and is nowhere in force."""
    with pytest.raises(UnsupportedError, match=words):
        arithmetic.check_tf32(settings(switches, found))


@pytest.mark.parametrize(
    ("switches", "found"),
    [((False, False), (False, False)), ((True, True), (True, True)), ((True, True), (True, False))],
)
def test_what_was_asked_is_not_refused(switches: Any, found: Any) -> None:
    """What agrees passes; where TF32 is allowed, a library may take float32 for one kind of product."""
    arithmetic.check_tf32(settings(switches, found))
    arithmetic.check_tf32(dict(zip(KINDS, switches, strict=True)))


def test_the_variable_that_overrides_all_switches_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """NVIDIA_TF32_OVERRIDE is what to unset, where it is set."""
    monkeypatch.setenv(arithmetic.OVERRIDE, "1")
    with pytest.raises(UnsupportedError, match=r"NVIDIA_TF32_OVERRIDE=1 is set, .* unset it"):
        arithmetic.check_tf32(settings((False, False), (True, True)))


def test_what_was_measured_is_in_every_record(race: Race, measured: Any) -> None:
    """A contender whose float32 is float32 is ranked, and its settings hold what was measured beside the switch."""
    measured(value=False)
    outcome = race("fake", "fake:step_ms=2", max_rounds=1)
    records = read_records(Path(outcome.path)).records.values()
    mine = [one for one in records if one.trial.purpose in ("certify", "time") and one.trial.name != "reference"]
    assert mine
    assert all(one.settings["tf32_matmul_measured"] is False and one.settings["tf32_matmul"] is False for one in mine)


def test_a_contender_in_tf32_is_refused_before_its_evidence(
    race: Race, measured: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Float32 that is measured to be TF32 gives no certificate and no rank, and the reason says what was found."""
    measured(value=True)
    of_contender = arithmetic.measured_tf32

    def but_for_the_reference(opened: Opened) -> Any:
        return {} if opened.trial.purpose == "reference" else of_contender(opened)

    monkeypatch.setattr(built, "measured_tf32", but_for_the_reference)
    outcome = race("fake", max_rounds=1)
    (only,) = outcome.contenders
    assert only.status == "uncertified"
    assert "computed in TF32 or less, which is switched off" in only.reason
    records = read_records(Path(outcome.path)).records
    assert records["certify-fake"].outcome == "unsupported"
    assert records["certify-fake"].evidence is None


def test_nothing_is_measured_on_a_processor(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processors have no TF32: nothing is asked and nothing is recorded."""
    monkeypatch.setattr(engine.Engine, "measured_tf32", lambda _: 1 / 0, raising=False)
    (only,) = race("fake", max_rounds=1).contenders
    assert "tf32_matmul_measured" not in only.settings

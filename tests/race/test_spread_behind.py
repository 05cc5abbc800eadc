"""What float64 itself loses in a model: measured behind the programs, where one of them is off, and remembered."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from unittest import mock

import msgspec
import pytest
from tests.race.inline import InlineWorker
from tests.race.test_certify import ASKED, _Changed

from bakeoff.certify import spread
from bakeoff.certify.tolerances import amplitude
from bakeoff.frameworks.fake import engine
from bakeoff.race import conductor
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec.protocol import Answer, Build, Command, MeasureSpread, Quit
from bakeoff.store.results import read_records
from bakeoff.trial import handlers

if TYPE_CHECKING:
    from tests.race.conftest import Race

    from bakeoff.spec.trial import TrialSpec

pytestmark = pytest.mark.slow


class Magnified(InlineWorker):
    """A worker whose program has gradients that are off by less than the model itself magnifies float64's roundings."""

    off = 1e-8
    whose = ""
    """Of these contenders alone, by a part of the label."""
    lost: ClassVar[list[str]] = []
    """Trials that are killed when a spread is asked of them."""

    def __init__(self, folder: Path, trial: TrialSpec, interpreter: str) -> None:
        """Keep what the trial is."""
        super().__init__(folder, trial, interpreter)
        self._trial = trial

    def ask(self, command: Command, limit_s: float) -> Answer:
        """Answer; lose a trial that is to be lost."""
        if self._trial.name in self.lost and isinstance(command, MeasureSpread):
            msg = "killed by a test"
            raise WorkerLostError("killed", msg)
        is_off = self._trial.purpose == "program" and self.whose in self._trial.contender.label
        kept, factor = engine.Step.kept_gradients, 1.0 + self.off * is_off

        def gradients(step: engine.Step) -> Any:
            return {name: value * factor for name, value in kept(step).items()}

        with mock.patch.object(engine.Step, "kept_gradients", gradients):
            return super().ask(command, limit_s)


@pytest.fixture
def magnified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have steps that are large, programs of their own, and a model that magnifies float64's roundings."""
    honest = conductor.prepared
    monkeypatch.setattr(conductor, "prepared", lambda *given, **asked: _Changed(honest(*given, **asked)))
    for limit in ("LARGE_MACS", "BEHIND_MACS"):
        monkeypatch.setattr(f"bakeoff.spec.trial.{limit}", 0)
    monkeypatch.setattr(spread, "amplitude", lambda one: 1e-7 if one == "float64" else amplitude(one))
    monkeypatch.setattr(Magnified, "lost", [])


@pytest.mark.usefixtures("magnified")
def test_what_float64_loses_in_a_large_model_is_measured_where_a_program_is_off(started: Any) -> None:
    """Behind the programs, once: the reference's own trial has draws in what is timed alone."""
    names, folder = started(launch=Magnified)
    assert names[:4] == ["reference", "program-fake", "reference-float64", "certify-fake"]
    records = read_records(folder).records
    spreads = [records[name].evidence.spreads for name in ("reference", "reference-float64")]  # type: ignore[union-attr]
    assert [sorted(one) for one in spreads] == [["float32"], ["float32", "float64"]]
    assert records["program-fake"].evidence.own_gradients == 1  # type: ignore[union-attr]
    names, second = started(launch=Magnified)
    assert names[:1] == ["certify-fake"]
    assert read_records(second).records["reference-float64"].trial.comparison == folder.name


@pytest.mark.usefixtures("magnified")
def test_it_is_not_measured_where_every_program_is_as_close_as_any(
    started: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most are: of a large model it would take a quarter of the reference's time."""
    monkeypatch.setattr(Magnified, "off", 0.0)
    names, _ = started(launch=Magnified)
    assert names[:3] == ["reference", "program-fake", "certify-fake"]


@pytest.mark.usefixtures("magnified")
def test_a_program_is_refused_where_it_cannot_be_measured(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason says so; where it is far off, its fault is not excused."""
    for off, lost in ((1e-8, ["reference-float64"]), (1e-5, [])):
        monkeypatch.setattr(Magnified, "off", off)
        monkeypatch.setattr(Magnified, "lost", lost)
        (only,) = race("fake", launch=Magnified, **ASKED).contenders
        assert only.certificate is not None
        assert only.status == "uncertified"
        assert "gradients in float64: " in only.certificate.reason
        said = "what float64 itself loses in this model could not be measured: killed by a test; float64 takes twice"
        assert only.certificate.reason.startswith(said) is bool(lost)
        assert ("give a smaller --batch-size, or add swap" in only.certificate.reason) is bool(lost)


@pytest.mark.usefixtures("magnified")
@pytest.mark.parametrize("first", ["fake:precision=float64", "fake:precision=bfloat16"])
def test_what_was_measured_beside_other_precisions_stands_for_no_other_race(
    race: Race, started: Any, first: str
) -> None:
    """A spread in float64 that is remembered comes with those of its own race, and the next one needs others."""
    race(first, launch=Magnified, **ASKED)
    names, folder = started(launch=Magnified)
    assert "reference-float64" in names
    records = read_records(folder).records
    assert sorted(records["reference-float64"].evidence.spreads) == ["float32", "float64"]  # type: ignore[union-attr]
    assert list(records["reference-float64"].trial.spreads) == ["float32", "float64"]


@pytest.mark.usefixtures("magnified")
def test_what_is_remembered_stands_for_no_reference_that_failed(
    race: Race, started: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its evidence may be there before it fails, and programs that are remembered, which are off."""
    started(launch=Magnified)
    measured = handlers.with_spread

    def failing(*sides: Any, precision: str) -> Any:
        if precision == "float32":
            msg = "by a test"
            raise RuntimeError(msg)
        return measured(*sides, precision=precision)

    monkeypatch.setattr(handlers, "with_spread", failing)
    outcome = race("fake", "fake:precision=bfloat16", launch=Magnified, **ASKED)
    for one in outcome.contenders:
        assert one.certificate is not None
        assert "failed: RuntimeError: by a test" in one.certificate.reason
    records = read_records(Path(outcome.path)).records
    assert records["reference"].evidence is not None
    assert "reference-float64" not in records


@pytest.mark.usefixtures("magnified")
def test_nothing_is_measured_where_the_model_itself_is_at_fault(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first loss that is no number leaves nothing to hold anyone against, however far programs are off."""
    monkeypatch.setattr(engine.Step, "result", lambda _: float("nan"))
    outcome = race("fake", launch=Magnified, **ASKED)
    assert outcome.contenders[0].status == "uncertified"
    assert sorted(read_records(Path(outcome.path)).records) == ["certify-fake", "program-fake", "reference"]


@pytest.mark.usefixtures("magnified")
@pytest.mark.parametrize("wrong", ["optimizer", "parameters", "nan"])
def test_nothing_is_measured_that_would_not_excuse_a_program(
    race: Race, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    """The formula of an optimiser, missing parameters and what is no number have nothing to do with roundings."""
    changed = _Changed._changed

    def faulty(self: _Changed, plan: Any) -> Any:
        found = changed(self, plan)
        options = found.program.options | {"wrong": wrong}
        return msgspec.structs.replace(found, program=msgspec.structs.replace(found.program, options=options))

    monkeypatch.setattr(_Changed, "_changed", faulty)
    outcome = race("fake", launch=Magnified, **ASKED)
    assert outcome.contenders[0].status == "uncertified"
    trials = [one.trial for one in read_records(Path(outcome.path)).records.values()]
    assert sorted(one.purpose for one in trials) == ["certify", "program", "reference"]
    assert "reference-float64" not in {one.name for one in trials}


@pytest.mark.usefixtures("magnified")
def test_what_the_references_own_trial_has_measured_is_not_measured_again(
    race: Race, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it is in comparisons that an older bakeoff has begun; a program that is off beyond it stays refused."""
    monkeypatch.setattr(Magnified, "off", 1e-5)
    for behind, resume in ((math.inf, False), (0, True)):
        monkeypatch.setattr("bakeoff.spec.trial.BEHIND_MACS", behind)
        outcome = race("fake", launch=Magnified, resume=resume, **ASKED)
        assert outcome.contenders[0].status == "uncertified"
        assert sorted(read_records(Path(outcome.path)).records) == ["certify-fake", "program-fake", "reference"]


@pytest.mark.usefixtures("magnified")
def test_a_spread_that_was_lost_is_measured_when_its_comparison_goes_on(
    race: Race, started: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The contender that was refused without it races."""
    monkeypatch.setattr(Magnified, "lost", ["reference-float64"])
    assert race("fake", launch=Magnified, **ASKED).contenders[0].status == "uncertified"
    monkeypatch.setattr(Magnified, "lost", [])
    names, _ = started(launch=Magnified, resume=True)
    assert names[:2] == ["reference-float64", "r01-fake"]


@pytest.mark.usefixtures("magnified")
def test_each_number_of_devices_has_a_spread_of_its_own(started: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is measured, and remembered, behind the reference that it is of; not where those on it are close."""
    contenders = ("fake", "fake:devices=2")
    names, folder = started(*contenders, launch=Magnified)
    references = ["reference", "reference-2-devices"]
    behind = [f"{one}-float64" for one in references]
    assert [name for name in names if name.startswith("reference")] == references + behind
    records = read_records(folder).records
    found = [records[name].evidence for name in references + behind]
    kept = [one.arrays_sha256 for one in found if one is not None]
    assert kept[:2] == kept[2:]
    assert not {*references, *behind} & {*started(*contenders, launch=Magnified)[0]}
    monkeypatch.setattr(Magnified, "whose", "devices=2")
    names, _ = started(*contenders, launch=Magnified, seed=3)
    assert [name for name in names if name.startswith("reference")] == [*references, behind[1]]


class _Keeping(_Changed):
    """What is prepared, with a reference whose compiler keeps what it makes."""

    def __enter__(self) -> Any:
        comparison, inputs = super().__enter__()
        reference = msgspec.structs.replace(comparison.reference, variables={"BAKEOFF_KEPT": "{cache}"})
        return msgspec.structs.replace(comparison, reference=reference), inputs


def test_it_compiles_into_a_folder_of_its_own_and_is_told_the_arrays_wherever_it_runs(
    started: Any, magnified: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What a trial's compiler keeps is removed at its end, from its own folder; results may lie in a relative one."""
    del magnified  # before what is prepared is changed further
    prepared, ask, told = conductor.prepared, Magnified.ask, list[Command]()

    def noted(one: Magnified, command: Command, limit_s: float) -> Answer:
        told.extend([command] if one._trial.name == "reference-float64" else [])
        return ask(one, command, limit_s)

    monkeypatch.setattr(conductor, "prepared", lambda *given, **asked: _Keeping(prepared(*given, **asked)))
    monkeypatch.setattr(Magnified, "ask", noted)
    monkeypatch.setenv("BAKEOFF_KEPT", "")  # which trials in this process set
    monkeypatch.chdir(tmp_path)
    _, folder = started(launch=Magnified, results="theirs")
    assert [type(one) for one in told] == [Build, MeasureSpread, Quit]  # and no evidence once more
    assert getattr(told[1], "arrays", "") == str(tmp_path / folder / "reference" / "evidence.npz")
    for name in ("reference", "reference-float64"):
        assert read_records(folder).records[name].variables["BAKEOFF_KEPT"] == str(tmp_path / folder / name / "cache")


@pytest.mark.usefixtures("magnified")
def test_verify_measures_it_though_it_is_remembered(started: Any, request_of: Any) -> None:
    """Who asks for certificates alone wants to see them made."""
    started(launch=Magnified)
    names: list[str] = []
    asked = request_of("fake", **ASKED)
    (only,) = conductor.verify(asked, lambda event: names.append(getattr(event, "name", "")), launch=Magnified)
    assert only.passed
    assert "reference-float64" in names

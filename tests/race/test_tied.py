"""What is timed is what was certified: sources, losses and the clock of timed trials, each with its planted fault."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from tests.race.test_energy import Meter

from bakeoff.frameworks.fake import engine
from bakeoff.frameworks.fake.training import Training
from bakeoff.judge import comparison
from bakeoff.judge.comparison import judge_comparison
from bakeoff.judge.tied import why_untied
from bakeoff.measure import memory
from bakeoff.race import devices
from bakeoff.race.progress import Event, TrialStarted
from bakeoff.race.stages import energy
from bakeoff.store import evidence
from bakeoff.store.files import write_comparison
from bakeoff.store.results import last, of_contender, of_purpose, read_records
from bakeoff.trial.tied import Ties, _is_stuck

if TYPE_CHECKING:
    from tests.race.conftest import Race

    from bakeoff.spec.batch import Batch
    from bakeoff.spec.record import Record
    from bakeoff.trial.opened import Opened

pytestmark = pytest.mark.slow


LATER = 6
"""Steps after which a fault sets in: those of the certificate."""


def test_an_honest_contender_is_tied_in_every_round(race: Race) -> None:
    """Each timed trial keeps the losses of the certificate's steps and of one more, and the contender is ranked."""
    outcome = race("fake:noise=0.05", "fake:step_ms=2", max_rounds=3)
    assert [one.status for one in outcome.contenders] == ["ranked", "ranked"]
    records = read_records(Path(outcome.path)).records
    timed = [record.tie for record in records.values() if record.trial.purpose == "time"]
    evidence = next(record.evidence for record in records.values() if record.trial.purpose == "certify")
    assert evidence is not None
    for tie in timed:
        assert tie is not None
        assert tie.losses == pytest.approx(evidence.losses)
        assert tie.again is not None
        assert tie.steps > len(tie.losses)
        assert tie.moved


@pytest.mark.parametrize(("fault", "says"), [("skips", "of their change or more"), ("frozen", "loss at step 1: ")])
def test_steps_that_do_not_train_are_not_certified(race: Race, fault: str, says: str) -> None:
    """What leaves out every second step, or stands still, has no certificate; the others race on."""
    outcome = race("fake", f"fake:fault={fault}", max_rounds=3)
    honest, broken = outcome.contenders
    assert (honest.status, broken.status) == ("ranked", "uncertified")
    assert says in broken.reason
    assert not outcome.verdicts


def test_a_timed_trial_with_another_loss_is_refused(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loss that the same contender's certificate does not have, in timed trials alone, takes the rank away."""
    honest = Ties.warm

    def wrong(self: Ties, *asked: Any) -> list[int]:
        with pytest.MonkeyPatch.context() as patch:
            result = engine.Step.result
            patch.setattr(engine.Step, "result", lambda step: result(step) * 1.01)
            return honest(self, *asked)

    monkeypatch.setattr(Ties, "warm", wrong)
    (only,) = race("fake", max_rounds=3).contenders
    assert only.status == "refused"
    assert "in r01-fake the loss at step 1 is" in only.reason


@pytest.mark.parametrize("purpose", ["none", "epochs", "late", "energy"])
@pytest.mark.parametrize("scenario", ["train", "infer"])
def test_trials_beside_the_race_are_tied_too(
    race: Race, monkeypatch: pytest.MonkeyPatch, purpose: str, scenario: str
) -> None:
    """Whole runs, late steps and steps between meters are reported: other losses or outputs there are a finding."""
    for module in (energy, devices):
        monkeypatch.setattr(module, "meters", lambda device, uuid: ([Meter()], ""))
    honest = Ties.__init__

    def wrong(self: Ties, opened: Opened, step: Any, saved: Any, *, drops: bool) -> None:
        if opened.trial.purpose == purpose:
            result, outputs = step.result, step.last_outputs
            vars(step).update(result=lambda: 1.01 * result(), last_outputs=lambda: 1.01 * outputs())
        honest(self, opened, step, saved, drops=drops)

    monkeypatch.setattr(Ties, "__init__", wrong)
    (only,) = race("fake", scenario=scenario, max_rounds=1, steps=20).contenders
    if purpose == "none" or (purpose, scenario) == ("late", "infer"):  # what does not train has no late steps
        assert only.status == "ranked"
        return
    what = "the loss at step 0 is" if scenario == "train" else "the outputs of the first step are not those"
    assert only.status == "refused"
    assert re.search(rf"in {purpose}\d*-fake {what}", only.reason)


def test_training_that_stops_once_its_state_was_put_back_is_refused(
    race: Race, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first losses are the certificate's, and its last loss is another; one more step changes no parameter."""
    run, restore = engine.Step.run, engine.Step.restore

    def stopping(step: engine.Step, batch: Batch) -> None:
        trained = step._trained
        run(step, batch)
        if "stopped" in vars(step):
            step._trained = trained

    def stops(step: engine.Step, snapshot: int) -> None:
        restore(step, snapshot)
        vars(step)["stopped"] = True

    monkeypatch.setattr(engine.Step, "run", stopping)
    monkeypatch.setattr(engine.Step, "restore", stops)
    (only,) = race("fake", max_rounds=1).contenders
    assert only.status == "refused"
    assert "one more changes no parameter: it trains no longer" in only.reason


@pytest.mark.parametrize(
    ("share", "kept", "says"),
    [(0.99, 1.0, "the saved state's loss is"), (1.0, 0.5, "the saved state's loss is"), (1.0, 1.0, "")],
)
def test_steps_that_do_less_once_they_are_warm_are_refused(
    race: Race, monkeypatch: pytest.MonkeyPatch, share: float, kept: float, says: str
) -> None:
    """Behind the certificate's steps another part of the batch, or half an update: parameters still move."""
    run, result, until = engine.Step.run, engine.Step.result, Training.until
    monkeypatch.setattr(Training, "until", lambda path, steps, *given: until(path, int(steps), *given))

    def running(step: engine.Step, batch: Batch) -> None:
        vars(step)["count"] = vars(step).get("count", 0) + 1
        trained = step._trained
        run(step, batch)
        if vars(step)["count"] > LATER:
            step._trained = trained + kept * (step._trained - trained)  # type: ignore[assignment]

    monkeypatch.setattr(engine.Step, "run", running)
    monkeypatch.setattr(
        engine.Step, "result", lambda step: result(step) * (share if vars(step)["count"] > LATER else 1.0)
    )
    (only,) = race("fake", max_rounds=1).contenders
    assert only.status == ("refused" if says else "ranked"), only.reason
    assert says in only.reason


def test_steps_that_train_a_part_once_they_are_warm_are_refused(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every loss stays what it was: what two steps leave as it was, they had changed in the warm-up."""
    run, parameters = engine.Step.run, engine.Step.parameters

    def counted(step: engine.Step, batch: Batch) -> None:
        vars(step)["count"] = vars(step).get("count", 0) + 1
        run(step, batch)

    def in_part(step: engine.Step) -> Any:
        found = parameters(step)
        if vars(step).get("count", 0) > LATER:
            name = next(iter(found))
            found[name] = step._model.weights[name]
        return found

    monkeypatch.setattr(engine.Step, "run", counted)
    monkeypatch.setattr(engine.Step, "parameters", in_part)
    (only,) = race("fake", max_rounds=1).contenders
    assert only.status == "refused"
    assert re.search("leave .* as it was, which they changed in the warm-up: it trains less by then", only.reason)


def test_parameters_that_stay_are_no_finding_where_a_group_has_hardly_a_rate(race: Race) -> None:
    """A step of a slow group may be less than a parameter's last bit, whatever the rate of all is."""
    outcome = race("fake", max_rounds=1)
    comparison, (plan,) = outcome.comparison, outcome.comparison.contenders
    records = read_records(Path(outcome.path)).records
    tie, optimizer = records["r01-fake"].tie, comparison.workload.optimizer
    assert tie is not None
    assert optimizer is not None
    still = msgspec.structs.replace(records["r01-fake"], tie=msgspec.structs.replace(tie, moved=False))

    def found(**changed: Any) -> str:
        workload = msgspec.structs.replace(comparison.workload, optimizer=msgspec.structs.replace(optimizer, **changed))
        of_groups = msgspec.structs.replace(comparison, workload=workload)
        return why_untied(of_groups, records | {"r01-fake": still}, plan)

    assert "one more changes no parameter" in found()
    assert "one more changes no parameter" in found(rates=(("*", 0.5),))
    assert not found(rates=(("*", 1e-9),))


def test_a_repeated_loss_is_held_where_it_has_to(race: Race) -> None:
    """The second one within what the certificate allows, where the model draws, too; neither in older records."""
    outcome = race("fake", max_rounds=1)
    (plan,) = outcome.comparison.contenders
    records = read_records(Path(outcome.path)).records
    tie = records["r01-fake"].tie
    assert tie is not None
    assert tie.repeated == tie.from_saved
    assert (tie.repeated_off, tie.stuck) == (0.0, [])
    first, second = tie.from_saved
    assert first
    assert second

    def found(**changed: Any) -> str:
        tied = msgspec.structs.replace(records["r01-fake"], tie=msgspec.structs.replace(tie, **changed))
        return why_untied(outcome.comparison, beside | {"r01-fake": tied}, plan)

    # Of processes that do not repeat themselves all have to be elsewhere.
    beside = {name: one for name, one in records.items() if one.trial.purpose != "late"}
    assert "the saved state's loss one step on is" in found(repeated=[first, 1.1 * second])
    assert "the saved state's loss is None" in found(repeated=[None, second])
    assert "the saved state's loss is" in found(repeated=[1.1 * first, second], drops=True)
    assert "leave 2 arrays as they were, dense.bias among them, which they changed" in found(
        stuck=["dense.bias", "head.bias"]
    )
    assert "leave dense.bias as it was" in found(stuck=["dense.bias"], repeated_off=None), "of a training that diverges"
    apart: dict[str, Any] = {"block_off": 1e-6, "fenced_off": 1e-6}  # of a process that does not repeat itself
    other = "leave other parameters or running statistics than in the warm-up (off by"
    assert f"{other} 0.002 of what they change, allowed 0.001)" in found(repeated_off=0.002)
    assert f"{other} 0.5 of what they change, allowed 0.12)" in found(repeated_off=0.5, **apart)
    assert f"{other} 2.1 of what they change, allowed 2)" in found(repeated_off=2.1, **apart | {"fenced_off": 0.5})
    honest: list[dict[str, Any]] = [
        {"repeated_off": None},
        {"repeated_off": 1e-4},
        {"repeated_off": 0.1, **apart},
        {"repeated_off": 1.9, "block_off": 1e-6, "fenced_off": 0.5},
        {"repeated": [first, second * (1 + 1e-7)]},
        {"repeated": []},
        {"repeated": [], "from_saved": []},
    ]
    assert not any(found(**changed) for changed in honest)


MOVED, STILL, NOTHING = np.arange(16.0), np.zeros(16), np.full(16, np.nan)


@pytest.mark.parametrize(
    ("saved", "early", "now", "is_stuck"),
    [
        (STILL, MOVED, STILL, True),
        (STILL, NOTHING, STILL, True),
        (STILL, MOVED, MOVED, False),
        (STILL, STILL, STILL, False),
        (NOTHING, NOTHING, NOTHING, False),
        (STILL[:4], MOVED[:4], STILL[:4], False),
    ],
    ids=["stuck", "stuck where it diverged", "moves", "never moved", "diverged before", "too few"],
)
def test_what_counts_as_stuck(saved: Any, early: Any, now: Any, *, is_stuck: bool) -> None:
    """An honest training that had diverged before its state was saved has the same NaN ever after, and is not stuck."""
    assert _is_stuck(saved, early, now.copy()) is is_stuck


def test_a_step_that_changes_nothing_is_held_where_it_has_to(race: Race) -> None:
    """Also where a model draws; not where its loss is zero or no number, or where older records do not say."""
    outcome = race("fake", max_rounds=1)
    (plan,) = outcome.comparison.contenders
    records = read_records(Path(outcome.path)).records

    def found(**changed: Any) -> str:
        tied = {
            name: msgspec.structs.replace(one, tie=one.tie and msgspec.structs.replace(one.tie, **changed))
            for name, one in records.items()
        }
        return why_untied(outcome.comparison, tied, plan)

    assert not found()
    assert "one more changes no parameter" in found(moved=False)
    assert "one more changes no parameter" in found(moved=False, drops=True)
    honest: list[dict[str, Any]] = [{"again": None}, {"again": 0.0}, {"steps": 9}, {"moved": None}, {"moved": True}]
    assert not any(found(**{"moved": False} | changed) for changed in honest)


def test_a_short_clock_takes_the_rank_away(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """A finding about the clock is the reason why a contender is refused."""
    monkeypatch.setattr(comparison, "why_short", lambda _: "its clock is short")
    (only,) = race("fake", max_rounds=1).contenders
    assert (only.status, only.reason) == ("refused", "its clock is short")


def test_steps_that_do_nothing_fail_the_self_test(race: Race, home: Path) -> None:
    """A run that computes nothing, and has the right outputs from elsewhere, is refused: a profiler sees no step."""
    del home
    outcome = race("fake", "fake:fault=idle", scenario="infer", self_test=True, max_rounds=1)
    honest, idle = outcome.contenders
    assert (honest.status, idle.status) == ("ranked", "refused")
    assert "saw no step" in idle.reason


def test_a_round_unlike_its_siblings_is_refused(race: Race) -> None:
    """A first loss that only one round has takes the rank away, also where the certificate's tolerance lets it pass."""
    outcome = race("fake", max_rounds=2)
    records = read_records(Path(outcome.path)).records
    (plan,) = outcome.comparison.contenders
    assert not why_untied(outcome.comparison, records, plan)
    tie = records["r02-fake"].tie
    assert tie is not None
    assert tie.losses[0] is not None
    other = msgspec.structs.replace(tie, losses=[tie.losses[0] * (1 + 8e-6), *tie.losses[1:]])
    changed = records | {"r02-fake": msgspec.structs.replace(records["r02-fake"], tie=other)}
    assert "the first loss is" in why_untied(outcome.comparison, changed, plan)
    dropped = {
        name: msgspec.structs.replace(one, tie=one.tie and msgspec.structs.replace(one.tie, drops=True))
        for name, one in changed.items()
    }
    assert not why_untied(outcome.comparison, dropped, plan)


class Running:
    """Observe a race, and know whether the trial that runs is a timed one."""

    is_timed = False

    def __call__(self, event: Event) -> None:
        """Take an event."""
        if isinstance(event, TrialStarted):
            self.is_timed = event.purpose == "time"


@pytest.mark.parametrize(("share", "status"), [(1.0, "ranked"), (0.5, "refused")])
def test_inference_is_tied_by_the_outputs_that_its_steps_keep(
    race: Race, monkeypatch: pytest.MonkeyPatch, share: float, status: str
) -> None:
    """Half a batch in timed trials alone is not what the certificate of the whole batch was made for."""
    run = engine.Step.run
    trial = Running()

    def keeping(step: engine.Step, batch: Batch) -> None:
        run(step, batch)
        outputs = step.outputs(batch)
        if trial.is_timed:
            outputs[int(share * len(outputs)) :] = 0.0
        vars(step)["kept"] = outputs

    monkeypatch.setattr(engine.Step, "run", keeping)
    monkeypatch.setattr(engine.Step, "last_outputs", lambda step: vars(step)["kept"], raising=False)
    (only,) = race("fake", scenario="infer", max_rounds=1, observe=trial).contenders
    assert only.status == status, only.reason
    assert ("the outputs of the first step are not those of its certificate" in only.reason) == (share < 1)


def test_inference_that_computes_no_more_is_refused(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """What steps keep after all others is held, too: one that computes no more keeps what it had."""
    run = engine.Step.run
    trial = Running()

    def idling(step: engine.Step, batch: Batch) -> None:
        kept = step._last
        run(step, batch)
        if trial.is_timed and kept is not None:
            step._last = kept

    monkeypatch.setattr(engine.Step, "run", idling)
    (only,) = race("fake", scenario="infer", max_rounds=1, observe=trial).contenders
    assert only.status == "refused"
    assert "the outputs of a step after all others are not those of its certificate" in only.reason


def test_inference_whose_timed_outputs_are_no_numbers_is_refused(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outputs that are not finite have no checksums; in timed trials alone, too, they are none that were certified."""
    last = engine.Step.last_outputs
    trial = Running()
    monkeypatch.setattr(
        engine.Step, "last_outputs", lambda step: last(step) * (float("nan") if trial.is_timed else 1.0)
    )
    (only,) = race("fake", scenario="infer", max_rounds=1, observe=trial).contenders
    assert only.status == "refused"
    assert "the outputs of the first step are missing, or not finite" in only.reason


@pytest.mark.parametrize(("share", "status"), [(1.0, "ranked"), (1.01, "refused")])
def test_outputs_that_no_record_could_hold_are_kept_in_part(
    race: Race, monkeypatch: pytest.MonkeyPatch, share: float, status: str
) -> None:
    """Logits of a thousand places over 50,000 tokens are gigabytes: evidence and ties hold a part of each sample."""
    outputs, last = engine.Step.outputs, engine.Step.last_outputs
    trial = Running()
    monkeypatch.setattr(engine.Step, "outputs", lambda step, batch: np.tile(outputs(step, batch), (1, 40_000)))
    monkeypatch.setattr(engine.Step, "last_outputs", lambda step: last(step) * (share if trial.is_timed else 1.0))
    monkeypatch.setattr(evidence, "MOST_EVIDENCE_BYTES", 8 << 20)
    (only,) = race("fake", scenario="infer", batch_size=2, max_rounds=1, observe=trial).contenders
    assert only.status == status, only.reason


@pytest.mark.parametrize(("shares", "refused"), [((1.0, 1.02), True), ((1.0, 1.0), False), ((0.99, 1.02), False)])
def test_a_model_whose_dropout_drops_nothing_is_refused(race: Race, shares: tuple[float, float], refused: Any) -> None:
    """Its losses are those of its certificate, where nothing is drawn, and another's are not; if all are, none is."""
    outcome = race("fake", "fake:step_ms=2", max_rounds=1)
    first, second = outcome.comparison.contenders
    records = read_records(Path(outcome.path)).records
    drawn = records | drawing(records, first.contender.label, shares[0])
    drawn |= drawing(records, second.contender.label, shares[1])
    found = why_untied(outcome.comparison, drawn, first)
    assert bool(found) == refused
    assert not refused or "its first 2 losses are those of its certificate, in which nothing is drawn" in found
    assert not why_untied(outcome.comparison, drawn, second)


def drawing(records: dict[str, Record], label: str, share: float) -> dict[str, Record]:
    """Give a contender's timed records as a model's that draws, with this share of its certificate's losses."""
    mine = of_contender(records.values(), label)
    certified = last(mine, "certify")
    assert certified is not None
    assert certified.evidence is not None
    losses = [share * loss for loss in certified.evidence.losses if loss is not None]
    return {
        record.trial.name: msgspec.structs.replace(
            record, tie=msgspec.structs.replace(record.tie, drops=True, losses=losses)
        )
        for record in of_purpose(mine, "time")
        if record.tie is not None
    }


def test_a_clock_of_its_own_is_a_script_s_alone(race: Race) -> None:
    """Another framework's engine that brings one is refused: it would be held against no counter."""
    outcome = race("fake", max_rounds=1)
    assert [one.status for one in outcome.contenders] == ["ranked"]
    plans = [msgspec.structs.replace(plan, scripted=False) for plan in outcome.comparison.contenders]
    write_comparison(Path(outcome.path), msgspec.structs.replace(outcome.comparison, contenders=plans))
    (only,) = judge_comparison(Path(outcome.path)).contenders
    assert only.status == "refused"
    assert only.reason.startswith("its engine brings a clock of its own")


def test_outcomes_are_the_same_when_read_again(race: Race) -> None:
    """What is refused stays refused from the records alone."""
    outcome = race("fake:fault=skips", max_rounds=1)
    assert judge_comparison(Path(outcome.path)).contenders[0].reason == outcome.contenders[0].reason


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can reset the peak")
def test_the_copies_that_a_tie_is_read_from_are_no_memory_of_the_contender(
    race: Race, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 300 MiB that are held while a tie is made nothing is in the peak, which was reset before the first step."""
    made = Ties.__init__

    def holding(self: Ties, *asked: Any, **named: Any) -> None:
        np.ones(300 << 20, np.uint8)
        made(self, *asked, **named)

    monkeypatch.setattr(Ties, "__init__", holding)
    outcome = race("fake", scenario="infer", max_rounds=1)
    held = read_records(Path(outcome.path)).records["r01-fake"].memory
    now_bytes = memory.resident_bytes()
    assert held is not None
    assert held.peak_bytes is not None
    assert now_bytes is not None
    assert held.peak_bytes < now_bytes + (150 << 20)

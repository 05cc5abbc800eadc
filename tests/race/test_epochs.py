"""Whole epochs and steps beside the race, with the scripted framework in virtual time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.race.inline import InlineWorker

from bakeoff.race import conductor
from bakeoff.race.progress import ContenderActivity
from bakeoff.race.stages.epochs import PATIENCE
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec.errors import UsageError
from bakeoff.spec.protocol import RunEpoch
from bakeoff.store.results import read_records

pytestmark = pytest.mark.slow

FIRST_S = 0.006
"""The first step of the scripted framework."""

DIGITS = 1797 - 359
"""Samples to train on."""


def whole(path: str) -> list[str]:
    """Name the trials of whole epochs."""
    return sorted(name for name, one in read_records(Path(path)).records.items() if one.trial.purpose == "epochs")


def test_an_epoch_is_the_data_set(race: Any) -> None:
    """Every batch of the data set is a step of each epoch; loss and accuracy are those of the end."""
    outcome = race("fake", data="digits", epochs=3, max_rounds=3)
    (contender,) = outcome.contenders
    batches = DIGITS // outcome.comparison.batch_size
    assert batches > outcome.comparison.data.batches
    assert contender.whole.steps == 3 * batches
    assert contender.whole.test_samples == 359
    for run in contender.whole.runs:
        assert run.total_s == pytest.approx(FIRST_S + (3 * batches - 1) * 0.001)
        assert run.without_first_s == pytest.approx((3 * batches - 1) * 0.001)
        assert run.epochs_s == pytest.approx([FIRST_S + (batches - 1) * 0.001, batches * 0.001, batches * 0.001])
        assert run.loss == pytest.approx(2.3 * 0.98 ** (3 * batches))
        assert (run.accuracy, run.training_accuracy) == (1.0, None)


def test_made_data_has_the_accuracy_on_itself(race: Any) -> None:
    """Where nothing is held out, a whole run of training counts the right labels of the batches it was trained on."""
    (trained,) = race("fake", steps=20, max_rounds=3).contenders
    (ran,) = race("fake", steps=20, max_rounds=3, scenario="infer").contenders
    assert {(run.accuracy, run.training_accuracy) for run in trained.whole.runs} == {(None, 1.0)}
    assert {run.training_accuracy for run in ran.whole.runs} == {None}


def test_the_race_beside_it_is_the_same(race: Any) -> None:
    """Asking for epochs changes neither the batches of the race nor its rounds: the rest of the data comes after."""
    without, beside = (race("fake", data="digits", max_rounds=3, **more) for more in ({}, {"epochs": 1}))
    assert beside.comparison.data.batches == without.comparison.data.batches
    assert (beside.rounds, beside.processes) == (without.rounds, without.processes)
    assert without.contenders[0].whole is None


def test_synthetic_data_has_the_epoch_of_the_race(race: Any) -> None:
    """Data without an end of its own is not drawn beyond what a race takes."""
    outcome = race("fake", epochs=2, max_rounds=3)
    assert outcome.contenders[0].whole.steps == 2 * outcome.comparison.data.batches


@pytest.mark.parametrize(("asked", "epochs"), [({"steps": 150}, [150]), ({"steps": 50, "epochs": 3}, [50, 50, 50])])
def test_steps_are_one_run_or_the_length_of_an_epoch(race: Any, asked: dict[str, int], epochs: list[int]) -> None:
    """So many steps as a whole; with epochs, so many in each, and batches go round."""
    run = race("fake", max_rounds=3, **asked).contenders[0].whole.runs[0]
    assert run.total_s == pytest.approx(FIRST_S + (sum(epochs) - 1) * 0.001)
    assert len(run.epochs_s) == len(epochs)


def test_each_repeat_is_a_fresh_process_and_all_contenders_take_turns(race: Any) -> None:
    """As many trials as repeats for each contender, told one by one; the processes differ, so their totals do."""
    outcome = race("fake:process_noise=0.1", "fake:step_ms=2", steps=20, repeats=4, max_rounds=3)
    assert len(whole(outcome.path)) == 8
    noisy, calm = (contender.whole for contender in outcome.contenders)
    assert len(set(noisy.totals_s())) == 4
    assert len(set(calm.totals_s())) == 1
    assert (outcome.rounds, outcome.processes) == (3, 6)


def test_inference_has_a_total_and_nothing_learned(race: Any) -> None:
    """So many steps of inference, as published: time alone."""
    (run, *_) = race("fake", scenario="infer", steps=100, max_rounds=3).contenders[0].whole.runs
    assert run.total_s == pytest.approx(FIRST_S + 0.099)
    assert (run.loss, run.accuracy) == (None, None)


def test_progress_names_epoch_and_run(race: Any) -> None:
    """Whoever waits sees how far it is."""
    seen: list[Any] = []
    race("fake", steps=10, epochs=2, repeats=2, max_rounds=3, observe=seen.append)
    doing = [event.doing for event in seen if isinstance(event, ContenderActivity) and "epoch" in event.doing]
    assert doing == [f"epoch {epoch} of 2, run {number} of 2" for number in (1, 2) for epoch in (1, 2)]


def test_a_long_epoch_is_given_the_time_that_its_steps_take(race: Any) -> None:
    """The limit of a command follows from the step time of the race where that is longer than the trial's own."""
    limits: list[float] = []

    class Noting(InlineWorker):
        """Notes the limit of an epoch."""

        def ask(self, command: Any, limit_s: float) -> Any:
            if isinstance(command, RunEpoch):
                limits.append(limit_s)
            return super().ask(command, limit_s)

    race("fake:step_ms=1000", steps=1000, repeats=1, trial_limit_s=60.0, max_rounds=3, launch=Noting)
    assert limits == [pytest.approx(PATIENCE * 1000.0, rel=0.01)]


def test_a_run_that_is_lost_is_told_and_not_repeated(race: Any) -> None:
    """A contender whose process dies in an epoch keeps its verdict, and its other runs are not tried."""

    class Dying(InlineWorker):
        """Dies in its first epoch."""

        def ask(self, command: Any, limit_s: float) -> Any:
            if isinstance(command, RunEpoch):
                raise WorkerLostError("killed", "killed by SIGKILL")
            return super().ask(command, limit_s)

    outcome = race("fake", steps=10, max_rounds=3, launch=Dying)
    assert len(whole(outcome.path)) == 1
    assert outcome.contenders[0].status == "ranked"
    assert outcome.contenders[0].whole.failures == ["killed by SIGKILL"]


def test_a_spent_budget_leaves_one_run(race: Any) -> None:
    """As one round is run in any case, so is one run of each contender."""
    outcome = race("fake", "fake:step_ms=2", steps=10, max_rounds=3, budget_s=1e-6)
    assert [len(one.whole.runs) for one in outcome.contenders] == [1, 1]


def test_an_interrupted_comparison_goes_on(race: Any, request_of: Any, tmp_path: Path) -> None:
    """Runs that are there are not made again, and more of them can be asked for."""
    race("fake", steps=10, repeats=1, max_rounds=3)
    (folder,) = (path.parent for path in tmp_path.glob("results/*/comparison.json"))
    before = (folder / "epochs1-fake" / "record.json").stat().st_mtime_ns
    request = request_of("fake", steps=10, repeats=2, max_rounds=3, resume=True)
    conductor.run(request, launch=InlineWorker, probe_s=0.001)
    assert whole(str(folder)) == ["epochs1-fake", "epochs2-fake"]
    assert (folder / "epochs1-fake" / "record.json").stat().st_mtime_ns == before


@pytest.mark.parametrize("asked", [{"epochs": 0}, {"steps": 0}, {"steps": 5, "repeats": 0}])
def test_numbers_that_cannot_be_are_refused(race: Any, asked: dict[str, int]) -> None:
    """A whole number from 1 on, or a message that says so."""
    with pytest.raises(UsageError, match="cannot be; valid: a whole number from 1 on"):
        race("fake", **asked)


def test_a_data_set_that_is_too_large_for_memory_is_refused(race: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What to do instead is said before anything is started."""
    prepare = sys.modules["bakeoff.data.prepare"]
    monkeypatch.setattr(prepare, "_LIMITS", prepare._Limits(epoch_bytes=1_000_000))
    with pytest.raises(UsageError, match="--steps N"):
        race("fake", data="digits", epochs=1)

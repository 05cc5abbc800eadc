"""The whole pipeline with scripted contenders, in virtual time: what is known to be true must come out."""

from __future__ import annotations

import shutil
import sys
import time
from itertools import cycle
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.race.inline import InlineWorker

from bakeoff.judge.comparison import judge_comparison
from bakeoff.judge.outcome import ContenderOutcome, Outcome
from bakeoff.race import fitting
from bakeoff.race.progress import Certified, Event, Finished, Prepared, RoundEnded, RoundStarted, TrialEnded
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec.protocol import Answer, Command, RunBlock
from bakeoff.spec.record import Record
from bakeoff.spec.trial import SNAPSHOT_STEPS, TrialSpec
from bakeoff.stats.boundaries import LOOKS
from bakeoff.store.results import read_records

NOISES = [
    "process_noise=0.02",
    "noise=0.2",
    "drift=0.00001",
    "outliers=0.02",
    "process_noise=0.02,noise=0.1,outliers=0.01",
]


def by_label(outcome: Outcome) -> dict[str, ContenderOutcome]:
    """Give the contenders by their labels."""
    return {one.label: one for one in outcome.contenders}


def timed(outcome: Outcome) -> list[Record]:
    """Give the records of all timed trials."""
    return [r for r in read_records(Path(outcome.path)).records.values() if r.trial.purpose == "time"]


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("step_ms=50", "step_ms=60", "faster"),
        ("step_ms=60", "step_ms=50", "slower"),
        ("step_ms=50", "step_ms=51", "equal"),
    ],
)
def test_the_verdict_is_what_the_script_says(race: Any, first: str, second: str, verdict: str) -> None:
    """Without noise the first look settles a pair, rightly, with its true ratio."""
    outcome = race(f"fake:{first}", f"fake:{second}")
    (pair,) = outcome.verdicts
    assert (pair.verdict, pair.rounds, outcome.ended) == (verdict, LOOKS[0], "decided")
    assert pair.ratio == pytest.approx(float(first[8:]) / float(second[8:]))


@pytest.mark.parametrize(("noise", "step_ms"), list(zip(NOISES, cycle((5.0, 50.0)), strict=False)))
def test_noise_does_not_turn_a_verdict(race: Any, noise: str, step_ms: float) -> None:
    """With noise between and within processes, drift or outliers, one that takes half as long again is slower."""
    outcome = race(f"fake:step_ms={step_ms * 1.5},{noise}", f"fake:step_ms={step_ms},{noise}")
    (pair,) = outcome.verdicts
    assert pair.verdict == "slower"
    assert pair.low <= 1.5 * (1 + 2e-3)
    assert pair.high >= 1.5 * (1 - 2e-3)  # drift has moved it by as much


def test_hopeless_noise_ends_undecided(race: Any) -> None:
    """Where processes differ by a third, two that are alike stay undecided, and rounds end before their limit."""
    outcome = race("fake:step_ms=50,process_noise=0.3", "fake:step_ms=50,process_noise=0.3")
    (pair,) = outcome.verdicts
    assert (pair.verdict, pair.stopped, outcome.ended) == ("undecided", "futility", "futility")
    assert (pair.more_rounds, pair.chance) == (None, None)
    assert 10 <= outcome.rounds < 20


def test_a_against_a_keeps_its_labels(race: Any) -> None:
    """The same text three times is three contenders, each with trials of its own, and none is faster."""
    outcome = race("fake:step_ms=50", "fake:step_ms=50", "fake:step_ms=50")
    labels = ["fake:step_ms=50", "fake:step_ms=50 (2)", "fake:step_ms=50 (3)"]
    assert [one.label for one in outcome.contenders] == labels
    assert [(v.first, v.second, v.verdict) for v in outcome.verdicts] == [
        (labels[0], labels[1], "equal"),
        (labels[0], labels[2], "equal"),
        (labels[1], labels[2], "equal"),
    ]
    records = read_records(Path(outcome.path)).records.values()
    assert {label: sum(r.trial.contender.label == label for r in records) for label in labels} == dict.fromkeys(
        labels, 2 + outcome.rounds
    )


def test_labels_that_look_alike_have_folders_of_their_own(race: Any, tmp_path: Path) -> None:
    """Labels that make the same name of a folder, and labels longer than a name may be, all keep their trials."""
    (tmp_path / "a").mkdir()
    for path in (tmp_path / "a" / "b", tmp_path / "a-b", tmp_path / "A-b"):
        path.symlink_to(sys.executable)
    alike = [f"fake@{tmp_path}/{end}:step_ms=50" for end in ("a/b", "a-b", "A-b")]
    long = [f"fake:step_ms=50.{'0' * zeros}" for zeros in (300, 301)]
    outcome = race(*alike, *long)
    assert [(one.status, one.rounds) for one in outcome.contenders] == [("ranked", LOOKS[0])] * 5
    assert {pair.verdict for pair in outcome.verdicts} == {"equal"}
    assert len(timed(outcome)) == 5 * LOOKS[0]


CHECKS = {
    "parameters": "parameters",
    "outputs": "outputs",
    "loss": "loss",
    "gradients": "gradients",
    "optimizer": "optimizer",
    "frozen": "update",
    "rate": "update",
    "skipped": "update",
    "nan": "loss",
}


@pytest.mark.parametrize("wrong", CHECKS)
def test_who_computes_something_else_is_not_ranked(race: Any, wrong: str) -> None:
    """A contender without a passing certificate has no times and no verdict; the reason names the check."""
    cheat = f"fake:step_ms=1,wrong={wrong}"
    outcome = race("fake:step_ms=50", cheat, "fake:step_ms=60")
    loser = by_label(outcome)[cheat]
    assert (loser.status, loser.rounds, loser.step_s, loser.samples_per_s) == ("uncertified", 0, None, None)
    assert loser.reason.startswith(f"{CHECKS[wrong]}: ")
    assert loser.certificate is not None
    assert [check.name for check in loser.certificate.checks if not check.passed] == [CHECKS[wrong]]
    assert [(v.first, v.second, v.verdict) for v in outcome.verdicts] == [
        ("fake:step_ms=50", "fake:step_ms=60", "faster")
    ]
    assert not [record for record in timed(outcome) if record.trial.contender.label == cheat]


REASONS = {
    "raise": "RuntimeError: a scripted failure",
    "unsupported": "a scripted gap: this framework lacks what was asked",
}
OUTCOMES = {"raise": "failed", "unsupported": "unsupported"}


@pytest.mark.parametrize("fault", REASONS)
@pytest.mark.parametrize("moment", ["import", "build", "certify", "run"])
def test_a_failure_before_the_race_leaves_no_certificate(race: Any, fault: str, moment: str) -> None:
    """Who fails at its evidence has that outcome with its reason in a record; the others race on."""
    faulty = f"fake:fault={fault},fault_at={moment}"
    events: list[Event] = []
    outcome = race("fake:step_ms=50", faulty, "fake:step_ms=60", observe=events.append)
    loser = by_label(outcome)[faulty]
    assert (loser.status, loser.reason) == ("uncertified", REASONS[fault])
    told = [event for event in events if isinstance(event, TrialEnded) and event.label == faulty]
    assert [(one.purpose, one.outcome, one.reason) for one in told] == [("certify", OUTCOMES[fault], REASONS[fault])]
    records = read_records(Path(outcome.path)).records.values()
    (record,) = [record for record in records if record.trial.contender.label == faulty]
    assert "Traceback" in record.detail
    assert [verdict.verdict for verdict in outcome.verdicts] == ["faster"]


@pytest.mark.parametrize("fault", REASONS)
def test_a_failure_to_measure_memory_costs_only_that(race: Any, fault: str) -> None:
    """Where the memory cannot be read, its number is missing; the contender is timed all the same."""
    faulty = f"fake:step_ms=50,fault={fault},fault_at=memory"
    outcome = race("fake:step_ms=60", faulty)
    assert by_label(outcome)[faulty].memory is None
    assert [verdict.verdict for verdict in outcome.verdicts] == ["slower"]


@pytest.mark.parametrize("fault", REASONS)
def test_who_is_lost_twice_is_given_up(race: Any, fault: str) -> None:
    """A contender that fails in two timed trials is not tried again; the others are settled as without it."""
    faulty = f"fake:step_ms=50,fault={fault},fault_at=block"
    outcome = race("fake:step_ms=50", "fake:step_ms=60", faulty)
    loser = by_label(outcome)[faulty]
    assert (loser.status, loser.reason, loser.rounds) == ("failed", REASONS[fault], 0)
    mine = [record for record in timed(outcome) if record.trial.contender.label == faulty]
    assert [record.outcome for record in mine] == [OUTCOMES[fault]] * 2
    assert [(v.verdict, v.rounds) for v in outcome.verdicts] == [("faster", LOOKS[0])]
    assert outcome.ended == "decided"


def test_whose_only_rival_is_lost_still_gets_its_interval(race: Any) -> None:
    """Where all but one are given up, the last one's step time still has the three rounds that an interval needs."""
    outcome = race("fake:step_ms=50", "fake:step_ms=50,fault=raise,fault_at=block")
    healthy, faulty = outcome.contenders
    assert (healthy.status, healthy.rounds, faulty.status) == ("ranked", 3, "failed")
    assert healthy.step_s is not None
    assert healthy.step_s.estimate == pytest.approx(0.05)
    assert (outcome.verdicts, outcome.ended) == ([], "lost")


def test_where_nobody_is_certified_nothing_is_decided(race: Any) -> None:
    """A comparison whose contenders all lack what was asked ends without a race, and does not call that decided."""
    outcome = race("fake:fault=unsupported,fault_at=build", "fake:step_ms=2,fault=unsupported,fault_at=build")
    assert {one.status for one in outcome.contenders} == {"uncertified"}
    assert (outcome.verdicts, outcome.ended) == ([], "lost")


def losing(label: str, rounds: set[int]) -> Any:
    """Give a launcher whose workers of this label are killed in the first block of these rounds."""

    class Losing(InlineWorker):
        def __init__(self, folder: Path, trial: TrialSpec, interpreter: str) -> None:
            super().__init__(folder, trial, interpreter)
            self._is_lost = trial.contender.label == label and trial.round_number in rounds

        def ask(self, command: Command, limit_s: float) -> Answer:
            if self._is_lost and isinstance(command, RunBlock):
                msg = "killed by a test"
                raise WorkerLostError("killed", msg)
            return super().ask(command, limit_s)

    return Losing


def test_who_is_lost_once_is_tried_again(race: Any) -> None:
    """One lost trial costs its pairs one round and nothing else."""
    outcome = race("fake:step_ms=50", "fake:step_ms=60", launch=losing("fake:step_ms=60", {1}))
    (pair,) = outcome.verdicts
    assert (pair.verdict, pair.rounds, outcome.rounds, outcome.ended) == ("faster", 5, 6, "decided")
    assert [one.rounds for one in outcome.contenders] == [6, 5]


def test_all_lost_once_are_tried_again(race: Any) -> None:
    """A first round in which nobody finishes is not the end."""

    def launch(folder: Path, trial: TrialSpec, interpreter: str) -> InlineWorker:
        worker: InlineWorker = losing(trial.contender.label, {1})(folder, trial, interpreter)
        return worker

    outcome = race("fake:step_ms=50", "fake:step_ms=60", launch=launch)
    assert [(v.verdict, v.rounds) for v in outcome.verdicts] == [("faster", LOOKS[0])]


def test_nobody_runs_for_a_pair_that_cannot_be_settled(race: Any) -> None:
    """Once a contender is given up, the other is not run for their pair any more; the pair is told as undecided."""
    outcome = race("fake:step_ms=50", "fake:step_ms=60", launch=losing("fake:step_ms=60", {2, 3}))
    (pair,) = outcome.verdicts
    assert (pair.verdict, pair.rounds, outcome.rounds, outcome.ended) == ("undecided", 1, 3, "lost")


def test_the_records_alone_give_the_outcome(race: Any, tmp_path: Path) -> None:
    """Judging the folder again, or a copy of it somewhere else, gives the very outcome of the run."""
    outcome = race("fake:step_ms=50,process_noise=0.02", "fake:step_ms=52,process_noise=0.02", "fake:wrong=loss")
    assert judge_comparison(Path(outcome.path)) == outcome
    copy = tmp_path / "copy"
    shutil.copytree(outcome.path, copy)
    assert msgspec.structs.replace(judge_comparison(copy), path=outcome.path) == outcome


def test_every_turn_of_every_round_times_the_same_steps(race: Any) -> None:
    """All contenders time the same steps of training from the saved state, behind the same warm-up in all rounds."""
    outcome = race("fake:step_ms=2.5,process_noise=0.3", "fake:step_ms=7,noise=0.2", max_rounds=4, aim="until-sure")
    records = timed(outcome)
    blocks = [block for record in records for block in record.blocks]
    assert outcome.rounds > 1
    assert outcome.first_step == SNAPSHOT_STEPS
    assert {(block.first_step, block.restored) for block in blocks} == {(SNAPSHOT_STEPS, True)}
    assert len({len(block.steps_ns) for block in blocks}) == 1
    for label in by_label(outcome):
        mine = [record for record in records if record.trial.contender.label == label]
        assert len({len(record.warm_steps_ns) for record in mine}) == 1
        assert len({block.lead_steps for record in mine for block in record.blocks}) == 1


def test_what_training_does_to_a_steps_cost_moves_no_turn(race: Any) -> None:
    """A step that takes longer the further training is takes as long in the last turn as in the first."""
    outcome = race("fake:step_ms=10,slows=0.02", "fake:step_ms=10")
    for record in timed(outcome):
        first, *others = (block.elapsed_ns for block in record.blocks)
        assert others == [first] * len(others)
    assert outcome.verdicts[0].ratio > 1.1


def test_all_warm_up_as_long_as_the_slowest_to_settle(race: Any) -> None:
    """Who is slow to settle warms up longer, and in the first round the others do so, too."""
    outcome = race("fake:step_ms=2.5,drift=-0.0001", "fake:step_ms=100")
    counts = {record.trial.contender.label: len(record.warm_steps_ns) for record in timed(outcome)}
    assert counts["fake:step_ms=2.5,drift=-0.0001"] > 100
    assert counts["fake:step_ms=100"] > 50


def test_a_budget_under_three_rounds_gives_no_verdict(race: Any) -> None:
    """When the budget is spent no new round starts, and before the first look nothing is said of the pair."""

    def spend(event: Event) -> None:
        if isinstance(event, RoundStarted):
            time.sleep(0.3)

    outcome = race("fake:step_ms=50", "fake:step_ms=100", budget_s=0.3, observe=spend)
    assert outcome.ended == "budget"
    assert outcome.rounds <= 1
    assert [v for v in outcome.verdicts if v.verdict != "undecided" or v.low is not None] == []


def test_a_spent_budget_starts_no_second_round(race: Any) -> None:
    """A budget that the certificates alone have spent still gives the figures of one round, and no verdict."""
    outcome = race("fake:step_ms=50", "fake:step_ms=100", budget_s=1e-9)
    (pair,) = outcome.verdicts
    assert (outcome.ended, outcome.rounds, pair.verdict, pair.stopped) == ("budget", 1, "undecided", "budget")
    assert pair.ratio == pytest.approx(0.5)


@pytest.mark.parametrize("most", [1, 2])
def test_fewer_rounds_than_the_first_look_give_no_verdict(race: Any, most: int) -> None:
    """With one or two rounds there are numbers, but no interval and no verdict."""
    outcome = race("fake:step_ms=50", "fake:step_ms=100", max_rounds=most)
    (pair,) = outcome.verdicts
    assert (pair.verdict, pair.low, pair.stopped, pair.rounds) == ("undecided", None, "rounds", most)
    assert pair.ratio == pytest.approx(0.5)
    assert (outcome.ended, outcome.rounds, outcome.contenders[0].step_s) == ("rounds", most, None)


def test_no_round_is_run_that_no_look_follows(race: Any) -> None:
    """With at most six rounds the last look is after the fifth, and a sixth could change nothing."""
    outcome = race("fake:step_ms=50,process_noise=0.04", "fake:step_ms=50,process_noise=0.04", max_rounds=6)
    (pair,) = outcome.verdicts
    assert (pair.verdict, pair.stopped, outcome.rounds, outcome.ended) == ("undecided", "rounds", 5, "rounds")


def test_a_single_contender_has_three_rounds_and_no_pair(race: Any) -> None:
    """Who races alone gets a step time with its interval."""
    outcome = race("fake:step_ms=50,process_noise=0.02")
    (one,) = outcome.contenders
    assert (outcome.rounds, outcome.verdicts, outcome.ended) == (3, [], "decided")
    assert one.step_s is not None
    assert one.step_s.low < one.step_s.estimate < one.step_s.high
    assert one.samples_per_s == pytest.approx(16 / one.step_s.estimate)


def test_a_settled_contender_leaves_the_race(race: Any) -> None:
    """Who differs from all others is not run any more, while the others go on."""
    noisy = "process_noise=0.06"
    outcome = race(f"fake:step_ms=50,{noisy}", f"fake:step_ms=51,{noisy}", "fake:step_ms=500,process_noise=0.001")
    a, b, slow = outcome.contenders
    assert slow.rounds == LOOKS[0]
    assert a.rounds == b.rounds > LOOKS[0]


@pytest.mark.parametrize("free", [1, None])
def test_workers_that_do_not_fit_run_one_after_another(
    race: Any, monkeypatch: pytest.MonkeyPatch, free: int | None
) -> None:
    """With too little memory, or where it is not known, workers are not resident together; the verdict is the same."""
    monkeypatch.setattr(fitting, "available_memory_bytes", lambda: free)
    outcome = race("fake:step_ms=50", "fake:step_ms=60")
    assert [(v.verdict, v.rounds) for v in outcome.verdicts] == [("faster", LOOKS[0])]
    assert not outcome.resident
    assert not any(record.trial.resident for record in timed(outcome))


def test_workers_that_fit_alternate_in_blocks(race: Any) -> None:
    """With memory enough, every round has eight blocks of each, in the same turns."""
    outcome = race("fake:step_ms=50", "fake:step_ms=60")
    assert outcome.resident
    for record in timed(outcome):
        assert record.trial.resident
        assert [block.turn for block in record.blocks] == list(range(8))


def test_one_resident_workers_turns_follow_the_seed(race: Any) -> None:
    """Two runs with the same seed build and time their workers in the same order; another seed changes it."""

    def order(seed: int) -> list[tuple[str, Any]]:
        asked: list[tuple[str, Any]] = []  # a busy machine has steps, and whole turns, done again: they do not count

        class Listening(InlineWorker):
            def __init__(self, folder: Path, trial: TrialSpec, interpreter: str) -> None:
                super().__init__(folder, trial, interpreter)
                self._name = trial.name

            def ask(self, command: Command, limit_s: float) -> Answer:
                is_planned = getattr(command, "repeats", None) is None
                if self._name.startswith("r0") and is_planned:  # what comes before them is remembered from run to run
                    said = (self._name, type(command).__name__)
                    asked.extend([said] if asked[-1:] != [said] else [])
                return super().ask(command, limit_s)

        race(*(f"fake:step_ms={ms}" for ms in (50, 60, 70)), seed=seed, launch=Listening)
        return asked

    first = order(1)
    assert order(1) == first
    assert order(2) != first


def test_what_happens_is_told_in_order(race: Any) -> None:
    """An observer hears of the start, each certificate, each round with the time left, and the end."""
    events: list[Event] = []
    outcome = race("fake:step_ms=50", "fake:step_ms=60", observe=events.append, budget_s=3600.0)
    assert isinstance(events[0], Prepared)
    assert events[0].path == outcome.path
    assert events[0].resumed == 0
    assert [e.certificate.passed for e in events if isinstance(e, Certified)] == [True, True]
    ends = [event for event in events if isinstance(event, RoundEnded)]
    assert [event.round_number for event in ends] == [1, 2, 3, 4, 5]
    assert all(event.left_s is not None and 0 <= event.left_s <= 3600 for event in ends)
    assert [event.verdicts[0].verdict for event in ends] == [*["undecided"] * 4, "faster"]
    assert events[-1] == Finished("decided")


def test_inference_is_certified_by_outputs_alone(race: Any) -> None:
    """In the scenario infer there is no loss and no gradient; what is returned and what timed steps keep is held."""
    outcome = race(
        "fake:step_ms=50,wrong=loss", "fake:step_ms=60,wrong=outputs", "fake:step_ms=1,wrong=kept", scenario="infer"
    )
    assert [one.status for one in outcome.contenders] == ["ranked", "uncertified", "uncertified"]
    assert outcome.contenders[2].reason.startswith("ran: what timed steps keep is off by ")


@pytest.mark.parametrize("scenario", ["train", "infer"])
def test_batches_of_one_sample_are_certified(race: Any, scenario: str) -> None:
    """The commonest measurement of latency: with one sample a batch, outputs are compared from batch to batch."""
    outcome = race("fake:step_ms=50", "fake:step_ms=60", scenario=scenario, batch_size=1, max_rounds=1)
    assert [one.status for one in outcome.contenders] == ["ranked", "ranked"]


def test_learning_is_told_where_there_are_labels(race: Any) -> None:
    """On data with labels to learn, each contender's accuracy on held-out samples is in its outcome."""
    outcome = race("fake:step_ms=50", data="digits", max_rounds=1)
    (one,) = outcome.contenders
    assert (one.accuracy, one.learning_steps) == (1.0, 450)

"""The least time of a comparison by the operations of its steps, which is told before any has run."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import pytest
from tests.race.inline import InlineWorker
from tests.report.conftest import comparison
from tests.report.conftest import plan as made_plan

from bakeoff.cli.telling import begins
from bakeoff.frameworks.fake import engine
from bakeoff.race import fitting, foresight, least
from bakeoff.race.least import drawn_steps, evidence_steps
from bakeoff.race.planned import planned
from bakeoff.race.prepare import outlined
from bakeoff.race.progress import TrialStarted
from bakeoff.race.stages import certify
from bakeoff.report.units import elapsed
from bakeoff.spec.comparison import Program
from bakeoff.spec.peaks import Work
from bakeoff.spec.trial import CERTIFY_STEPS, FEW_CERTIFY_STEPS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.race.conftest import Race

    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.protocol import Answer, Command
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.trial import TrialSpec

GIGA = 10**9
RATE = 50e9
"""MACs of a second, in place of this machine's."""


def plan(label: str, **options: str) -> ContenderPlan:
    """Give a contender's plan with these options beside its own."""
    made = made_plan(label)
    contender = msgspec.structs.replace(made.contender, options=made.contender.options | options)
    return msgspec.structs.replace(made, contender=contender)


def large(*plans: Any, scenario: Scenario = "train", macs: int = 10 * GIGA) -> Comparison:
    """Give a comparison with so many operations in a step, whose reference is a contender in float64."""
    made = comparison([one.contender.label for one in plans])
    exact = plan("torch", precision="float64")
    work = Work(macs=macs, least_macs=macs, parameters=1, trains=scenario != "infer")
    return msgspec.structs.replace(made, contenders=list(plans), reference=exact, scenario=scenario, work=work)


def least_of(one: Comparison) -> least.Least:
    """Give its least time at the rate that stands in for this machine's."""
    found = least.least(one, lambda: RATE)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("scenario", "later"), [("train", CERTIFY_STEPS), ("train", FEW_CERTIFY_STEPS), ("infer", CERTIFY_STEPS)]
)
def test_evidence_takes_as_many_steps_as_are_counted(
    race: Race, monkeypatch: pytest.MonkeyPatch, scenario: Scenario, later: int
) -> None:
    """Every call of a step in the trials of a certificate is counted, by what it costs of one; a large one has few."""
    for limit in ("LARGE_MACS", "BEHIND_MACS"):
        monkeypatch.setattr(f"bakeoff.spec.trial.{limit}", 0 if later == FEW_CERTIFY_STEPS else math.inf)
    cost = {"run": 1.0, "gradients": 1.0, "outputs": least.FORWARD if scenario == "train" else 1.0, "last_outputs": 0}
    spent: defaultdict[str, float] = defaultdict(float)
    now, within = [""], list[str]()

    def counted(name: str) -> None:
        own = getattr(engine.Step, name)

        def call(self: Any, *given: Any) -> Any:
            within.append(name)
            if len(within) == 1:  # what another one of them calls is a part of it
                spent[now[0]] += cost[name]
            try:
                return own(self, *given)
            finally:
                within.pop()

        monkeypatch.setattr(engine.Step, name, call)

    for name in cost:
        counted(name)

    def observe(event: object) -> None:
        if isinstance(event, TrialStarted):
            now[0] = event.purpose

    monkeypatch.setattr(fitting, "SMALL_MACS", 0)  # else trials start together
    race("fake", scenario=scenario, max_rounds=1, observe=observe)
    assert spent["certify"] == pytest.approx(evidence_steps(scenario, later))
    precisions = ["float32", *(["float64"] if later == CERTIFY_STEPS else [])]
    drawn = sum(drawn_steps(scenario, later, precision) for precision in precisions)
    assert spent["reference"] == pytest.approx(evidence_steps(scenario, later, first_alone=True) + drawn)


def test_float32_takes_half_as_long_and_what_no_rate_is_known_of_nothing() -> None:
    """Of a GPU and of bfloat16 nothing is said; the reference is on the processor."""
    step_s = 10 * GIGA / RATE
    one, exact = plan("torch"), plan("torch", precision="float64")
    assert least_of(large(one)).round_s == pytest.approx(0.5 * least_of(large(exact)).round_s)
    for other in (plan("torch", device="cuda"), plan("torch", precision="bfloat16")):
        found = least_of(large(other))
        assert (found.round_s, found.contenders_s) == (0.0, 0.0)
        assert found.reference_s > 20 * step_s
    both = least_of(large(one, plan("jax")))
    assert both.round_s == pytest.approx(2 * least_of(large(one)).round_s)


def test_fewer_threads_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of four takes four times as long; more threads than processors are no faster."""
    monkeypatch.setattr(least, "usable_cores", lambda: 4)
    all_s, one_s, more_s = (least_of(large(plan("torch", threads=count))).round_s for count in ("4", "1", "9"))
    assert (one_s, more_s) == (pytest.approx(4 * all_s), pytest.approx(all_s))


def test_a_rounds_time_is_that_of_the_fewest_steps() -> None:
    """Ten of a warm-up, eight turns of three, a lead-in and ten that are waited for; of long steps fewer."""
    step_s = 10 * GIGA / RATE / 2
    assert least_of(large(plan("torch"))).round_s == pytest.approx((10 + 8 * 3 + 1 + 10) * step_s)
    long = large(plan("torch"), macs=1000 * GIGA)
    assert least_of(long).round_s == pytest.approx((6 + 8 * 3 + 1 + 4) * 100 * step_s)


def test_nothing_is_said_of_small_steps_or_unknown_operations() -> None:
    """And nothing is measured."""
    small = large(plan("torch"), macs=fitting.SMALL_MACS)
    for one in (small, msgspec.structs.replace(small, work=None)):
        assert least.least(one, lambda: pytest.fail("measured")) is None


def test_this_machines_rate_is_measured_once() -> None:
    """A core computes more than a hundred million and less than a million million of them."""
    rate = least.float64_macs_per_s()
    assert 1e8 < rate / least.usable_cores() < 1e12
    assert least.float64_macs_per_s() == rate


@pytest.fixture
def at_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have this machine compute as fast as the tests say."""
    monkeypatch.setattr(least, "float64_macs_per_s", lambda: RATE)


@pytest.mark.usefixtures("at_rate")
def test_a_long_reference_and_long_rounds_are_told_before_they_begin() -> None:
    """With the time at least, and what takes less; of short ones not a word."""
    long, short = (large(plan("torch"), plan("jax"), macs=count * GIGA) for count in (200, 2))
    assert "for 84 s or more by its operations alone" in begins(long, "reference")
    assert "a smaller --batch-size" in begins(long, "reference")
    assert "once a contender is verified, later races of the same work remember it" in begins(long, "reference")
    assert begins(long, "certify-torch") == begins(short, "reference") == ""
    said = foresight.told_before(long, begun=False)
    assert "a round takes 2 min or more on this processor, and a verdict needs 5 of them" in said
    assert foresight.told_before(long, begun=True) == foresight.told_before(short, begun=False) == ""


@pytest.mark.usefixtures("at_rate")
def test_what_a_large_reference_computes_more_is_told_once_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With why, however soon it is there: most models need none of it, so that nothing is told beforehand."""
    jax = plan("jax")
    jax = msgspec.structs.replace(jax, program=Program(options=jax.contender.options | {"precision": "float64"}))
    largest, small = (large(plan("torch"), jax, macs=count * GIGA) for count in (1000, 10))
    step_s = 1000 * GIGA / RATE
    said, spread_s = begins(largest, "reference-float64"), drawn_steps("train", FEW_CERTIFY_STEPS, "float64") * step_s
    why = "a program is off by more than any is allowed, so what float64 itself loses in this model is computed"
    assert said.startswith(f"reference-float64: {why} on this machine's processor, for {elapsed(spread_s)} or more by ")
    soon = msgspec.structs.replace(least_of(largest), float64_spread_s=9.0)
    with monkeypatch.context() as patch:
        patch.setattr("bakeoff.cli.telling.least", lambda _: soon)
        assert begins(largest, "reference-float64") == f"reference-float64: {why}"
    assert least_of(largest).float64_spread_s == pytest.approx(spread_s)
    itself = evidence_steps("train", FEW_CERTIFY_STEPS, first_alone=True)
    drawn = drawn_steps("train", FEW_CERTIFY_STEPS, "float32")
    assert least_of(largest).reference_s == pytest.approx((itself + drawn) * step_s)
    own = least_of(large(plan("torch"), plan("jax", precision="float64"), macs=1000 * GIGA))
    assert (own.float64_spread_s, own.reference_s > least_of(largest).reference_s) == (0.0, True)
    without_programs = least_of(large(plan("torch"), plan("jax"), macs=1000 * GIGA))
    assert (without_programs.float64_spread_s, without_programs.reference_s) == (0.0, least_of(largest).reference_s)
    assert least_of(small).float64_spread_s == 0.0, "the reference's own trial measures it"


def test_a_large_program_takes_its_first_gradients_alone() -> None:
    """What is timed takes each step's, and so does a program of smaller steps."""
    options = {**plan("jax").contender.options, "precision": "float64", "mode": "compiled"}
    one = msgspec.structs.replace(plan("jax"), program=Program(options=options))
    for macs, later in ((1000, FEW_CERTIFY_STEPS), (100, CERTIFY_STEPS)):
        step_s, whole = macs * GIGA / RATE, evidence_steps("train", later)
        alone = evidence_steps("train", later, first_alone=True)
        own = alone if later == FEW_CERTIFY_STEPS else whole
        found = least_of(large(one, macs=macs * GIGA))
        assert found.contenders_s == pytest.approx((own + 0.5 * whole) * step_s)


def test_the_trial_behind_the_programs_is_among_the_processes_at_most() -> None:
    """Of steps from 3e10 multiply-accumulates on; a program that the reference runs itself is none of its own."""
    torch, jax = (
        msgspec.structs.replace(one, program=Program(options=one.contender.options | {"precision": "float64"}))
        for one in (plan("torch"), plan("jax"))
    )
    for macs, most in ((10, 4), (100, 5)):
        certify_stage, *_ = planned(large(torch, jax, macs=macs * GIGA), {})
        assert (certify_stage.stage, certify_stage.fewest, certify_stage.most) == ("certify", 2, most)
    alone, *_ = planned(large(torch, macs=100 * GIGA), {})
    assert (alone.fewest, alone.most) == (1, 2)


@pytest.mark.usefixtures("at_rate")
def test_a_budget_is_held_against_long_rounds() -> None:
    """Five minutes buy a verdict of two small contenders, and two rounds of two large ones."""
    long = large(plan("torch"), plan("jax"), macs=200 * GIGA)
    budget = msgspec.structs.replace(long.procedure, budget_s=300.0)
    asked = msgspec.structs.replace(long, procedure=budget)
    assert "a budget of 300 s buys about 2 of the 5 rounds" in foresight.foreseen(asked, begun=False)
    assert foresight.foreseen(msgspec.structs.replace(asked, work=None), begun=False) == ""


class Limits(InlineWorker):
    """Notes the time limit of each command."""

    seen: ClassVar[dict[str, float]] = {}

    def __init__(self, folder: Path, trial: TrialSpec, interpreter: str) -> None:
        """Note the purpose."""
        super().__init__(folder, trial, interpreter)
        self._purpose = trial.purpose

    def ask(self, command: Command, limit_s: float) -> Answer:
        """Note the longest."""
        self.seen[self._purpose] = max(limit_s, self.seen.get(self._purpose, 0.0))
        return super().ask(command, limit_s)


@pytest.mark.usefixtures("at_rate")
def test_a_certificate_that_takes_long_is_not_ended_by_the_limit_of_a_trial(
    race: Race, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may take 20 times as long as its longest part does at least; rounds keep the limit that was asked for."""
    monkeypatch.setattr(fitting, "SMALL_MACS", 0)
    monkeypatch.setattr(least, "float64_macs_per_s", lambda: 1e3)
    Limits.seen = {}
    outcome = race("fake", max_rounds=1, trial_limit_s=7.0, launch=Limits)
    told = least.least(outcome.comparison)
    assert told is not None
    assert Limits.seen["reference"] == Limits.seen["certify"] == certify.PATIENCE * told.longest_s > 7.0
    assert Limits.seen["time"] == 7.0


def test_a_workload_of_its_own_size_is_counted(request_of: Any) -> None:
    """`resnet50` with its own batch has steps that are told of; a small one has none."""
    assert (
        least.least(outlined(request_of("fake", workload="resnet50", size="full", batch_size=1)), lambda: RATE)
        is not None
    )
    assert least.least(outlined(request_of("fake")), lambda: RATE) is None

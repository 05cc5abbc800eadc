"""Self-tests of the timers: whether a contender's clock reads what its work takes; those that hold are remembered."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.timer import timer_verdict
from bakeoff.race.progress import Event, TimerTested
from bakeoff.race.remembered import DISTURBED_HOLDS, age, digest, keep, recall, setting_of
from bakeoff.race.stages.stage import (
    PROCESS_S,
    Adopted,
    Checkpoint,
    RaceState,
    Session,
    WantedTrials,
    adopted,
    alone,
    behind,
    step_s,
)
from bakeoff.spec.protocol import CheckTimer, Tested
from bakeoff.stats.selftest import judge_timer, may_tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.record import Record
    from bakeoff.spec.selftest import TimerTest


class SelftestSizes(msgspec.Struct, frozen=True, kw_only=True):
    """How much work a pass of the self-test is."""

    block_s: float = 0.02
    """A single block lasts about this long: far above what it costs to start and to stop the clock, and short, because
    many short pairs tell more than few long ones of the same sum."""
    block_limit: int = 1000
    """Steps of a block or session at most: where nothing is waited for, steps look much shorter than they are."""
    pairs_s: float = 1.5
    """All pairs of a pass last about this long."""
    most_pairs: int = 24
    """Their 99 % interval reaches 0.6 standard deviations to each side."""
    fewest_pairs: int = 5
    """Where steps are long, and vary little: their 99 % interval by t reaches 2.1 standard deviations."""
    profiles: int = 3
    """Sessions of the framework's profiler, whose readings vary by a thousandth."""
    profiled_s: float = 0.1
    """Fenced steps of a session last about this long."""
    profiled_fewest: int = 10
    """Steps of a session, so that a part of one step is small."""
    profiled_most: int = 40
    """Steps of a session: every operator is an event to be kept and read; shorter steps, of few, may be more."""
    profiled_least_s: float = 0.01
    """A session lasts about this long at least: what lies before its first operator takes PyTorch 0.1 ms, whatever
    comes behind it, which is more than is allowed of 40 steps of 10 us."""
    passes: int = 3
    """After so many, or where so many would not tell either, the machine is too busy for an answer."""


SIZES = SelftestSizes()

KIND = "selftests"
"""The folder of what is remembered."""

MEASURING = ("measure/*.py", "trial/*.py", "frameworks/*.py", "stats/selftest.py", "race/stages/selftest.py")
"""Below the package's folder; what belongs to one framework has a hash of its own."""


def wanted(state: RaceState) -> Iterator[WantedTrials | Adopted | Checkpoint | Event]:
    """Want a test of each certified contender, unless one that was made before holds, and report each verdict.

    It comes after the rounds: what it finds takes a rank away, and what it does not find adds none.
    """
    missing: list[WantedTrials] = []
    for plan in state.certified():
        (certified,) = state.of("certify", plan)
        before = remembered(certified)
        if before is None and not state.of("selftest", plan):
            missing.append(_test(state, plan))
            continue
        if before is not None:
            yield adopted(before, state.specs.trial(plan, "selftest").spec)
        yield _tested(state, plan.contender.label)
    for wish in behind(state, missing, len(missing) * (PROCESS_S + SIZES.pairs_s)):
        yield wish
        for trial in wish.trials if isinstance(wish, WantedTrials) else ():
            yield _tested(state, trial.spec.contender.label)


def every_timer(state: RaceState) -> Iterator[WantedTrials | Event]:
    """Want a test of each contender, also where one that passed is remembered, and report each verdict."""
    for plan in state.comparison.contenders:
        yield _test(state, plan)
        yield _tested(state, plan.contender.label)


def _test(state: RaceState, plan: ContenderPlan) -> WantedTrials:
    """Return the trial that tests a contender's timer."""
    return alone(state.specs.trial(plan, "selftest"), _passes)


def _tested(state: RaceState, label: str) -> TimerTested:
    """Return the verdict on the test that is there, which is remembered."""
    (record,) = (record for record in state.of("selftest") if record.trial.contender.label == label)
    remember(record)
    return TimerTested(timer_verdict(record))


def _passes(session: Session) -> None:
    """Warm up, and test the timer until there is an answer or the machine is too busy for one."""
    # Whole passes over batches of several shapes, so that a double block is twice the work of a single one.
    command = timer_plan(step_s(session.warm_up(), session.pass_steps), session.whole)
    passes: list[TimerTest] = []
    while len(passes) < SIZES.passes:
        session.tell("testing the timer")
        answer = session.ask(command)
        assert isinstance(answer, Tested)
        passes.append(answer.test)
        verdict = judge_timer(session.label, passes)
        if verdict.outcome != "untold" or not may_tell(passes, SIZES.passes):
            break
        # A profiler that has told is not asked again.
        if all(check.outcome != "untold" for check in verdict.checks if check.name == "profiler"):
            command = msgspec.structs.replace(command, profiles=0)


def timer_plan(step_s: float, whole: Callable[[int], int] = int) -> CheckTimer:
    """Return the sizes of one pass for steps of this length; `whole` makes a block's steps more, if need be."""
    many = max(SIZES.profiled_most, min(SIZES.block_limit, math.ceil(SIZES.profiled_least_s / step_s)))
    profiled = min(many, max(SIZES.profiled_fewest, math.ceil(SIZES.profiled_s / step_s)))
    steps = whole(min(SIZES.block_limit, math.ceil(SIZES.block_s / step_s)))
    pairs = math.ceil(SIZES.pairs_s / (3 * steps * step_s))
    return CheckTimer(
        steps=steps,
        pairs=min(SIZES.most_pairs, max(SIZES.fewest_pairs, pairs)),
        profiled_steps=profiled,
        profiles=SIZES.profiles,
    )


def remember(record: Record) -> None:
    """Keep the record of a self-test that did not fail; one that cannot be written is run again next time."""
    if record.outcome == "done" and timer_verdict(record).outcome != "failed":
        keep(KIND, _name(record), record)


def remembered(like: Record) -> Record | None:
    """Return the self-test that holds for what a contender runs with, which its record `like` names; else None."""
    before = recall(KIND, _name(like))
    if before is None:
        return None
    # On a busy machine a self-test has no answer.
    holds = timer_verdict(before.record).outcome == "passed" or age(before.record) < DISTURBED_HOLDS
    return before.record if holds else None


def _name(record: Record) -> str:
    """Return the name of a self-test: all that its outcome could depend on."""
    return digest(setting_of(record, MEASURING))

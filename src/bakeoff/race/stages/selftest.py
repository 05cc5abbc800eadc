"""Self-tests of the timers: whether a contender's clock reads what its work takes; those that hold are remembered."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

import bakeoff
from bakeoff.judge.timer import timer_verdict
from bakeoff.race.progress import Event, TimerTested
from bakeoff.race.remembered import code_sha256, digest, keep, recall
from bakeoff.race.stages.stage import Adopted, Session, State, Wanted, alone, step_s
from bakeoff.spec.protocol import CheckTimer, Tested
from bakeoff.stats.selftest import judge_timer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.record import Record
    from bakeoff.spec.selftest import TimerTest


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """How much work a pass of the self-test is."""

    block_s: float = 0.05
    """A single block lasts about this long: far above what it costs to start and to stop the clock."""
    block_limit: int = 1000
    """Steps of a single block at most: where nothing is waited for, steps look much shorter than they are."""
    pairs: int = 8
    """The fewest that the signed-rank test can be 99 % sure of (2 / 2^8 < 1 %)."""
    profiles: int = 5
    """Sessions of the framework's profiler; each takes some 50 ms to start and to read."""
    profiled_s: float = 0.1
    """Fenced steps of a session last about this long."""
    profiled_fewest: int = 10
    """Steps of a session, so that a part of one step is small."""
    profiled_most: int = 100
    """Steps of a session: every operator is an event to be kept."""
    passes: int = 3
    """After so many the machine is too busy for an answer."""


SIZES = Sizes()

KIND = "selftests"
"""The folder of what is remembered."""

MEASURING = ("measure/*.py", "trial/*.py", "frameworks/*.py", "stats/selftest.py", "race/stages/selftest.py")
"""Below the package's folder; what belongs to one framework has a hash of its own."""


def wanted(state: State) -> Iterator[Wanted | Adopted | Event]:
    """Want a test of each certified contender, unless one that was made before holds, and report each verdict."""
    for plan in state.certified():
        (certified,) = state.of("certify", plan)
        before = remembered(certified)
        if before is None:
            yield _test(state, plan)
        else:
            spec = state.specs.trial(plan, "selftest").spec
            # The record goes on to name the comparison that it was made in.
            trial = msgspec.structs.replace(spec, comparison=before.trial.comparison)
            yield Adopted(msgspec.structs.replace(before, trial=trial))
        yield _tested(state, plan)


def every_timer(state: State) -> Iterator[Wanted | Event]:
    """Want a test of each contender, also where one that passed is remembered, and report each verdict."""
    for plan in state.comparison.contenders:
        yield _test(state, plan)
        yield _tested(state, plan)


def _test(state: State, plan: ContenderPlan) -> Wanted:
    """Return the trial that tests a contender's timer."""
    return alone(state.specs.trial(plan, "selftest"), _passes)


def _tested(state: State, plan: ContenderPlan) -> TimerTested:
    """Return the verdict on the test that is there, which is remembered."""
    (record,) = state.of("selftest", plan)
    remember(record)
    return TimerTested(timer_verdict(record))


def _passes(session: Session) -> None:
    """Warm up, and test the timer until there is an answer or the machine is too busy for one."""
    command = timer_plan(step_s(session.warm_up()))
    passes: list[TimerTest] = []
    while len(passes) < SIZES.passes:
        session.tell("testing the timer")
        answer = session.ask(command)
        assert isinstance(answer, Tested)
        passes.append(answer.test)
        if judge_timer(session.label, passes).outcome != "untold":
            break


def timer_plan(step_s: float) -> CheckTimer:
    """Return the sizes of one pass for steps of this length."""
    profiled = min(SIZES.profiled_most, max(SIZES.profiled_fewest, math.ceil(SIZES.profiled_s / step_s)))
    return CheckTimer(
        steps=min(SIZES.block_limit, math.ceil(SIZES.block_s / step_s)),
        pairs=SIZES.pairs,
        profiled_steps=profiled,
        profiles=SIZES.profiles,
    )


UNTOLD_HOLDS = timedelta(hours=1)
"""On a busy machine a self-test has no answer, and the next comparison of a study would have none minutes later."""


def remember(record: Record) -> None:
    """Keep the record of a self-test that did not fail; one that cannot be written is run again next time."""
    if record.outcome == "done" and timer_verdict(record).outcome != "failed":
        keep(KIND, _name(record), record)


def remembered(like: Record) -> Record | None:
    """Return the self-test that holds for what a contender runs with, which its record `like` names; else None."""
    before = recall(KIND, _name(like))
    if before is None:
        return None
    age = datetime.now(UTC) - datetime.fromisoformat(before.record.started_at)
    holds = timer_verdict(before.record).outcome == "passed" or age < UNTOLD_HOLDS
    return before.record if holds else None


def _name(record: Record) -> str:
    """Return the name of a self-test: all that its outcome could depend on."""
    trial, contender = record.trial, record.trial.contender
    facts = [
        bakeoff.__version__,
        code_sha256(MEASURING),
        trial.workload_sha256,
        trial.scenario,
        trial.size,
        trial.batch_size,
        trial.framework_sha256,
        sorted(record.machine.items()),
        contender.framework,
        sorted(contender.options.items()),
        record.python,
        sorted(record.versions.items()),
        sorted(record.inherited.items()),
    ]
    return digest(facts)

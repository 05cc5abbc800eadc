"""Rounds of timed trials: resident together and in alternating blocks where memory allows, else one after another.

Their orders are drawn from the comparison's seed, so that they can be repeated.
"""

from __future__ import annotations

import math
import random
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.rounds import frozen_cut
from bakeoff.measure.machine import available_memory_bytes
from bakeoff.race.progress import Event, RoundEnded, RoundStarted
from bakeoff.race.stages.stage import Checkpoint, Session, State, Team, Wanted, alone, step_s
from bakeoff.spec.protocol import Fence, RunBlock, Warm
from bakeoff.stats.progress import Standing, still_active
from bakeoff.stats.warmup import mser5

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bakeoff.spec.comparison import ContenderPlan

MEMORY_SHARE = 0.7
"""Workers are resident together only if their peaks fit in this share of the available memory: the rest is for other
processes, and for peaks that a memory trial did not reach."""

LOADING = "pipeline"
"""The way of input that goes on loading, until its buffers are full, while its worker pauses."""


class Turns(msgspec.Struct, frozen=True, kw_only=True):
    """How many blocks each contender of a round has."""

    most: int = 12
    """Fewer leave the median over them to chance."""
    fewest: int = 4
    """Where steps are long."""
    long_step_s: float = 0.02
    """Above this step time there are fewer blocks."""


class BlockSizes(msgspec.Struct, frozen=True, kw_only=True):
    """How long a block is."""

    lead_s: float = 0.1
    """A lead-in lasts at least this long: right after a switch steps are slower, and not equally in all frameworks."""
    timed_s: float = 0.15
    """The timed part lasts about this long: long beside the clock's resolution, short beside the bursts of other
    processes, so that neighbours share them."""
    fewest_steps: int = 3
    """In each part of a block."""
    fewest_timed_steps: int = 12
    """Of each contender in a round."""


class AloneSizes(msgspec.Struct, frozen=True, kw_only=True):
    """How much is timed of a worker that has the machine for itself."""

    seconds: float = 2.0
    """About this long, within the limits of steps."""
    fewest_steps: int = 24
    most_steps: int = 200
    """Beyond that, more rounds tell more than more steps (docs/method.md)."""
    blocks: int = 6
    """A burst of other processes spoils one of them and not their median."""


class FencedPart(msgspec.Struct, frozen=True, kw_only=True):
    """How many steps are waited for one by one, after the last block."""

    steps: int = 10
    """At least: a p90 of fewer is their longest."""
    seconds: float = 0.3
    """At least: the length of two blocks."""
    limit: int = 400
    """Steps at most, where that is enough: more would only swell the record."""


TURNS = Turns()
BLOCK = BlockSizes()
ALONE = AloneSizes()
FENCED = FencedPart()


class BlockPlan(msgspec.Struct, frozen=True):
    """One contender's blocks in a round: steps of the lead-in, and timed steps."""

    lead: int
    steps: int


def wanted(state: State) -> Iterator[Wanted | Checkpoint | Event]:
    """Want rounds until every pair has its verdict, or none can be had any more."""
    limit = state.comparison.procedure.max_rounds
    first = _rounds(state) + 1
    for number in count(first) if limit is None else range(first, limit + 1):
        plans = active(state)
        if not plans:
            return
        # One round is run in any case: figures without a verdict are more than nothing.
        if number > 1:
            yield Checkpoint()
        began_s = state.elapsed_s()
        yield RoundStarted(number, tuple(plan.contender.label for plan in plans))
        cut = frozen_cut(state.records.values())
        if _fit_together(state, plans):
            yield together(state, plans, number, cut)
        else:
            yield from one_by_one(state, plans, number, cut)
        now_s = state.elapsed_s()
        rest_s = None if limit is None else (now_s - began_s) * (limit - number)
        left_s = min((some for some in (rest_s, state.left_s()) if some is not None), default=None)
        yield RoundEnded(number, limit, now_s, left_s, tuple(state.outcome().verdicts))


def ended(state: State) -> str:
    """Return why no more rounds are run, where it was not for the budget: "rounds" or "decided"."""
    limit = state.comparison.procedure.max_rounds
    return "rounds" if limit is not None and _rounds(state) >= limit else "decided"


def active(state: State) -> list[ContenderPlan]:
    """Return the contenders that run in the next round."""
    outcome, racing = state.outcome(), {plan.contender.label: plan for plan in state.racing()}
    standings = [
        Standing(
            label=one.label,
            rounds=one.rounds,
            failures=sum(record.outcome != "done" for record in state.of("time", racing[one.label])),
        )
        for one in outcome.contenders
        if one.label in racing and one.status != "refused"
    ]
    return [racing[label] for label in still_active(standings, outcome.verdicts)]


def together(state: State, plans: Sequence[ContenderPlan], number: int, cut: int | None) -> Wanted:
    """Return a round of workers that are resident together and alternate in blocks; a lost one drops out."""
    order = state.specs.shuffled(plans, number)
    trials = tuple(state.specs.trial(plan, "time", number, resident=True) for plan in order)
    return Wanted(trials, partial(_alternate, state.comparison.procedure.seed, number, cut))


def one_by_one(state: State, plans: Sequence[ContenderPlan], number: int, cut: int | None) -> list[Wanted]:
    """Return a round of workers one after another, in random order."""
    order = state.specs.shuffled(plans, number)
    return [alone(state.specs.trial(plan, "time", number), partial(_time_alone, cut)) for plan in order]


def _alternate(seed: int, number: int, cut: int | None, team: Team) -> None:
    """Run a round's blocks: one worker at a time, the others blocked in a read."""
    warm_ns = team.each(lambda session: session.warm_up(cut))
    if not warm_ns:
        return
    # The frozen cut holds for all, so each is warmed on to the longest that any of them needs.
    longest = max(mser5(steps_ns).steps for steps_ns in warm_ns.values())
    team.each(lambda session: _warm_on(session, longest - len(warm_ns[session.label])))
    steps_s = {label: step_s(warm_ns[label]) for label in team.labels}
    if not steps_s:
        return
    turns = turn_count(list(steps_s.values()))
    plans = {label: block_plan(one, turns) for label, one in steps_s.items()}
    for turn, order in enumerate(turn_orders(team.labels, seed, number, turns)):
        for label in order:
            command = RunBlock(lead=plans[label].lead, steps=plans[label].steps, turn=turn)
            team.ask(label, f"block {turn + 1} of {turns}", command)
    team.each(lambda session: _fence(session, plans[session.label].lead))


def _warm_on(session: Session, missing: int) -> None:
    """Run the steps that are missing of the warm-up."""
    if missing > 0:
        session.ask(Warm(steps=missing))


def _fence(session: Session, lead: int) -> None:
    """Run the fenced part, behind a lead-in as a block's."""
    session.tell("waiting for each step")
    session.ask(Fence(lead=lead, steps=FENCED.steps, seconds=FENCED.seconds, limit=FENCED.limit))


def _time_alone(cut: int | None, session: Session) -> None:
    """Run the blocks of a worker that has the machine for itself."""
    plan = alone_plan(step_s(session.warm_up(cut)))
    session.tell("timing")
    for turn in range(ALONE.blocks):
        # Nothing switches here, so one lead-in is enough.
        session.ask(RunBlock(lead=plan.lead if turn == 0 else 0, steps=plan.steps, turn=turn))
    _fence(session, 0)


def _rounds(state: State) -> int:
    """Return the number of the last round that was run."""
    return max((record.trial.round_number for record in state.of("time")), default=0)


def _fit_together(state: State, plans: Sequence[ContenderPlan]) -> bool:
    """Return whether a round's workers fit in memory together, and rest while another one runs."""
    if any(plan.contender.options.get("input") == LOADING for plan in plans):
        return False
    free_bytes = available_memory_bytes()
    records = [record for plan in plans for record in state.of("memory", plan)]
    peaks = [record.memory.peak_bytes for record in records if record.memory and record.memory.peak_bytes]
    if free_bytes is None or len(peaks) < len(plans):
        return False
    return sum(peaks) <= MEMORY_SHARE * free_bytes


def turn_count(step_s: Sequence[float]) -> int:
    """Return how many blocks each contender of a round runs: an even number, so that orders come in mirrored pairs."""
    slowest = max(step_s)
    if slowest <= TURNS.long_step_s:
        return TURNS.most
    wanted = TURNS.most * TURNS.long_step_s / slowest
    return max(TURNS.fewest, 2 * round(wanted / 2))


def block_plan(step_s: float, turns: int) -> BlockPlan:
    """Return the sizes of one contender's blocks."""
    lead = max(BLOCK.fewest_steps, math.ceil(BLOCK.lead_s / step_s))
    by_round = math.ceil(BLOCK.fewest_timed_steps / turns)
    steps = max(BLOCK.fewest_steps, math.ceil(BLOCK.timed_s / step_s), by_round)
    return BlockPlan(lead, steps)


def alone_plan(step_s: float) -> BlockPlan:
    """Return the sizes of each block of a worker that has the machine for itself."""
    steps = min(ALONE.most_steps, max(ALONE.fewest_steps, math.ceil(ALONE.seconds / step_s)))
    return BlockPlan(max(BLOCK.fewest_steps, math.ceil(BLOCK.lead_s / step_s)), math.ceil(steps / ALONE.blocks))


def turn_orders(labels: Sequence[str], seed: int, round_number: int, turns: int) -> list[list[str]]:
    """Return the order of the contenders in each turn: a random one and then its mirror image (ABBA or BAAB)."""
    generator = random.Random(f"{seed}/{round_number}/turns")  # noqa: S311 - an order
    orders: list[list[str]] = []
    for _ in range(turns // 2):
        order = generator.sample(list(labels), len(labels))
        orders += [order, order[::-1]]
    return orders

"""Rounds of timed trials: resident together and in alternating blocks where memory allows, else one after another.

Their orders are drawn from the comparison's seed, so that they can be repeated.
"""

from __future__ import annotations

import math
import random
import time
from functools import partial
from itertools import count, islice
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.scaling import never_formed
from bakeoff.measure.contention import is_disturbed
from bakeoff.measure.noise import PROBE_S, probe
from bakeoff.race.progress import BlockTimed, Event, RoundEnded, RoundStarted, Waiting
from bakeoff.race.stages.stage import WARM_UP, Checkpoint, RaceState, Session, Team, WantedTrials, fewer_of_long, step_s
from bakeoff.spec.protocol import Fence, Ran, RunBlock, Warm
from bakeoff.spec.record import NS
from bakeoff.stats.progress import Standing, still_active
from bakeoff.stats.warmup import mser5

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.record import Record, Signals

LOADING = "pipeline"
"""The way of input that goes on loading, until its buffers are full, while its worker pauses."""


class Turns(msgspec.Struct, frozen=True, kw_only=True):
    """How many blocks each contender of a round has: an even number, so that orders come in mirrored pairs."""

    usual: int = 8
    """Within 5 to 20 % of the best number on calm and on noisy machines: a round costs more than its turns, and rounds
    count for more than turns (docs/verdicts.md, benchmarks/deciding.py)."""
    few: int = 6
    """Where the time budget has room for few rounds."""
    few_rounds: float = 7.0
    """That is fewer than the second look asks for."""


class BlockSizes(msgspec.Struct, frozen=True, kw_only=True):
    """How long a block is."""

    lead_s: float = 0.03
    """A lead-in lasts at least this long: right after a switch steps are slower, and not equally in all frameworks."""
    timed_s: float = 0.075
    """The timed part lasts about this long in the middle of the contenders, who all time the same steps: long beside
    the clock's resolution, short beside the bursts of other processes, so that neighbours share them."""
    cold_lead_s: float = 1.0
    """The first lead-in of a worker that has a GPU for itself: a GPU's clock falls while nothing runs on it, as it does
    while a process starts, and rises again over some tenths of a second of work. In rounds of resident workers it
    is kept busy by whoever runs. Not measured by us on a GPU."""
    fewest_steps: int = 2
    """In the timed part, however long they are."""


class FencedPart(msgspec.Struct, frozen=True, kw_only=True):
    """How many steps are waited for one by one, after the last block."""

    steps: int = 10
    """At least: a p90 of fewer is their longest."""
    seconds: float = 0.15
    """At least: the length of a block."""
    limit: int = 400
    """Steps at most, where that is enough: more would only swell the record."""
    few: int = 4
    """Of long steps."""


TURNS = Turns()
BLOCK = BlockSizes()
FENCED = FencedPart()


def round_steps(step_s: float) -> int:
    """Return the fewest steps of a contender in a round, whose step takes so long.

    A round of long steps has as many turns as any: with fewer of them, its ratio is known that much worse
    (benchmarks/results/long-steps-2026-11-29.md).
    """
    block = 1 + BLOCK.fewest_steps  # with its lead-in, which the fenced part has, too
    warm, fenced = fewer_of_long(step_s, WARM_UP.fewest, WARM_UP.few), fewer_of_long(step_s, FENCED.steps, FENCED.few)
    return warm + TURNS.usual * block + 1 + fenced


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """What every round of a comparison repeats, as the first one has fixed it; empty before that."""

    turns: int | None = None
    steps: dict[str, int] = {}
    """In the timed part of each contender's blocks: one number for all that take turns."""
    leads: dict[str, int] = {}
    """Steps of each contender's lead-ins, by label."""
    warm: dict[str, int] = {}
    """Steps of each contender's warm-up."""


def course_of(timed: Iterable[Record]) -> Course:
    """Return what the first rounds of these timed trials have fixed."""
    known: dict[str, Record] = {}
    for record in sorted(timed, key=lambda one: one.trial.round_number):
        if record.outcome == "done" and record.blocks:
            known.setdefault(record.trial.contender.label, record)
    if not known:
        return Course()
    first = next(iter(known.values()))
    return Course(
        turns=sum(block.repeats is None for block in first.blocks),
        steps={label: len(record.blocks[0].steps_ns) for label, record in known.items()},
        # The first lead-in of a worker that has a GPU for itself is longer.
        leads={label: record.blocks[-1].lead_steps for label, record in known.items()},
        warm={label: len(record.warm_steps_ns) for label, record in known.items()},
    )


def wanted(state: RaceState) -> Iterator[WantedTrials | Checkpoint | Event]:
    """Want rounds until every pair has its verdict, or none can be had any more."""
    limit = state.comparison.procedure.max_rounds
    first = _rounds(state) + 1
    calm = CalmWait(state.comparison.procedure.calm_wait_s)
    for number in count(first) if limit is None else range(first, limit + 1):
        plans = active(state)
        if not plans:
            return
        # One round is run in any case: figures without a verdict are more than nothing.
        if number > 1:
            yield Checkpoint()
        yield from calm.wait(state.left_s())
        if number > 1:
            yield Checkpoint()
        began_s = state.elapsed_s()
        yield RoundStarted(number, tuple(plan.contender.label for plan in plans))
        apart = _why_apart(state, plans)
        if not apart:
            yield together(state, plans, number)
        else:
            for plan in state.specs.shuffled(plans, number):
                yield by_itself(state, plan, number, len(plans), apart)
        now_s = state.elapsed_s()
        rest_s = None if limit is None else (now_s - began_s) * (limit - number)
        left_s = min((some for some in (rest_s, state.left_s()) if some is not None), default=None)
        yield RoundEnded(number, limit, now_s, left_s, now_s - began_s, tuple(state.outcome().pairs))


def made_up(comparison: Comparison, folder: Path, inputs: Path) -> Comparison:
    """Return a comparison that goes on, with one round more for each in which somebody's trial is gone.

    Such a round counts for no pair of that contender's, and the trial is not run by itself: the turns of its round that
    are left would be no neighbours of its own. Another round stands in its stead. Rounds lack nobody who would not run
    on, as those do whose pairs were settled before.
    """
    limit = comparison.procedure.max_rounds
    if limit is None:
        return comparison
    unlimited = msgspec.structs.replace(comparison.procedure, max_rounds=None)
    state = RaceState(msgspec.structs.replace(comparison, procedure=unlimited), folder, inputs)
    timed = {(record.trial.round_number, record.trial.contender.label) for record in state.of("time")}
    if len(timed) == _rounds(state) * len(comparison.contenders):
        return comparison  # Nobody lacks any, and no certificate needs to be judged.
    labels = [plan.contender.label for plan in active(state)]
    run = range(1, _rounds(state) + 1)
    short = {number for number in run if any((number, label) not in timed for label in labels)}
    whole = (number for number in count(1) if number not in short)
    last = next(islice(whole, limit - 1, None))
    procedure = msgspec.structs.replace(comparison.procedure, max_rounds=last)
    return msgspec.structs.replace(comparison, procedure=procedure)


class CalmWait:
    """Waits for other processes to rest, as long as it may in all."""

    def __init__(self, most_s: float) -> None:
        """Take the longest time to wait, over all rounds."""
        self._left_s = most_s

    def wait(self, budget_s: float | None = None) -> Iterator[Waiting]:
        """Return when the machine is calm, when that is not known here, or when no time to wait is left."""
        ends_s = math.inf if budget_s is None else time.monotonic() + budget_s
        while self._left_s > 0.0 and time.monotonic() < ends_s:
            began_s = time.monotonic()
            seen = probe(min(PROBE_S, self._left_s))
            self._left_s -= time.monotonic() - began_s
            if seen.calm is not False:
                return
            yield Waiting((seen.foreign_share or 0.0) + (seen.steal_share or 0.0), max(0.0, self._left_s))


def ended(state: RaceState) -> str:
    """Return why no more rounds are run, where it was not for the budget: "rounds" or "decided"."""
    limit = state.comparison.procedure.max_rounds
    return "rounds" if limit is not None and _rounds(state) >= limit else "decided"


def active(state: RaceState) -> list[ContenderPlan]:
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
    never = never_formed(state.comparison.contenders)
    return [racing[label] for label in still_active(standings, outcome.pairs, never)]


def together(state: RaceState, plans: Sequence[ContenderPlan], number: int) -> WantedTrials:
    """Return a round of workers that are resident together and alternate in blocks; a lost one drops out."""
    order = state.specs.shuffled(plans, number)
    trials = tuple(state.specs.trial(plan, "time", number, resident=True) for plan in order)
    return WantedTrials(trials, partial(_alternate, state, number, state.elapsed_s(), len(plans)))


def by_itself(state: RaceState, plan: ContenderPlan, number: int, contenders: int, apart: str) -> WantedTrials:
    """Return a contender's part of a round whose workers run one after another for this reason, so many of them.

    Nobody's turns are neighbours here, so each times as many steps as are long enough for it, from the same state.
    """
    trial = state.specs.trial(plan, "time", number, apart=apart)
    return WantedTrials((trial,), partial(_alternate, state, number, state.elapsed_s(), contenders))


def _alternate(state: RaceState, number: int, began_s: float, contenders: int, team: Team) -> None:
    """Run the blocks of a round of so many contenders: one worker at a time, the others blocked in a read."""
    course = course_of(state.of("time"))
    data = state.comparison.data
    steps_s = _warmed_up(team, course, data.pass_steps)
    if not steps_s:
        return
    leads = {label: course.leads.get(label) or lead_steps(one) for label, one in steps_s.items()}
    # Of batches of different shapes all time the same ones, neighbours or not.
    is_common = len(steps_s) > 1 or data.pass_steps > 1
    fixed = [count for label, count in course.steps.items() if label in steps_s or is_common]
    steps = max(fixed, default=0) or data.whole(timed_steps(list(steps_s.values())))
    turn_s = sum((leads[label] + steps) * one for label, one in steps_s.items())
    turns = course.turns or _turns(state, began_s, turn_s, contenders / len(steps_s))
    blocks = Blocks(team, leads, steps, _first_leads(state, team, steps_s))
    orders = turn_orders(team.labels, state.comparison.procedure.seed, number, turns)
    disturbed = [turn for turn, order in enumerate(orders) if blocks.run(order, turn, f"block {turn + 1} of {turns}")]
    # Where most turns are disturbed the machine is busy, and repeated ones would be disturbed, too.
    if len(disturbed) <= turns // 2:
        for again, turn in enumerate(disturbed):
            blocks.run(orders[turn], turns + again, f"block {turn + 1} again", repeats=turn)
    team.each(lambda session: _fence(session, leads[session.label], steps_s[session.label]))


def _warmed_up(team: Team, course: Course, pass_steps: int) -> dict[str, float]:
    """Warm every worker up; return the step time of each, estimated from its warm-up.

    In the first round all go on until the slowest to settle has; later rounds run as many steps as the first.
    """
    warm_ns = team.each(lambda session: session.warm_up(course.warm.get(session.label)))
    longest = max((mser5(steps_ns).steps for steps_ns in warm_ns.values()), default=0)
    for label, steps_ns in warm_ns.items():
        if label not in course.warm and len(steps_ns) < longest:
            team.ask(label, "warming up", Warm(steps=longest - len(steps_ns)))
    return {label: step_s(warm_ns[label], pass_steps) for label in team.labels}


class Blocks:
    """Runs one turn after another of a round."""

    def __init__(self, team: Team, leads: Mapping[str, int], steps: int, first: Mapping[str, int]) -> None:
        """Take the workers, and the sizes of their blocks; `first` are longer lead-ins of the first block of some."""
        self._team, self._leads, self._steps, self._first = team, leads, steps, dict(first)

    def run(self, order: Sequence[str], turn: int, doing: str, repeats: int | None = None) -> bool:
        """Run one block of each contender; return whether others disturbed any, by counters and never by its time."""
        seen: list[Signals] = []
        for label in order:
            lead = max(self._leads[label], self._first.pop(label, 0))
            command = RunBlock(lead=lead, steps=self._steps, turn=turn, repeats=repeats)
            answer = self._team.ask(label, doing, command)
            if isinstance(answer, Ran):
                self._team.report(label, BlockTimed(label, answer.elapsed_ns * NS / answer.steps))
                seen += [answer.signals] if answer.signals is not None else []
        return is_disturbed(seen)


def _first_leads(state: RaceState, team: Team, steps_s: Mapping[str, float]) -> dict[str, int]:
    """Return the steps of the first lead-in of a worker that has a GPU for itself."""
    options = {plan.contender.label: plan.contender.options for plan in state.comparison.contenders}
    cold = [label for label in team.labels if len(steps_s) == 1 and options[label].get("device", "cpu") != "cpu"]
    return {label: math.ceil(BLOCK.cold_lead_s / steps_s[label]) for label in cold}


def _fence(session: Session, lead: int, step_s: float) -> None:
    """Run the fenced part, behind a lead-in as a block's."""
    session.tell("waiting for each step")
    seconds = FENCED.seconds if session.pass_steps == 1 else 0.0  # else it would end within a pass
    steps = session.whole(fewer_of_long(step_s, FENCED.steps, FENCED.few))
    session.ask(Fence(lead=lead, steps=steps, seconds=seconds, limit=max(steps, FENCED.limit)))


def _rounds(state: RaceState) -> int:
    """Return the number of the last round that was run."""
    return max((record.trial.round_number for record in state.of("time")), default=0)


def _why_apart(state: RaceState, plans: Sequence[ContenderPlan]) -> str:
    """Return why a round's workers cannot be resident together; empty where they fit, and rest while another runs."""
    loading = [plan.contender.label for plan in plans if plan.contender.options.get("input") == LOADING]
    if loading and len(plans) > 1:
        return f"input={LOADING}: {', '.join(loading)} would go on loading while another one runs"
    return state.why_apart(plans)


def _turns(state: RaceState, began_s: float, turn_s: float, parts: float) -> int:
    """Return the number of turns of every round: fewer where the time budget has room for few rounds.

    A turn takes `turn_s` of this part of a round, which began then and is one of about so many.
    """
    left_s = state.left_s()
    if left_s is None:
        return TURNS.usual
    spent_s = state.elapsed_s() - began_s
    round_s = parts * (spent_s + TURNS.usual * turn_s)
    return TURNS.few if left_s + spent_s < TURNS.few_rounds * round_s else TURNS.usual


def lead_steps(step_s: float) -> int:
    """Return the steps of a lead-in."""
    return max(1, math.ceil(BLOCK.lead_s / step_s))


def timed_steps(steps_s: Sequence[float]) -> int:
    """Return the steps of a block's timed part, for contenders whose steps take so long: their geometric mean decides.

    All time the same steps of training, so one number holds for all.
    """
    middle_s = math.exp(math.fsum(map(math.log, steps_s)) / len(steps_s))
    return max(BLOCK.fewest_steps, math.ceil(BLOCK.timed_s / middle_s))


def turn_orders(labels: Sequence[str], seed: int, round_number: int, turns: int) -> list[list[str]]:
    """Return the order of the contenders in each turn: a random one and then its mirror image (ABBA or BAAB)."""
    generator = random.Random(f"{seed}/{round_number}/turns")  # noqa: S311 - an order
    orders: list[list[str]] = []
    for _ in range(turns // 2):
        order = generator.sample(list(labels), len(labels))
        orders += [order, order[::-1]]
    return orders

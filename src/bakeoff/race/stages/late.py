"""What training does to a step's cost: blocks late in training beside early ones, one fresh process a contender."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.late import late_step
from bakeoff.measure.contention import is_disturbed
from bakeoff.race.remembered import DISTURBED_HOLDS, age, digest, keep, recall, setting_of
from bakeoff.race.stages.certify import COMPUTING
from bakeoff.race.stages.stage import (
    PROCESS_S,
    SHORTEST_STEP_S,
    WARM_UP,
    Adopted,
    Checkpoint,
    RaceState,
    Session,
    WantedTrials,
    adopted,
    alone,
    behind,
)
from bakeoff.spec.protocol import MeasureLate
from bakeoff.spec.scenario import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.record import LateReading, Record


class LateBlocks(msgspec.Struct, frozen=True, kw_only=True):
    """How much is timed."""

    pairs: int = 8
    """The fewest whose signed ranks give a 95 % interval that one disturbed pair does not widen to its end."""
    lead_s: float = 0.03
    timed_s: float = 0.05
    """Half of the race's blocks: pairs of one process vary less than processes do."""
    fewest_steps: int = 3

    def sizes(self, step_s: float) -> tuple[int, int]:
        """Return the untimed and the timed steps of a block."""
        lead, timed = (max(self.fewest_steps, math.ceil(part_s / step_s)) for part_s in (self.lead_s, self.timed_s))
        return lead, timed


BLOCKS = LateBlocks()


KIND = "late"
"""The folder of what is remembered."""

MEASURING = (*COMPUTING, "measure/*.py", "race/stages/late.py")  # its losses are held against a certificate
"""Below the package's folder; what belongs to one framework has a hash of its own."""

DISTURBED_PAIRS = 1
"""Of a reading's pairs of blocks, at most, in one that holds from then on: it moves the median of eight little."""


def wanted(state: RaceState) -> Iterator[WantedTrials | Adopted | Checkpoint]:
    """Want one trial of each ranked contender, where the scenario trains, nothing is remembered and time is left."""
    if not SCENARIOS[state.comparison.scenario].trains:
        return
    ranked = [one for one in state.outcome().contenders if one.status == "ranked"]
    steps_s = {one.label: max(one.median_step_s, SHORTEST_STEP_S) for one in ranked if one.median_step_s}
    # Reading gradients may compile another program, which takes about as long as the first step's.
    compile_s = {one.label: one.compile_s or 0.0 for one in ranked}
    asked: list[WantedTrials] = []
    needs_s = 0.0
    for plan in state.specs.shuffled([plan for plan in state.racing() if plan.contender.label in steps_s], 1):
        step_s = steps_s[plan.contender.label]
        until = late_step(step_s)
        if until is None or state.of("late", plan):
            continue
        trial = state.specs.trial(plan, "late")
        if before := remembered(state, plan, until):
            yield adopted(before, trial.spec)
            continue
        asked.append(alone(trial, partial(_early_and_late, until, step_s)))
        blocks_s = 2 * BLOCKS.pairs * sum(BLOCKS.sizes(step_s)) * step_s
        needs_s += PROCESS_S + until * step_s + blocks_s + compile_s[plan.contender.label]
    yield from behind(state, asked, needs_s)
    for plan in state.racing():
        remember(state, plan)


def _early_and_late(until: int, step_s: float, session: Session) -> None:
    """Warm up, and run the pairs of blocks; the late steps may take as long as a trial's every answer."""
    session.warm_up(WARM_UP.fewest)
    session.tell(f"early and late steps, up to step {until:,}")
    lead, steps = BLOCKS.sizes(step_s)
    session.ask(MeasureLate(late_step=until, pairs=BLOCKS.pairs, lead=lead, steps=session.whole(steps)))


def remember(state: RaceState, plan: ContenderPlan) -> None:
    """Keep a contender's reading that was made here and came to its end; what cannot be written is made again."""
    for record in state.of("late", plan):
        is_made_here = record.trial.comparison == state.comparison.id
        if is_made_here and record.outcome == "done" and record.late is not None:
            keep(KIND, _name(state, record, record.late.late_step), record)


def remembered(state: RaceState, plan: ContenderPlan, until: int) -> Record | None:
    """Return the reading up to this step that holds for what a contender runs with; None where there is none.

    One that other processes have disturbed holds for an hour.
    """
    (certified,) = state.of("certify", plan)
    before = recall(KIND, _name(state, certified, until))
    if before is None or before.record.late is None:
        return None
    return before.record if _is_calm(before.record.late) or age(before.record) < DISTURBED_HOLDS else None


def _is_calm(reading: LateReading) -> bool:
    """Return whether others disturbed no more pairs of blocks than they may."""
    turns = {block.turn for block in reading.blocks}
    pairs = [[one.signals for one in reading.blocks if one.turn == turn] for turn in turns]
    return sum(map(is_disturbed, pairs)) <= DISTURBED_PAIRS


def _name(state: RaceState, record: Record, until: int) -> str:
    """Return the name of a reading: all that it could depend on, the data and constants that it trains with, too."""
    comparison = state.comparison
    trained = [comparison.data.sha256, comparison.numbers_sha256, comparison.procedure.seed]
    return digest([*setting_of(record, MEASURING), record.clock, *trained, until])

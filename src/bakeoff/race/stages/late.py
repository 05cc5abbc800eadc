"""What training does to a step's cost: blocks late in training beside early ones, one fresh process a contender."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.late import late_step
from bakeoff.race.stages.stage import PROCESS_S, SHORTEST_STEP_S, Checkpoint, Session, State, Wanted, alone, behind
from bakeoff.spec.protocol import MeasureLate
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.trial import SNAPSHOT_STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator


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


def wanted(state: State) -> Iterator[Wanted | Checkpoint]:
    """Want one trial of each ranked contender, where the scenario trains and while the budget lasts."""
    if not SCENARIOS[state.comparison.scenario].trains:
        return
    ranked = [one for one in state.outcome().contenders if one.status == "ranked"]
    steps_s = {one.label: one.median_step_s for one in ranked if one.median_step_s}
    # Reading gradients may compile another program, which takes about as long as the first step's.
    compile_s = {one.label: one.compile_s or 0.0 for one in ranked}
    asked: list[Wanted] = []
    needs_s = 0.0
    for plan in state.specs.shuffled([plan for plan in state.racing() if plan.contender.label in steps_s], 1):
        step_s = max(steps_s[plan.contender.label], SHORTEST_STEP_S)
        until = late_step(step_s)
        if until is not None and not state.of("late", plan):
            asked.append(alone(state.specs.trial(plan, "late"), partial(_early_and_late, until, step_s)))
            blocks_s = 2 * BLOCKS.pairs * sum(BLOCKS.sizes(step_s)) * step_s
            needs_s += PROCESS_S + until * step_s + blocks_s + compile_s[plan.contender.label]
    yield from behind(state, asked, needs_s)


def _early_and_late(until: int, step_s: float, session: Session) -> None:
    """Warm up, and run the pairs of blocks; the late steps may take as long as a trial's every answer."""
    session.warm_up(SNAPSHOT_STEPS)
    session.tell(f"early and late steps, up to step {until:,}")
    lead, steps = BLOCKS.sizes(step_s)
    session.ask(MeasureLate(late_step=until, pairs=BLOCKS.pairs, lead=lead, steps=steps))

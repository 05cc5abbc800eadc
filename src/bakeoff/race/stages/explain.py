"""What steps spend their time on: rounds of traced trials behind the race, interleaved as its rounds are."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.profile import why_untraced
from bakeoff.race.stages.stage import (
    PROCESS_S,
    SHORTEST_STEP_S,
    Checkpoint,
    RaceState,
    Session,
    WantedTrials,
    alone,
    behind,
)
from bakeoff.spec.protocol import Explain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.judge.outcome import ContenderOutcome
    from bakeoff.spec.comparison import ContenderPlan

ROUNDS = 5
"""The fewest that a race's verdict takes, too: with 3 an interval by Student's t is twice as wide."""


class TracedBlocks(msgspec.Struct, frozen=True, kw_only=True):
    """How much is run in one trial."""

    pairs: int = 2
    """Plain, profiled, profiled, plain: what drifts with time moves both alike."""
    lead_s: float = 0.03
    """As long as the lead-ins of the race's blocks."""
    steps: int = 15
    """Of a block: 30 traced steps, of which the middle half are read; trace files stay at some MB."""
    fewest_steps: int = 4
    """Of long steps: the middle half of 8."""
    longest_s: float = 3.0
    """A block of long steps takes about so long."""

    def sizes(self, step_s: float) -> tuple[int, int]:
        """Return the untimed and the timed steps of a block."""
        lead = max(2, math.ceil(self.lead_s / step_s))
        return lead, max(self.fewest_steps, min(self.steps, math.floor(self.longest_s / step_s)))


BLOCKS = TracedBlocks()

READING_S = 3.0
"""About what a trial takes beside its steps to write and read two traces."""


def wanted(state: RaceState, *, rounds: int | None = None) -> Iterator[WantedTrials | Checkpoint]:
    """Want a trial of each ranked contender in every round, or in so many, while the budget lasts.

    A contender whose first trial came to nothing, or could see nothing, has no second one.
    """
    for round_number in range(1, (rounds or ROUNDS) + 1):
        known = {one.label: one for one in state.outcome().contenders if one.status == "ranked"}
        plans = [plan for plan in state.racing() if plan.contender.label in known and is_traceable(state, plan)]
        asked, needs_s = [], 0.0
        for plan in state.specs.shuffled(plans, round_number):
            trial = state.specs.trial(plan, "explain", round_number)
            if trial.spec.name in state.records:
                continue
            one = known[plan.contender.label]
            step_s = max(one.median_step_s or 0.0, SHORTEST_STEP_S)
            asked.append(alone(trial, partial(_traced, step_s, round_number)))
            needs_s += PROCESS_S + READING_S + (one.compile_s or 0.0) + _blocks_s(one, step_s)
        yield from behind(state, asked, needs_s)


def is_traceable(state: RaceState, plan: ContenderPlan) -> bool:
    """Return whether a contender's steps can be traced, as far as is known, and nothing came to nothing before."""
    records = state.of("explain", plan)
    return not why_untraced(plan) and all(
        one.outcome == "done" and one.traced is not None and one.traced.level != "none" for one in records
    )


def _blocks_s(one: ContenderOutcome, step_s: float) -> float:
    """Return about how long a trial's blocks take."""
    lead, steps = BLOCKS.sizes(step_s)
    return 2 * BLOCKS.pairs * (lead + steps) * max(step_s, one.fenced_p50_s or 0.0)


def _traced(step_s: float, round_number: int, session: Session) -> None:
    """Warm up as a timed trial does, and run the blocks; the first round's trial counts what compilers do, too."""
    session.warm_up()
    session.tell("plain and profiled steps")
    lead, steps = BLOCKS.sizes(step_s)
    session.ask(Explain(pairs=BLOCKS.pairs, lead=lead, steps=session.whole(steps), counts=round_number == 1))

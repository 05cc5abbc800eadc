"""Whole epochs, or so many steps, as published comparisons run them: fresh processes, without a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.judge.epochs import Length, length_of
from bakeoff.race.stages.stage import Checkpoint, RaceState, Session, WantedTrials, alone
from bakeoff.spec.protocol import Build, Conclude, RunEpoch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.spec.comparison import ContenderPlan

PATIENCE = 5.0
"""An epoch that takes so many times as long as its steps took in the race hangs, whatever the time limit of a trial."""


def wanted(state: RaceState) -> Iterator[WantedTrials | Checkpoint]:
    """Want the runs that were asked for, each contender's once in every repeat; a contender that failed has no more."""
    length = length_of(state.comparison)
    if length is None:
        return
    step_s = {one.label: one.median_step_s for one in state.outcome().contenders if one.median_step_s}
    plans = [plan for plan in state.racing() if plan.contender.label in step_s]
    for number in range(1, state.comparison.procedure.repeats + 1):
        # One run each in any case, as one round is.
        if number > 1:
            yield Checkpoint()
        for plan in state.specs.shuffled(plans, number):
            if all(record.outcome == "done" for record in state.of("epochs", plan)):
                yield whole_run(state, plan, number, length, step_s[plan.contender.label])


def whole_run(state: RaceState, plan: ContenderPlan, number: int, length: Length, step_s: float) -> WantedTrials:
    """Return a contender's run of this length; `number` counts its repeats, and a step took `step_s` in the race."""
    run = f"run {number} of {state.comparison.procedure.repeats}"

    def script(session: Session) -> None:
        session.tell(f"building, {run}")
        session.ask(Build())
        limit_s = max(session.limit_s, PATIENCE * step_s * length.epoch_steps)
        for epoch in range(length.epochs):
            session.tell(f"epoch {epoch + 1} of {length.epochs}, {run}")
            # The build has run the first step already.
            session.ask(RunEpoch(steps=length.epoch_steps - (epoch == 0)), limit_s)
        session.ask(Conclude())

    return alone(state.specs.trial(plan, "epochs", number), script)

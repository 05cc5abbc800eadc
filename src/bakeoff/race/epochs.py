"""Whole epochs, or so many steps, as published comparisons run them: fresh processes, told one by one, no verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.judge.epochs import length_of
from bakeoff.race.progress import Running
from bakeoff.spec.protocol import Build, Conclude, Ran, RunEpoch

if TYPE_CHECKING:
    from bakeoff.race.progress import Observer
    from bakeoff.race.rounds import Trials
    from bakeoff.race.workers.worker import Worker
    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.record import Record

NS = 1e-9

PATIENCE = 5.0
"""An epoch that takes so many times as long as its steps took in the race hangs, whatever the time limit of a trial."""


def run_whole(
    trials: Trials, plan: ContenderPlan, number: int, *, comparison: Comparison, step_s: float, observe: Observer
) -> Record:
    """Run one contender's epochs in a fresh process; `step_s` is what a step took in the race."""
    length = length_of(comparison)
    assert length is not None
    procedure, label = comparison.procedure, plan.contender.label
    limit_s = max(procedure.trial_limit_s, PATIENCE * step_s * length.epoch_steps)

    def act(worker: Worker) -> None:
        observe(Running(label, f"building, run {number} of {procedure.repeats}"))
        worker.ask(Build(), procedure.trial_limit_s)
        for epoch in range(length.epochs):
            observe(Running(label, f"epoch {epoch + 1} of {length.epochs}, run {number} of {procedure.repeats}"))
            # The first step has been run already.
            answer = worker.ask(RunEpoch(steps=length.epoch_steps - (epoch == 0)), limit_s)
            assert isinstance(answer, Ran)
        worker.ask(Conclude(), procedure.trial_limit_s)

    return trials.whole(trials.spec(plan, "epochs", number), plan, act)

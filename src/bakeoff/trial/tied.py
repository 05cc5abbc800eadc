"""What a timed trial computes, read outside of every timed part: it ties what is timed to what was certified."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from bakeoff.certify.checksum import checksums
from bakeoff.certify.sample import sampled_outputs
from bakeoff.spec.record import Tie
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.trial import KINDS

if TYPE_CHECKING:
    from bakeoff.frameworks.engine import Step
    from bakeoff.measure.clock import Stepper
    from bakeoff.spec.protocol import Warm
    from bakeoff.trial.opened import Opened
    from bakeoff.trial.saved import SavedState


SAMPLED = 4096
"""Elements of each array of parameters that are compared before and after a step, at most: one that trains changes some
of some array, and of a model of 300 arrays no more than 10 MB are kept."""

REPEATED_STEPS = 2
"""Steps from the saved state whose losses are read in the warm-up and again at the end: the first tells what a step
computes of which batch, the second one what the first step did to the parameters. Both are among the certificate's
steps (SNAPSHOT_STEPS), so that no step lies between what is certified and what is repeated."""


class Ties:
    """Reads losses and outputs of one trial; does nothing in a trial that is not timed."""

    def __init__(self, opened: Opened, step: Step, saved: SavedState, *, drops: bool) -> None:
        """Take a step that has run once, and its saved state; `drops` is whether its model draws what to drop."""
        self._opened, self._step, self._saved = opened, step, saved
        is_tied = KINDS[opened.trial.purpose].tied
        trains = SCENARIOS[opened.trial.scenario].trains
        self._loses = is_tied and trains
        outputs = _output_sums(step) if is_tied and not trains else []
        self.tie: Tie | None = Tie(drops=drops, outputs=outputs) if is_tied else None
        self._losses: list[float | None] = []
        self._from_saved: list[float | None] = []
        self._note(self._losses)

    def warm(self, stepper: Stepper, command: Warm) -> list[int]:
        """Run a warm-up; read the losses of the certificate's steps, and of the first ones from the saved state."""
        early: list[int] = []
        while self._loses and len(early) < command.steps and (unread := self._unread(stepper)):
            early += stepper.fenced(1)
            self._note(*unread)
        left_s = max(0.0, command.seconds - sum(early) * 1e-9)
        return early + stepper.fenced(command.steps - len(early), left_s, command.limit - len(early))

    def conclude(self, stepper: Stepper) -> Tie | None:
        """Run one more step, on the first batch, whose loss tells whether training has moved; return all.

        What it does to the parameters tells whether training still moves: after its state was put back, too. Then run
        the first steps from the saved state once more: one that does less by now than in the warm-up has other losses.
        In inference run two: what a step keeps that computes no more is that of another batch.
        """
        if self.tie is None or not (self._loses or self.tie.outputs):
            return self.tie
        if not self._loses:
            later = [_output_sums(self._run_on(index)) for index in (1, 0)]
            return msgspec.structs.replace(self.tie, later=later, steps=stepper.position)
        before = _sampled(self._step)
        again = _number(self._run_on(0).result())
        moved, steps = _sampled(self._step) != before, stepper.position
        return msgspec.structs.replace(
            self.tie,
            losses=self._losses,
            again=again,
            moved=moved,
            steps=steps,
            from_saved=self._from_saved,
            repeated=self._repeated(stepper),
        )

    def _unread(self, stepper: Stepper) -> list[list[float | None]]:
        """Return the lists that the loss of the next step belongs to; none where it is not read."""
        found = [self._losses] if len(self._losses) <= self._opened.trial.certify_steps else []
        read = len(self._from_saved)
        if stepper.rewinds and read < REPEATED_STEPS and self._saved.position == stepper.position - read:
            found.append(self._from_saved)
        return found

    def _repeated(self, stepper: Stepper) -> list[float | None]:
        """Run as many steps from the saved state as the warm-up has read, and return their losses."""
        losses: list[float | None] = []
        if self._from_saved:
            self._saved.put_back()
        for _ in self._from_saved:
            stepper.fenced(1)
            self._note(losses)
        return losses

    def _run_on(self, index: int) -> Step:
        """Return the step after it has run on the batch of step `index`."""
        self._step.run(self._step.prepare(self._opened.batches.at(index)))
        self._step.wait()
        return self._step

    def _note(self, *lists: list[float | None]) -> None:
        """Read the loss of the step that has run, and add it to each list."""
        if not self._loses:
            return
        loss = _number(self._step.result())
        for losses in lists:
            losses.append(loss)


def _sampled(step: Step) -> dict[str, bytes]:
    """Return elements of each array of the parameters, evenly spread, to the last bit."""
    arrays = {name: np.asarray(array) for name, array in step.parameters().items()}
    return {name: array.flat[:: 1 + array.size // SAMPLED].tobytes() for name, array in arrays.items()}


def _output_sums(step: Step) -> list[float]:
    """Return the checksums of the outputs that the last run has kept; none where the step does not give them.

    As evidence holds them, whose checksums are compared with these.
    """
    if not hasattr(step, "last_outputs"):
        return []
    sums = checksums(sampled_outputs(np.asarray(step.last_outputs())))
    return sums if all(map(math.isfinite, sums)) else []


def _number(value: float) -> float | None:
    """Return a number that JSON can hold; None where it is not finite."""
    return float(value) if math.isfinite(value) else None

"""What a timed trial computes, read outside of every timed part: it ties what is timed to what was certified."""

from __future__ import annotations

import math
from contextlib import nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from bakeoff.certify.checksum import checksums, farthest
from bakeoff.certify.errors import finite
from bakeoff.certify.sample import sampled_outputs
from bakeoff.certify.tolerances import stream_allowed
from bakeoff.spec.record import Tie
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.trial import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Step
    from bakeoff.measure.clock import Stepper
    from bakeoff.spec.protocol import Warm
    from bakeoff.trial.opened import Opened
    from bakeoff.trial.saved import SavedState

_Left = Any
"""What steps have left: elements of each array of the parameters and running statistics by name, or in inference
checksums of outputs."""

RUNNING = "running "
"""Before the name of a running statistic, among those of parameters."""

SAMPLED = 4096
"""Elements of each array of parameters that are compared before and after a step, at most: one that trains changes some
of some array, and of a model of 300 arrays no more than 10 MB are kept."""

MOST_OFF = 1e9
"""What a record holds of outputs that are missing, or unlike others that are all zero, and of values that are not
finite where the others are."""

MOST_CHANGED, FEWEST_ELEMENTS = 0.5, 8
"""Share of an array's elements that steps have to have changed, of how many, for none changed later to be no rounding:
the gradient of a bias before a softmax is nothing else, and of a single element it may be 0 by chance."""

LONGEST_GROWTH = 16
"""Steps up to which it is looked at how what a block has left grew apart: rounding grows from step to step."""

LONGEST_STREAM = 5
"""Steps of inference without a wait between them whose last outputs are held against the certificate's, from 2 on: of a
block the last outputs alone are there, which tell of a step left out only where it is the last."""

REPEATED_STEPS = 2
"""Steps from the saved state whose losses are read in the warm-up and again at the end: the first tells what a step
computes of which batch, the second one what the first step did to the parameters. Both are among the certificate's
steps (`TrialSpec.snapshot_steps`), so that no step lies between what is certified and what is repeated."""


class Ties:
    """Reads losses and outputs of one trial; does nothing in a trial that is not tied."""

    def __init__(self, opened: Opened, step: Step, saved: SavedState, *, drops: bool) -> None:
        """Take a step that has run once, and its saved state; `drops` is whether its model draws what to drop."""
        self._opened, self._step, self._saved = opened, step, saved
        self._allowed = stream_allowed(joins_steps=opened.trial.joins_steps)
        is_tied = KINDS[opened.trial.purpose].tied
        trains = SCENARIOS[opened.trial.scenario].trains
        self._loses = is_tied and trains
        outputs = _output_sums(step) if is_tied and not trains else []
        self.tie: Tie | None = Tie(drops=drops, outputs=outputs) if is_tied else None
        self._losses: list[float | None] = []
        self._from_saved: list[float | None] = []
        self._early: _Left | None = None
        self._block: _Left | None = None
        self._block_steps = 0
        self._note(self._losses)

    def warm(self, stepper: Stepper, command: Warm) -> list[int]:
        """Run a warm-up; read the losses of the certificate's steps, and of the first ones from the saved state."""
        early: list[int] = []
        while self._loses and len(early) < command.steps and (unread := self._unread(stepper)):
            early += stepper.fenced(1)
            self._note(*unread)
            if self._early is None and len(self._from_saved) == REPEATED_STEPS:
                self._early = self._left()
        left_s = max(0.0, command.seconds - sum(early) * 1e-9)
        return early + stepper.fenced(command.steps - len(early), left_s, command.limit - len(early))

    def begun(self) -> Tie | None:
        """Return what is known before any timed part: all that there is of a trial without steps behind it."""
        return msgspec.structs.replace(self.tie, losses=self._losses) if self.tie else None

    def keep_block(self, stepper: Stepper) -> None:
        """Keep what the last timed block has left, right behind it."""
        if self._has_more() and self._saved.position is not None and stepper.rewinds:
            self._block, self._block_steps = self._left(), stepper.position - self._saved.position

    def conclude(self, stepper: Stepper, noting: AbstractContextManager[None] | None = None) -> Tie | None:
        """Run one more step, on the first batch, whose loss tells whether training has moved; return all.

        It, or in inference the first stream, runs within `noting`: an eager framework runs the workload's file in each.
        What it does to the parameters tells whether training still moves: after its state was put back, too. Then run
        the first steps from the saved state once more: one that does less by now than in the warm-up has other losses.
        In inference run some in streams: what a step keeps that computes no more is that of another batch. Then run the
        steps of the last timed block once more and wait for each: a block that has left something else skips some.
        """
        if self.tie is None or not self._has_more():
            return self.tie
        if not self._loses:
            first, *others = self._streams()
            with noting or nullcontext():
                self._run_on(*first)
            later = [_output_sums(self._step), *(_output_sums(self._run_on(*indices)) for indices in others)]
            return msgspec.structs.replace(self.tie, later=later, steps=stepper.position, **self._block_again(stepper))
        before = _sampled(self._step)
        with noting or nullcontext():
            self._run_on(0)
        again = finite(float(self._step.result()))
        moved, steps = not _are_same(_sampled(self._step), before), stepper.position
        return msgspec.structs.replace(
            self.tie,
            losses=self._losses,
            again=again,
            moved=moved,
            steps=steps,
            from_saved=self._from_saved,
            **self._repeated(stepper),
            **self._block_again(stepper),
        )

    def _has_more(self) -> bool:
        """Return whether steps behind all others tell more."""
        return self.tie is not None and (self._loses or bool(self.tie.outputs))

    def _left(self) -> _Left:
        """Return what steps have left: elements of parameters and running statistics, or the checksums of outputs."""
        return _sampled(self._step) | _running(self._step) if self._loses else _output_sums(self._step)

    def _block_again(self, stepper: Stepper) -> dict[str, Any]:
        """Return how far the last timed block is from its steps each waited for, as fields of a Tie."""
        if self._block is None or not self._block_steps:
            return {}
        before, fenced, still = self._fenced(stepper, self._block_steps)
        if not self._loses:
            off = min(farthest(self._block, fenced), MOST_OFF)
            return {"block_steps": self._block_steps, "block_off": off}
        found: dict[str, Any] = {
            "block_steps": self._block_steps,
            "block_off": _in_steps(self._block, fenced, before),
            "still": still,
        }
        # In a group all processes run the same steps, whatever each has found.
        is_group = self._opened.trial.group is not None
        if found["block_off"] != 0.0 or is_group:
            found["fenced_off"] = _in_steps(self._fenced(stepper, self._block_steps)[1], fenced, before)
        if (found["block_off"] or 0.0) > self._allowed and not is_group:
            found["grown"] = self._grown(stepper)
        if found["still"] and not is_group:
            found["still"] = self._idle(stepper)
        return found

    def _streams(self) -> list[list[int]]:
        """Return the batches, the first or the last, of streams up to a block's length, each ending on another."""
        longest = max(2, min(LONGEST_STREAM, self._block_steps))
        lengths = [2, *range(2, longest + 1)]
        # The first ends on the last batch, the next on the first, and so on by turns.
        ends = ((length, (1 + number) % 2) for number, length in enumerate(lengths))
        which = self._opened.batches.ends
        return [[which[(end + length - 1 - place) % 2] for place in range(length)] for length, end in ends]

    def _idle(self, stepper: Stepper) -> int:
        """Return how many of the block's steps, each waited for, leave the loss and the parameters as they were."""
        self._saved.put_back()
        count, before, loss = 0, _sampled(self._step), math.nan
        for _ in range(self._block_steps):
            stepper.fenced(1)
            after, now = _sampled(self._step), self._step.result()
            count += now == loss and _are_same(after, before)
            before, loss = after, now
        return count

    def _grown(self, stepper: Stepper) -> list[float]:
        """Return how far streams of two steps and more are off, up to the first that is by more than is allowed."""
        found: list[float] = []
        for steps in range(2, min(self._block_steps, LONGEST_GROWTH) + 1):
            self._saved.put_back()
            stepper.streamed(steps)
            left = self._left()
            before, fenced, _ = self._fenced(stepper, steps)
            off = _in_steps(left, fenced, before)
            if off is None:
                break
            found.append(off)
            if off > self._allowed:
                break
        return found

    def _fenced(self, stepper: Stepper, steps: int) -> tuple[_Left, _Left, int]:
        """Run steps from the saved state and wait for each; return what the last but one leaves, and the last.

        And how many have left the loss of the step before, as one that does nothing does.
        """
        self._saved.put_back()
        before: _Left = None
        losses: list[float] = []
        for place in range(steps):
            if place == steps - 1:
                before = self._left()
            stepper.fenced(1)
            losses += [self._step.result()] if self._loses else []
        still = sum(bool(loss) and math.isfinite(loss) and loss == earlier for earlier, loss in pairwise(losses))
        return before, self._left(), still

    def _unread(self, stepper: Stepper) -> list[list[float | None]]:
        """Return the lists that the loss of the next step belongs to; none where it is not read."""
        found = [self._losses] if len(self._losses) <= self._opened.trial.certify_steps else []
        read = len(self._from_saved)
        if stepper.rewinds and read < REPEATED_STEPS and self._saved.position == stepper.position - read:
            found.append(self._from_saved)
        return found

    def _repeated(self, stepper: Stepper) -> dict[str, Any]:
        """Run as many steps from the saved state as the warm-up has read; return what they do, as fields of a Tie."""
        if not self._from_saved:
            return {}
        self._saved.put_back()
        saved = self._left() if self._early is not None else {}
        losses: list[float | None] = []
        for _ in self._from_saved:
            stepper.fenced(1)
            self._note(losses)
        if self._early is None:
            return {"repeated": losses}
        now, early = self._left(), self._early
        return {
            "repeated": losses,
            "repeated_off": _in_steps(now, early, saved),
            "stuck": [name for name in early if _is_stuck(saved[name], early[name], now[name])],
        }

    def _run_on(self, *indices: int) -> Step:
        """Return the step after it has run on the batches of the steps with these indices, and was waited for once."""
        batches = {index: self._step.prepare(self._opened.batches.at(index)) for index in {*indices}}
        for index in indices:
            self._step.run(batches[index])
        self._step.wait()
        return self._step

    def _note(self, *lists: list[float | None]) -> None:
        """Read the loss of the step that has run, and add it to each list."""
        if not self._loses:
            return
        loss = finite(float(self._step.result()))
        for losses in lists:
            losses.append(loss)


def _sampled(step: Step) -> dict[str, NDArray[Any]]:
    """Return elements of each array of the parameters, evenly spread."""
    return {name: _elements(array) for name, array in step.parameters().items()}


def _running(step: Step) -> dict[str, NDArray[Any]]:
    """Return the same of each running statistic, by its name behind RUNNING."""
    return {f"{RUNNING}{name}": _elements(array) for name, array in step.state().items()}


def _elements(array: Any) -> NDArray[Any]:
    """Return a copy of at most SAMPLED elements or so, evenly spread."""
    held = np.asarray(array)
    return held.flat[:: 1 + held.size // SAMPLED].copy()


def _are_same(one: Mapping[str, NDArray[Any]], other: Mapping[str, NDArray[Any]]) -> bool:
    """Return whether elements are the same to the last bit."""
    return all(array.tobytes() == other[name].tobytes() for name, array in one.items())


def _is_stuck(saved: NDArray[Any], early: NDArray[Any], now: NDArray[Any]) -> bool:
    """Return whether steps had changed most of what is looked at of an array, and now leave every bit as it was.

    What is not finite before them stays it, and says nothing: it is unlike itself.
    """
    is_held = early.size >= FEWEST_ELEMENTS and bool(np.isfinite(saved).all())
    return is_held and now.tobytes() == saved.tobytes() and bool(np.mean(early != saved) > MOST_CHANGED)


def _distance(one: Mapping[str, NDArray[Any]], other: Mapping[str, NDArray[Any]]) -> float:
    """Return the norm of the difference of all elements; 0 only where all bits are the same."""
    if _are_same(one, other):
        return 0.0
    differences = [np.asarray(array, np.float64) - np.asarray(other[name], np.float64) for name, array in one.items()]
    return math.hypot(*(float(np.linalg.norm(each)) for each in differences))


def _in_steps(one: _Left, other: _Left, before: _Left) -> float | None:
    """Return how far two runs of steps are from each other, in units of what the other has changed since `before`.

    Parameters and running statistics each in units of their own: the farther. None where that is no number: where
    values of the other's parameters are not finite, or it has changed none of them.
    """
    three = one, other, before
    parameters, running = (
        _changes_apart(*(_part(left, is_running=is_running) for left in three)) for is_running in (False, True)
    )
    return parameters if parameters is None or running is None else max(parameters, running)


def _part(left: _Left, *, is_running: bool) -> _Left:
    """Return the running statistics of what steps have left, or the parameters."""
    return {name: array for name, array in left.items() if name.startswith(RUNNING) == is_running}


def _changes_apart(one: _Left, other: _Left, before: _Left) -> float | None:
    """Return how far one is from the other, in units of how far that is from `before`; None where that is no number."""
    apart, step = _distance(one, other), _distance(other, before)
    if math.isfinite(step) and not math.isfinite(apart):
        return MOST_OFF
    return 0.0 if apart == 0.0 else finite(apart / step) if step else None


def _output_sums(step: Step) -> list[float]:
    """Return the checksums of the outputs that the last run has kept; none where it keeps none, or not finite ones.

    As evidence holds them, whose checksums are compared with these.
    """
    if not hasattr(step, "last_outputs"):
        return []
    return checksums(sampled_outputs(np.asarray(step.last_outputs())))

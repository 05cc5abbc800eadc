"""What ties a timed trial to its certificate, step by step, with a step that a test scripts."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bakeoff.trial import tied
from bakeoff.trial.tied import Ties


class Scripted:
    """A step whose losses and parameters are those of a list, one of each for every run; the last ones stay."""

    def __init__(self, losses: list[float], parameters: list[float] | None = None) -> None:
        """Begin before the first run, with the first of each."""
        self._losses, self._parameters, self.runs = losses, parameters or [1.0], 0

    def result(self) -> float:
        """Return the loss of the last run."""
        return self._losses[min(self.runs, len(self._losses) - 1)]

    def parameters(self) -> dict[str, Any]:
        """Return one parameter."""
        return {"weight": np.float32(self._parameters[min(self.runs, len(self._parameters) - 1)])}

    def state(self) -> dict[str, Any]:
        """Return no running statistics."""
        return {}


class Stepper:
    """Runs a scripted step, each taking a second, and keeps what it was asked."""

    rewinds = True

    def __init__(self, step: Scripted, position: int = 1) -> None:
        """Begin behind so many steps."""
        self._step, self.position, self.asked = step, position, []

    def fenced(self, *asked: Any) -> list[int]:
        """Run steps."""
        self.asked.append(("fenced", *asked))
        self._step.runs += asked[0]
        self.position += asked[0]
        return [1_000_000_000] * asked[0]

    def streamed(self, *asked: Any) -> None:
        """Run steps without a wait."""
        self.asked.append(("streamed", *asked))
        self._step.runs += asked[0]


class Saved:
    """A state that was saved behind so many steps, and counts how often it was put back."""

    def __init__(self, position: int | None = None) -> None:
        """Begin without any."""
        self.position, self.put = position, 0

    def put_back(self) -> None:
        """Count."""
        self.put += 1


def ties(step: Scripted, saved: Saved | None = None, **trial: Any) -> Ties:
    """Tie a trial with these fields."""
    fields = {"joins_steps": False, "purpose": "time", "scenario": "train", "certify_steps": 3, "group": None} | trial
    opened: Any = SimpleNamespace(trial=SimpleNamespace(**fields), batches=SimpleNamespace(ends=(0, 7)))
    given: Any = step
    held: Any = saved or Saved()
    return Ties(opened, given, held, drops=bool(trial.get("drops")))


def test_a_warm_up_leaves_to_its_rest_what_its_first_steps_have_not_taken() -> None:
    """Steps, seconds and the most steps: three are read one by one, of the certificate's, and count in all of them."""
    step = Scripted([5.0, 4.0, 3.0, 2.0, 1.0])
    stepper: Any = Stepper(step)
    one = ties(step)
    command: Any = SimpleNamespace(steps=10, seconds=5.0, limit=20)
    assert len(one.warm(stepper, command)) == 10
    assert stepper.asked == [*[("fenced", 1)] * 3, ("fenced", 7, 2.0, 17)]
    begun = one.begun()
    assert begun is not None
    assert begun.losses == [5.0, 4.0, 3.0, 2.0]


def test_losses_from_the_saved_state_are_read_beside_the_certificates() -> None:
    """Of the two steps behind it, wherever among the steps of the warm-up it was saved."""
    step = Scripted([5.0, 4.0, 3.0, 2.0, 1.0, 0.5, 0.25])
    stepper: Any = Stepper(step)
    one = ties(step, Saved(position=3))
    command: Any = SimpleNamespace(steps=10, seconds=0.0, limit=20)
    one.warm(stepper, command)
    assert one._from_saved == [2.0, 1.0]
    assert one._losses == [5.0, 4.0, 3.0, 2.0]


def test_a_short_warm_up_reads_no_more_steps_than_it_has() -> None:
    """And what is left of it is no step."""
    step = Scripted([5.0, 4.0, 3.0, 2.0])
    stepper: Any = Stepper(step)
    command: Any = SimpleNamespace(steps=2, seconds=0.0, limit=2)
    ties(step).warm(stepper, command)
    assert stepper.asked == [("fenced", 1), ("fenced", 1), ("fenced", 0, 0.0, 0)]


@pytest.mark.parametrize(("rewinds", "early"), [(True, 30.0), (False, None)])
def test_what_the_first_steps_from_the_saved_state_left_is_kept(*, rewinds: bool, early: float | None) -> None:
    """As it is behind two of them, though more of the certificate's steps follow; nothing that cannot be repeated."""
    step = Scripted([1.0], [0.0, 10.0, 20.0, 30.0, 40.0, 50.0])
    one, stepper = ties(step, Saved(position=2), certify_steps=8), Stepper(step)
    stepper.rewinds = rewinds
    given: Any = stepper
    command: Any = SimpleNamespace(steps=10, seconds=0.0, limit=20)
    one.warm(given, command)
    assert len(one._from_saved) == (2 if rewinds else 0)
    assert (one._early and one._early["weight"].item()) == early


def test_of_a_large_array_some_elements_are_looked_at() -> None:
    """Spread over all of it, and of a small one every element; later changes of the array are none of theirs."""
    large = np.arange(10_000)
    found = tied._elements(large)
    assert (found[:3].tolist(), len(found)) == ([0, 3, 6], 3334)
    small = np.array([[1.0, 2.0], [3.0, 4.0]])
    kept = tied._elements(small)
    small[:] = 0.0
    assert kept.tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(("count", "changed", "stuck"), [(16, 9, True), (16, 8, False), (8, 8, True), (7, 7, False)])
def test_an_array_is_stuck_of_which_most_was_changed_before(count: int, changed: int, *, stuck: bool) -> None:
    """More than half of its elements, of eight at least."""
    before = np.zeros(count)
    early = np.where(np.arange(count) < changed, 1.0, 0.0)
    assert tied._is_stuck(before, early, before.copy()) == stuck
    assert not tied._is_stuck(before, early, before + 1e-9)
    assert not tied._is_stuck(before * math.nan, early, before * math.nan)


@pytest.mark.parametrize("purpose", ["certify", "selftest", "memory"])
def test_what_is_not_tied_reads_nothing(purpose: str) -> None:
    """It warms up in one part, and keeps nothing."""
    step = Scripted([5.0])
    stepper: Any = Stepper(step)
    one = ties(step, purpose=purpose)
    command: Any = SimpleNamespace(steps=10, seconds=5.0, limit=20)
    one.warm(stepper, command)
    assert stepper.asked == [("fenced", 10, 5.0, 20)]
    one.keep_block(stepper)
    assert (one.begun(), one.conclude(stepper), one._block) == (None, None, None)


def test_that_a_model_draws_is_in_the_tie() -> None:
    """Whether dropout is there to drop anything."""
    for drops in (True, False):
        tie = ties(Scripted([1.0]), drops=drops).tie
        assert tie is not None
        assert tie.drops is drops


def test_a_block_is_kept_with_its_steps_from_the_saved_state() -> None:
    """And none is where nothing was saved, or a stepper cannot begin there again."""
    step = Scripted([1.0])
    stepper: Any = Stepper(step, position=12)
    one = ties(step, Saved(position=5))
    one.keep_block(stepper)
    assert one._block_steps == 7
    unsaved = ties(step)
    unsaved.keep_block(stepper)
    stepper.rewinds = False
    forward = ties(step, Saved(position=5))
    forward.keep_block(stepper)
    assert (unsaved._block, forward._block) == (None, None)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (1, [[0, 7], [7, 0]]),
        (3, [[0, 7], [7, 0], [7, 0, 7]]),
        (90, [[0, 7], [7, 0], [7, 0, 7], [7, 0, 7, 0], [7, 0, 7, 0, 7]]),
    ],
)
def test_streams_of_inference_have_the_lengths_of_a_block_up_to_five(steps: int, expected: list[list[int]]) -> None:
    """Two batches by turns, and each stream ends on another one than that before it."""
    one = ties(Scripted([1.0]))
    one._block_steps = steps
    assert one._streams() == expected


def test_a_loss_that_stays_is_counted_unless_it_is_none_or_no_number() -> None:
    """A loss of exactly 0 may be reached, and what is not finite is unlike itself or tells nothing."""
    step = Scripted([9.0, 1.0, 1.0, 0.0, 0.0, math.inf, math.inf, math.nan, math.nan, 2.0, 2.0])
    saved = Saved()
    stepper: Any = Stepper(step)
    *_, still = ties(step, saved)._fenced(stepper, 10)
    assert (still, saved.put) == (2, 1)


def test_what_the_last_step_begins_with_is_what_the_last_but_one_leaves() -> None:
    """So that a block is told in units of what its last step changes."""
    step = Scripted([1.0], [0.0, 10.0, 20.0, 30.0])
    stepper: Any = Stepper(step)
    before, after, _ = ties(step)._fenced(stepper, 3)
    assert (before["weight"].item(), after["weight"].item()) == (20.0, 30.0)


def test_a_step_is_idle_that_leaves_loss_and_parameters() -> None:
    """Either alone may stay by itself; from the saved state on."""
    step = Scripted([9.0, 1.0, 1.0, 1.0, 2.0, 2.0], [0.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    saved = Saved(position=1)
    one = ties(step, saved)
    one._block_steps = 5
    stepper: Any = Stepper(step)
    assert (one._idle(stepper), saved.put) == (2, 1)


@pytest.mark.parametrize(
    ("offs", "steps", "expected"),
    [
        ([1e-9, 1e-8, 0.5, 0.9], 9, [1e-9, 1e-8, 0.5]),
        ([1e-9, None, 0.5], 9, [1e-9]),
        ([0.0] * 40, 4, [0.0] * 3),
        ([0.0] * 40, 90, [0.0] * 15),
    ],
)
def test_growth_is_looked_at_until_it_is_too_much(
    monkeypatch: pytest.MonkeyPatch, offs: list[float | None], steps: int, expected: list[float]
) -> None:
    """Of streams from two steps on, up to a block's or sixteen, each and its fenced twin from the saved state."""
    left = iter(offs)
    monkeypatch.setattr(tied, "_in_steps", lambda *_: next(left))
    step, saved = Scripted([1.0]), Saved(position=1)
    one = ties(step, saved)
    one._block_steps = steps
    stepper: Any = Stepper(step)
    assert one._grown(stepper) == expected
    streams = [count for name, count, *_ in stepper.asked if name == "streamed"]
    assert streams == list(range(2, 2 + len(streams)))
    assert saved.put == 2 * len(streams)

"""What ties a timed trial to its certificate, step by step, with a step that a test scripts."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bakeoff.trial import tied
from bakeoff.trial.tied import MOST_OFF, RUNNING, Ties, _in_steps


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


def left(weight: float, running: float | None = None) -> dict[str, Any]:
    """Give what steps have left."""
    found = {"weight": np.array([weight, 0.0])}
    return found if running is None else found | {f"{RUNNING}mean": np.array([running])}


@pytest.mark.parametrize(
    ("one", "other", "before", "off"),
    [
        (left(1.0), left(1.0), left(1.0), 0.0),  # the same to the last bit, whatever has changed
        (left(3.0), left(1.0), left(0.0), 2.0),
        (left(1.0), left(3.0), left(0.0), 2.0 / 3.0),
        (left(2.0), left(1.0), left(1.0), None),  # in units of nothing
        (left(math.nan), left(1.0), left(0.0), MOST_OFF),
        (left(1.0), left(math.nan), left(0.0), None),
        (left(1.0), left(2.0), left(math.nan), None),
        (left(1.5, 10.0), left(1.0, 30.0), left(0.0, 20.0), 2.0),  # each in units of its own, the farther
        (left(4.0, 29.0), left(1.0, 30.0), left(0.0, 20.0), 3.0),
        (left(1.5, 5.0), left(1.0, 6.0), left(0.0, 6.0), 0.5),  # statistics that did not change tell nothing
        (left(1.5, 5.0), left(1.0, 6.0), left(1.0, 0.0), None),
    ],
)
def test_two_runs_are_apart_in_units_of_what_a_step_changes(one: Any, other: Any, before: Any, off: Any) -> None:
    """Parameters by themselves, running statistics by themselves; no number where there is no unit."""
    assert _in_steps(one, other, before) == (pytest.approx(off) if off else off)


def test_what_steps_leave_has_running_statistics_beside_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by its own name: a name that both have is no other array's."""
    step = Scripted([1.0], [3.0])
    monkeypatch.setattr(step, "state", lambda: {"weight": np.float32(7.0)})
    found = ties(step)._left()
    assert {name: array.item() for name, array in found.items()} == {"weight": 3.0, f"{RUNNING}weight": 7.0}


@pytest.mark.parametrize(
    ("group", "off", "still", "expected"),
    [
        (None, 0.0, 0, {"block_off": 0.0, "still": 0}),
        (None, 0.5, 0, {"block_off": 0.5, "still": 0, "fenced_off": 0.25, "grown": [0.125]}),
        (None, 1e-9, 0, {"block_off": 1e-9, "still": 0, "fenced_off": 0.25}),
        (None, None, 0, {"block_off": None, "still": 0, "fenced_off": 0.25}),
        (None, 0.0, 5, {"block_off": 0.0, "still": 4}),
        ("two", 0.0, 5, {"block_off": 0.0, "still": 5, "fenced_off": 0.25}),
        ("two", 0.5, 0, {"block_off": 0.5, "still": 0, "fenced_off": 0.25}),
    ],
)
def test_a_block_is_looked_into_as_far_as_it_is_off(
    monkeypatch: pytest.MonkeyPatch, group: str | None, off: float | None, still: int, expected: dict[str, Any]
) -> None:
    """Fenced steps again where it is off at all, growth where by more than is allowed; replicas all do the same."""
    one = ties(Scripted([1.0]), group=group)
    stepper: Any = Stepper(Scripted([1.0]))
    assert one._block_again(stepper) == {}
    one._block, one._block_steps = "block", 6
    fenced = iter([("before", "fenced", still), ("", "again", 0)])
    monkeypatch.setattr(one, "_fenced", lambda *_: next(fenced))
    monkeypatch.setattr(one, "_grown", lambda _: [0.125])
    monkeypatch.setattr(one, "_idle", lambda _: 4)
    offs = {("block", "fenced", "before"): off, ("again", "fenced", "before"): 0.25}
    monkeypatch.setattr(tied, "_in_steps", lambda *three: offs[three])
    assert one._block_again(stepper) == {"block_steps": 6} | expected


def test_steps_that_are_streamed_where_others_were_joined_may_be_off_by_more() -> None:
    """As the framework's own rounding has it."""
    assert ties(Scripted([1.0]), joins_steps=True)._allowed > ties(Scripted([1.0]))._allowed


def test_steps_are_repeated_from_the_saved_state_and_held_against_what_they_did(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """How far they leave parameters from where they were, in units of the earlier ones; and what they leave alone."""
    seen: list[Any] = []
    monkeypatch.setattr(tied, "_in_steps", lambda *three: seen.append([one["weight"].item() for one in three]) or 0.5)
    asked: list[Any] = []
    monkeypatch.setattr(tied, "_is_stuck", lambda *three: asked.append([one.item() for one in three]) or True)
    step, saved = Scripted([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]), Saved(position=1)
    one = ties(step, saved)
    stepper: Any = Stepper(step)
    assert one._repeated(stepper) == {}
    one._from_saved = [2.0, 3.0]
    one._early = {"weight": np.array([33.0])}
    assert one._repeated(stepper) == {"repeated": [2.0, 3.0], "repeated_off": 0.5, "stuck": ["weight"]}
    assert (seen, asked, saved.put) == ([[30.0, 33.0, 10.0]], [[10.0, 33.0, 30.0]], 1)
    one._early = None
    assert one._repeated(stepper) == {"repeated": [3.0, 3.0]}


class Inferring(Scripted):
    """A step of inference, whose outputs are those of the batch that it ran on."""

    def __init__(self) -> None:
        """Begin behind a run on the first batch."""
        super().__init__([1.0])
        self.ran, self.waits = [0], 0

    def prepare(self, batch: int) -> int:
        """Return it."""
        return batch

    def run(self, batch: int) -> None:
        """Note it."""
        self.ran.append(batch)

    def wait(self) -> None:
        """Count."""
        self.waits += 1

    def last_outputs(self) -> Any:
        """Return outputs that are all the batch's number, and one."""
        return np.full((4, 3), 1.0 + self.ran[-1])


def test_inference_concludes_with_its_streams_and_its_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """The outputs behind each stream, each waited for once, and how far the block is from its steps one by one."""
    step = Inferring()
    one = ties(step, Saved(position=1), scenario="infer")
    one._opened.batches.at = lambda index: index
    stepper: Any = Stepper(step, position=40)
    one.keep_block(stepper)
    one._block_steps = 3
    monkeypatch.setattr(one, "_fenced", lambda *_: (None, [1e30] * len(one._block), 0))
    tie = one.conclude(stepper)
    assert tie is not None
    assert (step.ran, step.waits) == ([0, 0, 7, 7, 0, 7, 0, 7], 3)
    assert [sums == tie.outputs for sums in tie.later] == [False, True, False]
    assert (tie.steps, tie.block_steps, tie.losses, tie.again) == (40, 3, [], None)
    assert tie.block_off is not None
    assert 0.0 < tie.block_off <= MOST_OFF


@pytest.mark.parametrize(("parameters", "moved"), [([1.0, 2.0], True), ([1.0, 1.0], False)])
def test_training_concludes_with_a_step_on_its_first_batch(
    monkeypatch: pytest.MonkeyPatch, parameters: list[float], *, moved: bool
) -> None:
    """Whether it moves a parameter is told, with its loss and how many steps came before."""
    step = Scripted([5.0, 4.0], parameters)
    one = ties(step, Saved())
    ran: list[int] = []

    def run_on(*indices: int) -> Scripted:
        ran.extend(indices)
        step.runs += 1
        return step

    monkeypatch.setattr(one, "_run_on", run_on)
    one._from_saved = [3.0]
    monkeypatch.setattr(one, "_repeated", lambda _: {"repeated": [2.0]})
    stepper: Any = Stepper(step, position=40)
    tie = one.conclude(stepper)
    assert tie is not None
    assert ran == [0]
    assert (tie.losses, tie.again, tie.moved, tie.steps) == ([5.0], 4.0, moved, 40)
    assert (tie.from_saved, tie.repeated) == ([3.0], [2.0])


def test_a_step_without_outputs_concludes_nothing_of_inference() -> None:
    """There is nothing to hold: no stream is run for it, and no block is kept."""
    one = ties(Scripted([1.0]), Saved(position=1), scenario="infer")
    stepper: Any = Stepper(Scripted([1.0]), position=9)
    one.keep_block(stepper)
    assert one._block is None
    tie = one.conclude(stepper)
    assert tie is not None
    assert (tie.outputs, tie.later, tie.steps) == ([], [], 0)

"""What a timed trial's end tells of its block and its repeated steps, with a step that a test scripts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.trial.test_tied import Saved, Scripted, Stepper, ties

from bakeoff.trial import tied
from bakeoff.trial.tied import MOST_OFF, RUNNING, _in_steps


def left(weight: float, running: float | None = None) -> dict[str, Any]:
    """Give what steps have left."""
    found = {"weight": np.array([weight, 0.0])}
    return found if running is None else found | {f"{RUNNING}mean": np.array([running])}


@pytest.mark.parametrize(
    ("one", "other", "before", "off"),
    [
        (left(1.0), left(1.0), left(1.0), 0.0),  # the same to the last bit, whatever has changed
        (left(math.nan), left(math.nan), left(0.0), 0.0),
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
    one._block = "block"
    assert one._block_again(stepper) == {}, "no step of it is behind the saved state"
    one._block_steps = 6
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
    monkeypatch.setattr(one, "_fenced", lambda *_: (None, [], 0))
    tie = one.conclude(stepper)
    assert tie is not None
    assert (step.ran, step.waits) == ([0, 0, 7, 7, 0, 7, 0, 7], 3)
    assert [sums == tie.outputs for sums in tie.later] == [False, True, False]
    assert (tie.steps, tie.block_steps, tie.losses, tie.again) == (40, 3, [], None)
    assert tie.block_off == MOST_OFF, "outputs are missing"


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


def test_outputs_of_training_are_no_part_of_its_tie() -> None:
    """Its losses are; in inference outputs that are missing are off by the most that a record holds."""
    step = Inferring()
    trained, ran = ties(step), ties(step, scenario="infer", purpose="time")
    assert (trained.tie and trained.tie.outputs) == []
    assert ran.tie
    assert ran.tie.outputs

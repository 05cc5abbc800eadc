from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bakeoff.measure.clock import Stepper, collected_garbage


class Clockwork:
    """A step whose start takes 3 ns and whose wait takes 10 ns for each step that was started; it writes all down."""

    def __init__(self) -> None:
        """Start at zero."""
        self.now_ns = 0
        self.done: list[str] = []
        self._started = 0

    def clock(self) -> int:
        """Give the time."""
        return self.now_ns

    def run(self, batch: str) -> None:
        """Start a step."""
        self.now_ns += 3
        self._started += 1
        self.done.append(batch)

    def wait(self) -> None:
        """Finish all steps."""
        self.now_ns += 10 * self._started
        self._started = 0
        self.done.append("wait")


def make() -> tuple[Clockwork, Stepper]:
    """Make a stepper over three batches."""
    step = Clockwork()
    return step, Stepper(step, ["a", "b", "c"], step.clock)


def test_a_fenced_step_is_waited_for_by_itself() -> None:
    """Each warm step's time holds its start and its wait, and nothing of its neighbours."""
    step, stepper = make()
    assert stepper.fenced(2) == [13, 13]
    assert step.done == ["a", "wait", "b", "wait"]


def test_a_marked_step_is_waited_for_within_its_mark() -> None:
    """What is traced is what is timed: the batch's coming, which is known by itself, too, the start and the wait."""
    step = Clockwork()

    def late() -> Iterator[str]:
        while True:
            step.now_ns += 100
            yield "batch"

    @contextmanager
    def mark() -> Iterator[None]:
        step.done.append("begin")
        yield
        step.done.append("end")

    stepper = Stepper(step, late(), step.clock)
    assert stepper.marked(2, mark) == ([113, 113], [100, 100])
    assert step.done == ["begin", "batch", "wait", "end"] * 2
    assert stepper.marked(1) == ([113], [100])
    assert stepper.position == 3


def test_a_block_is_waited_for_once() -> None:
    """A block gives when each dispatch returned, and the time until the last result was there."""
    step, stepper = make()
    assert stepper.streamed(4) == ([3, 6, 9, 12], 52)
    assert step.done == ["a", "b", "c", "a", "wait"]


def test_batches_go_on_where_they_were() -> None:
    """Every contender takes batch i at step i, over warm-ups and blocks, and steps are counted."""
    step, stepper = make()
    stepper.fenced(2)
    stepper.streamed(2)
    stepper.fenced(1)
    assert [what for what in step.done if what != "wait"] == ["a", "b", "c", "a", "b"]
    assert stepper.position == 5


@pytest.mark.parametrize(
    ("steps", "seconds", "limit", "expected"),
    [(5, 0.0, 100, 5), (5, 130e-9, 100, 10), (5, 1.0, 20, 20), (30, 1.0, 20, 30), (1, 0.0, 0, 1)],
)
def test_a_warm_up_has_steps_and_seconds_within_its_limit(
    steps: int, seconds: float, limit: int, expected: int
) -> None:
    """It lasts until there are enough steps and enough time has passed; the limit stops the time, never the steps."""
    _, stepper = make()
    assert len(stepper.fenced(steps, seconds, limit)) == expected


def test_taking_a_batch_from_a_loader_is_a_part_of_the_step() -> None:
    """Where batches are not on the device, the time that each takes is in the fenced and in the streamed time."""
    step = Clockwork()

    def load() -> Iterator[str]:
        """Take 100 ns for each batch."""
        while True:
            step.now_ns += 100
            yield "a"

    stepper = Stepper(step, load(), step.clock)
    assert stepper.fenced(2) == [113, 113]
    assert stepper.streamed(3) == ([103, 206, 309], 339)


def test_a_block_of_no_steps_takes_no_time() -> None:
    """A lead-in may be empty."""
    _, stepper = make()
    assert stepper.streamed(0) == ([], 0)


def test_garbage_is_frozen_and_freed_again() -> None:
    """While steps are timed the collector stays on and does not walk what was there before; then all is as it was."""
    before = gc.get_freeze_count()
    with collected_garbage():
        assert gc.get_freeze_count() > before
        assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_a_wait_for_nothing_is_timed_by_itself() -> None:
    """What is still to be done when it is asked is no part of it."""
    step, stepper = make()
    step.run("a")
    assert stepper.idle_waits(3) == [0, 0, 0]
    assert step.done == ["a", "wait", "wait", "wait", "wait"]

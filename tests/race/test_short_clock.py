"""A clock counts all that passes: what it does not count, the counters around each block see."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from bakeoff.judge.timer import why_own_clock, why_short
from bakeoff.measure.clock import Clock, Stepper, monotonic
from bakeoff.spec.protocol import RunBlock
from bakeoff.spec.record import Compilation
from bakeoff.trial.handlers import run_block
from bakeoff.trial.saved import SavedState

ASKED_NS = 3_000_000
"""What Jittor takes to say what it has compiled so far."""


class Sleeping:
    """A step of three milliseconds."""

    def run(self, batch: object) -> None:
        """Sleep."""
        del batch
        time.sleep(0.003)

    def wait(self) -> None:
        """Nothing is left to wait for."""

    def compilation(self) -> Compilation:
        """Nothing is compiled."""
        return Compilation()


class Asked(Sleeping):
    """A step that takes its time to say what it has compiled, by a clock that nothing else moves."""

    now_ns = 0

    def compilation(self) -> Compilation:
        """Have the clock move."""
        self.now_ns += ASKED_NS
        return super().compilation()


class Short(Stepper):
    """A streamed clock that is a tenth short."""

    def streamed(self, steps: int) -> tuple[list[int], int]:
        """Report nine tenths of the time."""
        stamps, elapsed_ns = super().streamed(steps)
        return stamps, int(0.9 * elapsed_ns)


def ran(step: Sleeping, stepper: type[Stepper] = Stepper, *, clock: Clock = monotonic, turns: int = 5) -> list[Any]:
    """Return the blocks that a step was run in."""
    blocks: list[Any] = []
    untold: Any = step  # Nothing is saved of it, so nothing is put back.
    running: Any = SimpleNamespace(
        stepper=stepper(step, [None], clock),
        step=step,
        processes=list,
        saved=SavedState(untold, stepper(step, [None])),
        opened=SimpleNamespace(clock=clock),
    )
    draft: Any = SimpleNamespace(append=lambda _, block: blocks.append(block))
    for turn in range(turns):
        run_block(running, draft, RunBlock(lead=2, steps=12, turn=turn))
    return blocks


def found_in(blocks: list[Any], clock: str = "monotonic") -> str:
    """Return what is found in the blocks of one trial."""
    record: Any = SimpleNamespace(clock=clock, blocks=blocks)
    return why_short([record])


@pytest.mark.parametrize(("stepper", "says"), [(Stepper, ""), (Short, "less than passes in a block")])
def test_a_streamed_clock_that_is_a_tenth_short_is_found(stepper: type[Stepper], says: str) -> None:
    """The counters around each block see the time that the clock does not count; the clock as it is has no finding."""
    blocks = ran(Sleeping(), stepper)
    found = found_in(blocks)
    assert (says in found) if says else not found
    assert not found_in(blocks, clock="virtual")


@pytest.mark.parametrize(
    ("late", "says"), [(8, ""), (9, "less than passes in a block"), (12, "less than passes in a block")]
)
def test_a_loaded_machine_is_no_short_clock(late: int, says: str) -> None:
    """A process that waits for a processor after most of its blocks is not refused; a clock is short in nearly all."""
    blocks = [
        SimpleNamespace(
            lead_ns=0,
            restore_ns=None,
            asked_ns=0,
            elapsed_ns=200_000_000,
            signals=SimpleNamespace(wall_ns=240_000_000 if turn < late else 201_000_000),
        )
        for turn in range(12)
    ]
    found = found_in(blocks)
    assert (says in found) if says else not found


@pytest.mark.parametrize(
    ("blocks", "missing_ns", "is_found"), [(5, 2_100_000, True), (5, 1_900_000, False), (4, 9_000_000, False)]
)
def test_few_blocks_and_two_milliseconds_show_nothing(blocks: int, missing_ns: int, *, is_found: bool) -> None:
    """What lies between two readings is no part of a short block, and a process may be suspended in some."""
    parts: dict[str, Any] = {"lead_ns": 0, "restore_ns": None, "asked_ns": 0, "elapsed_ns": 20_000_000}
    around = SimpleNamespace(wall_ns=20_000_000 + missing_ns)
    assert bool(found_in([SimpleNamespace(**parts, signals=around) for _ in range(blocks)])) == is_found


def test_asking_what_was_compiled_makes_no_clock_short() -> None:
    """Jittor is asked for 3 ms before each timed part, which are not 5 % of a short one."""
    parts: dict[str, Any] = {"lead_ns": 10_000_000, "restore_ns": None, "elapsed_ns": 50_000_000}
    around = SimpleNamespace(wall_ns=63_500_000)
    assert not found_in([SimpleNamespace(**parts, asked_ns=ASKED_NS, signals=around) for _ in range(12)])
    assert found_in([SimpleNamespace(**parts, asked_ns=0, signals=around) for _ in range(12)])


def test_a_block_keeps_how_long_asking_took() -> None:
    """What a step takes to say what it has compiled stands in its block, and is no part of its time."""
    step = Asked()
    (block,) = ran(step, clock=lambda: step.now_ns, turns=1)
    assert (block.asked_ns, block.lead_ns, block.elapsed_ns) == (ASKED_NS, 0, 0)


def test_a_clock_that_counts_more_than_passes_is_found() -> None:
    """A contender that looks slower than it is loses a race that it should not."""
    parts: dict[str, Any] = {"lead_ns": 10_000_000, "restore_ns": None, "asked_ns": 0, "elapsed_ns": 100_000_000}
    around = SimpleNamespace(wall_ns=100_000_000)
    found = found_in([SimpleNamespace(**parts, signals=around) for _ in range(12)])
    assert found == "its clock counts 10.0% more than passes in a block by the counters around it"


@pytest.mark.parametrize(
    ("clocks", "scripted", "is_found"), [("mm", False, False), ("mv", False, True), ("vv", True, False)]
)
def test_one_trial_by_a_clock_of_its_own_is_enough(clocks: str, *, scripted: bool, is_found: bool) -> None:
    """Nothing but a script is timed by what its engine counts, in any of its rounds."""
    records: Any = [SimpleNamespace(clock={"m": "monotonic", "v": "virtual"}[one]) for one in clocks]
    plan: Any = SimpleNamespace(scripted=scripted)
    assert bool(why_own_clock(plan, records)) == is_found

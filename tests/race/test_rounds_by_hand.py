"""From blocks to the log-ratios of a pair: rounds of two contenders, computed by hand."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from tests.explaining.test_causes import block, record

from bakeoff.judge.rounds import CountedBlocks, frozen_cut, kept_blocks, pairs_of
from bakeoff.spec.record import Record, Signals

CALM = Signals(wall_ns=400_000_000, cpu_ns=400_000_000, foreign_share=0.0, cores=2)
BUSY = msgspec.structs.replace(CALM, foreign_share=0.5)
ALL = CountedBlocks(cut=0, attempts={})


def timed(label: str, number: int, *steps_ns: int, busy: tuple[int, ...] = (), **changed: Any) -> Record:
    """Give a contender's round of resident workers: in each turn a block of ten such steps, some of them disturbed."""
    blocks = [
        block(turn=turn, elapsed_ns=10 * step_ns, signals=BUSY if turn in busy else CALM)
        for turn, step_ns in enumerate(steps_ns)
    ]
    made = record(label, *blocks)
    trial = msgspec.structs.replace(made.trial, round_number=number, resident=True)
    return msgspec.structs.replace(made, trial=trial, **changed)


def test_a_round_is_the_median_ratio_of_neighbours() -> None:
    """Twice and four times as long: their middle, without the disturbed turn the first alone, and both mean times."""
    (pair,) = pairs_of(["a", "b"], [timed("a", 1, 200, 400), timed("b", 1, 100, 100, busy=(1,))], 1, ALL)
    assert pair.differences == pytest.approx([1.5 * math.log(2.0)])
    assert pair.calm == pytest.approx([math.log(2.0)])
    assert pair.blocks == [(1, 4)]
    (means,) = pair.means
    assert means == pytest.approx((3e-7, 1e-7))


def test_a_disturbed_turn_is_left_out_whoever_was_disturbed() -> None:
    """A turn of which either block was disturbed is no neighbour of anything."""
    for busy in ({"a": (0,), "b": ()}, {"a": (), "b": (0,)}):
        sides = [timed("a", 1, 200, 400, busy=busy["a"]), timed("b", 1, 100, 100, busy=busy["b"])]
        (pair,) = pairs_of(["a", "b"], sides, 1, ALL)
        assert pair.calm == pytest.approx([math.log(4.0)])
        assert pair.blocks == [(1, 4)]


def test_a_round_that_was_lost_counts_for_nothing_and_two_give_a_contender_up() -> None:
    """Blocks that a process timed before it ended are no times of that round; the second loss ends its pairs."""
    lost = [timed("b", number, 100, outcome="crashed", reason="it crashed") for number in (2, 4)]
    whole = [timed("b", number, 100) for number in (1, 3)]
    first = [timed("a", number, 200) for number in (1, 2, 3, 4)]
    (pair,) = pairs_of(["a", "b"], [*first, *whole, *lost], 4, ALL)
    assert pair.differences == pytest.approx([math.log(2.0), None, math.log(2.0), None])
    assert pair.lost == 4
    (pair,) = pairs_of(["a", "b"], [*first, *whole, lost[0]], 3, ALL)
    assert pair.lost is None


def test_the_longest_warm_up_of_all_cuts_every_contender() -> None:
    """Blocks that began within it count for nobody, as all that are held against each other do the same steps."""
    steady, slow = [100] * 200, [900] * 20 + [100] * 180
    warm = {"a": steady, "b": slow}
    rounds = [timed(label, number, 200, warm_steps_ns=warm[label]) for number in (1, 2) for label in warm]
    assert frozen_cut(rounds) == 20
    kept = kept_blocks(rounds)
    (within,) = rounds[0].blocks
    behind = msgspec.structs.replace(within, turn=1, first_step=20)
    both = msgspec.structs.replace(rounds[0], blocks=[within, behind])
    assert kept.blocks(both) == [(1, behind)]


def test_a_repeat_that_was_disturbed_again_stands_for_nothing() -> None:
    """A turn that others disturbed stands back for a calm repeat, for both contenders, and for no other."""
    for again, stands in ((CALM, 300), (BUSY, 200)):
        sides = []
        for label, signals in (("a", again), ("b", CALM)):
            first = timed(label, 1, 200, busy=(0,))
            repeat = block(turn=1, repeats=0, elapsed_ns=3000, signals=signals)
            sides.append(msgspec.structs.replace(first, blocks=[*first.blocks, repeat]))
        kept = kept_blocks(sides)
        for one in sides:
            ((turn, counted),) = kept.blocks(one)
            assert (turn, counted.elapsed_ns) == (0, 10 * stands)

"""From blocks to the log-ratios of a pair: rounds of two contenders, computed by hand."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from tests.explaining.test_causes import block, record

from bakeoff.judge.rounds import CountedBlocks, frozen_cut, kept_blocks, levels_of, pairs_of
from bakeoff.measure.contention import is_flagged
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


def of_two_speeds(**changed: Any) -> list[Record]:
    """Give ten rounds of two contenders, of which the third and the seventh took twice as long for both."""
    records = []
    for number in range(1, 11):
        factor = 2 if number in (3, 7) else 1
        for label, step_ns in (("a", 300), ("b", 200)):
            made = timed(label, number, *[(step_ns + place) * factor for place in range(4)], **changed)
            blocks = [msgspec.structs.replace(one, restore_ns=1, first_step=4) for one in made.blocks]
            records.append(msgspec.structs.replace(made, blocks=blocks))
    return records


def test_rounds_that_took_longer_for_all_at_once_are_the_machine() -> None:
    """Every turn of both rounds is found, by the planned turns, and a lost round is none."""
    found = levels_of(["a", "b"], of_two_speeds(), ALL)
    assert found is not None
    assert (found.is_found, found.turns, found.rounds) == (True, 40, [3, 7])
    assert found.changed == [(number, turn) for number in (3, 7) for turn in range(4)]
    assert (found.low, found.high) == pytest.approx((2.0, 2.0), rel=0.01)
    lost = [one for one in of_two_speeds() if one.trial.round_number != 3]
    assert levels_of(["a", "b"], lost, ALL).changed == [(7, turn) for turn in range(4)]  # type: ignore[union-attr]


def test_no_turns_of_two_tell_nothing_of_the_machine() -> None:
    """Contenders one after another share no moment, training that went on changes by itself, and one has no other."""
    whole = of_two_speeds()
    apart = [msgspec.structs.replace(one, trial=msgspec.structs.replace(one.trial, resident=False)) for one in whole]
    assert levels_of(["a", "b"], apart, ALL) is None
    going_on = [
        msgspec.structs.replace(one, blocks=[msgspec.structs.replace(b, restore_ns=None) for b in one.blocks])
        for one in whole
    ]
    assert levels_of(["a", "b"], going_on, ALL) is None
    assert levels_of(["a"], whole, ALL) is None
    assert levels_of([], [], ALL) is None


def test_a_round_that_others_disturbed_is_no_speed_of_the_machine() -> None:
    """It is enough that the blocks of one contender were."""
    busy = [
        msgspec.structs.replace(one, blocks=[msgspec.structs.replace(b, signals=BUSY) for b in one.blocks])
        if (one.trial.round_number, one.trial.contender.label) in ((3, "a"), (7, "b"))
        else one
        for one in of_two_speeds()
    ]
    found = levels_of(["a", "b"], busy, ALL)
    assert found is not None
    assert (found.is_found, found.changed) == (False, [])


def test_a_turn_that_others_disturbed_by_all_its_blocks_together_is_no_speed_of_the_machine() -> None:
    """Ticks that are too few in each block alone are enough in both: "beside no other process" is not said of these."""
    little = msgspec.structs.replace(CALM, wall_ns=100_000_000, cpu_ns=100_000_000, foreign_share=0.12)
    assert not is_flagged(little)
    beside = [
        msgspec.structs.replace(one, blocks=[msgspec.structs.replace(b, signals=little) for b in one.blocks])
        if one.trial.round_number in (3, 7)
        else one
        for one in of_two_speeds()
    ]
    assert levels_of(["a", "b"], beside, ALL).changed == []  # type: ignore[union-attr]


def test_a_pair_that_is_never_formed_has_no_ratio_at_either_speed() -> None:
    """As of contenders on other numbers of devices: "verdicts take both together" would speak of none."""
    for never, ratios in ((set(), 1), ({("a", "b")}, 0)):
        found = levels_of(["a", "b"], of_two_speeds(), ALL, never)
        assert found is not None
        assert (found.is_found, len(found.ratios)) == (True, ratios)

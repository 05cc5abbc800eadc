"""What counters around blocks and at the ends of trials amount to, of records that are made by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.explaining.test_causes import block, record

from bakeoff.judge.counters import BlockCounters, block_counters, clock_range_mhz, flagged_share
from bakeoff.spec.record import Block, Record, Signals

CALM = Signals(wall_ns=10**9, cpu_ns=2 * 10**9, foreign_share=0.01, cores=4, minor_faults=0, major_faults=0)


def beside(**signals: Any) -> Block:
    """Give a block of ten steps behind a lead-in of one, with these counters around both."""
    return block(signals=msgspec.structs.replace(CALM, **signals))


def in_round(number: int, *blocks: Block, clock_mhz: float | None = None) -> Record:
    """Give a timed trial of a round."""
    made = record("torch", *blocks, clock_mhz=clock_mhz)
    return msgspec.structs.replace(made, trial=msgspec.structs.replace(made.trial, round_number=number))


def test_counters_are_those_of_all_blocks_together() -> None:
    """Processor time over wall time, faults of a disk in all, and of memory a step, those of lead-ins among them."""
    blocks = [beside(minor_faults=30, major_faults=1), beside(wall_ns=3 * 10**9, minor_faults=3, major_faults=4)]
    found = block_counters(blocks)
    assert (found.cores_used, found.minor_faults_per_step, found.major_faults) == (1.0, pytest.approx(1.5), 5)


def test_what_one_block_does_not_count_is_not_known() -> None:
    """A sum of some blocks would be too small; without any block nothing is known."""
    blocks = [beside(minor_faults=None), beside(major_faults=None)]
    assert block_counters(blocks) == BlockCounters(cores_used=2.0)
    assert block_counters([]) == BlockCounters()


def test_others_take_the_median_share_and_disturb_rounds_that_count_once() -> None:
    """The share is over all blocks that know it, and a round is disturbed by all of its blocks together."""
    busy, unknown = beside(foreign_share=0.5), beside(foreign_share=None)
    rounds = [in_round(1, beside(), busy), in_round(1, busy), in_round(2, beside(), unknown), in_round(3, busy)]
    share, disturbed = flagged_share([*rounds, in_round(3, beside(foreign_share=0.02))])
    assert (share, disturbed) == (pytest.approx(0.26), 2)
    assert flagged_share([in_round(1, unknown), in_round(2)]) == (None, 0)


def test_clocks_are_told_from_the_lowest_to_the_highest() -> None:
    """Of all trials whose system tells one; None of none."""
    trials = [in_round(number, clock_mhz=clock) for number, clock in enumerate((2500.0, 2300.0, None, 2900.0, 2400.0))]
    assert clock_range_mhz(trials) == (2300.0, 2900.0)
    assert clock_range_mhz(trials[2:3]) is None

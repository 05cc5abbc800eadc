"""Orders and sizes of rounds: pure, and drawn from the comparison's seed so that they can be repeated."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import msgspec

from bakeoff.spec.protocol import CheckTimer

if TYPE_CHECKING:
    from collections.abc import Sequence

TURNS = 12
"""Blocks of each contender in a round; fewer leave the median over them to chance."""

FEWEST_TURNS = 4
"""... and at least this many where steps are long."""

LONG_STEP_S = 0.02
"""Above this step time a round has fewer blocks."""

FEWEST_TIMED_STEPS = 12
"""Timed steps of each contender in a round, at least."""

LEAD_S = 0.1
"""A lead-in lasts at least this long: right after a switch steps are slower, and not equally in all frameworks."""

TIMED_S = 0.15
"""A block's timed part lasts about this long; long beside the clock's resolution, short beside
the bursts of other load, so that neighbours share them."""

FEWEST_STEPS = 3
"""In each part of a block."""

ALONE_STEPS = (24, 200)
"""Timed steps of a worker that has the machine for itself, at least and at most: beyond that, more
rounds tell more than more steps (docs/method.md)."""

ALONE_S = 2.0
"""... and for about this long."""

ALONE_BLOCKS = 6
"""... in so many blocks: a burst of other load spoils one of them and not their median."""


TIMER_BLOCK_S = 0.05
"""A single block of the timer's self-test: far above what it costs to start and to stop the clock."""

TIMER_BLOCK_LIMIT = 1000
"""... of at most so many steps: where nothing is waited for, steps look much shorter than they are."""

TIMER_PAIRS = 8
"""The fewest that the signed-rank test can be 99 % sure of (2 / 2^8 < 1 %)."""

TIMER_PASSES = 3
"""After so many the machine is too busy to tell."""

PROFILES = 5
"""Sessions of the framework's profiler; each takes some 50 ms to start and to read."""

PROFILED_S = 0.1
"""... of fenced steps for about this long ..."""

PROFILED_STEPS = (10, 100)
"""... at least, so that a part of one step is small, and at most: every operator is an event to be kept."""


class BlockPlan(msgspec.Struct, frozen=True):
    """One contender's blocks in a round."""

    lead: int
    steps: int


def turns(step_s: Sequence[float]) -> int:
    """Give how many blocks each contender of a round runs; always even, so that orders come in mirrored pairs."""
    slowest = max(step_s)
    if slowest <= LONG_STEP_S:
        return TURNS
    wanted = TURNS * LONG_STEP_S / slowest
    return max(FEWEST_TURNS, 2 * round(wanted / 2))


def block_plan(step_s: float, turn_count: int) -> BlockPlan:
    """Give the sizes of one contender's blocks."""
    lead = max(FEWEST_STEPS, math.ceil(LEAD_S / step_s))
    steps = max(FEWEST_STEPS, math.ceil(TIMED_S / step_s), math.ceil(FEWEST_TIMED_STEPS / turn_count))
    return BlockPlan(lead, steps)


def alone_plan(step_s: float) -> BlockPlan:
    """Give the sizes of each of the ALONE_BLOCKS blocks of a worker that has the machine for itself."""
    fewest, most = ALONE_STEPS
    steps = min(most, max(fewest, math.ceil(ALONE_S / step_s)))
    return BlockPlan(max(FEWEST_STEPS, math.ceil(LEAD_S / step_s)), math.ceil(steps / ALONE_BLOCKS))


def timer_plan(step_s: float) -> CheckTimer:
    """Give the sizes of one pass of the timer's self-test."""
    steps = min(TIMER_BLOCK_LIMIT, math.ceil(TIMER_BLOCK_S / step_s))
    fewest, most = PROFILED_STEPS
    profiled = min(most, max(fewest, math.ceil(PROFILED_S / step_s)))
    return CheckTimer(steps=steps, pairs=TIMER_PAIRS, profiled_steps=profiled, profiles=PROFILES)


def start_order(labels: Sequence[str], seed: int, round_number: int) -> list[str]:
    """Give the order in which a round's workers are built, or run where they run one after another."""
    return random.Random(f"{seed}/{round_number}/start").sample(list(labels), len(labels))  # noqa: S311 - an order


def turn_orders(labels: Sequence[str], seed: int, round_number: int, turn_count: int) -> list[list[str]]:
    """Give the order of the contenders in each turn: a random one and then its mirror image (ABBA or BAAB)."""
    generator = random.Random(f"{seed}/{round_number}/turns")  # noqa: S311 - an order
    orders: list[list[str]] = []
    for _ in range(turn_count // 2):
        order = generator.sample(list(labels), len(labels))
        orders += [order, order[::-1]]
    return orders

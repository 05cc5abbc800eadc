"""Orders and sizes of rounds: pure, and drawn from the comparison's seed so that they can be repeated."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence


class Turns(msgspec.Struct, frozen=True, kw_only=True):
    """How many blocks each contender of a round has."""

    most: int = 12
    """Fewer leave the median over them to chance."""
    fewest: int = 4
    """Where steps are long."""
    long_step_s: float = 0.02
    """Above this step time there are fewer blocks."""


class BlockSizes(msgspec.Struct, frozen=True, kw_only=True):
    """How long a block is."""

    lead_s: float = 0.1
    """A lead-in lasts at least this long: right after a switch steps are slower, and not equally in all frameworks."""
    timed_s: float = 0.15
    """The timed part lasts about this long: long beside the clock's resolution, short beside the bursts of other
    processes, so that neighbours share them."""
    fewest_steps: int = 3
    """In each part of a block."""
    fewest_timed_steps: int = 12
    """Of each contender in a round."""


class AloneSizes(msgspec.Struct, frozen=True, kw_only=True):
    """How much is timed of a worker that has the machine for itself."""

    seconds: float = 2.0
    """About this long, within the limits of steps."""
    fewest_steps: int = 24
    most_steps: int = 200
    """Beyond that, more rounds are worth more than more steps (docs/method.md)."""
    blocks: int = 6
    """A burst of other processes spoils one of them and not their median."""


TURNS = Turns()
BLOCK = BlockSizes()
ALONE = AloneSizes()


class BlockPlan(msgspec.Struct, frozen=True):
    """One contender's blocks in a round: steps of the lead-in, and timed steps."""

    lead: int
    steps: int


def turns(step_s: Sequence[float]) -> int:
    """Return how many blocks each contender of a round runs: an even number, so that orders come in mirrored pairs."""
    slowest = max(step_s)
    if slowest <= TURNS.long_step_s:
        return TURNS.most
    wanted = TURNS.most * TURNS.long_step_s / slowest
    return max(TURNS.fewest, 2 * round(wanted / 2))


def block_plan(step_s: float, turn_count: int) -> BlockPlan:
    """Return the sizes of one contender's blocks."""
    lead = max(BLOCK.fewest_steps, math.ceil(BLOCK.lead_s / step_s))
    by_round = math.ceil(BLOCK.fewest_timed_steps / turn_count)
    steps = max(BLOCK.fewest_steps, math.ceil(BLOCK.timed_s / step_s), by_round)
    return BlockPlan(lead, steps)


def alone_plan(step_s: float) -> BlockPlan:
    """Return the sizes of each block of a worker that has the machine for itself."""
    steps = min(ALONE.most_steps, max(ALONE.fewest_steps, math.ceil(ALONE.seconds / step_s)))
    return BlockPlan(max(BLOCK.fewest_steps, math.ceil(BLOCK.lead_s / step_s)), math.ceil(steps / ALONE.blocks))


def start_order(labels: Sequence[str], seed: int, round_number: int) -> list[str]:
    """Return the order in which a round's workers are built, or run where they run one after another."""
    return random.Random(f"{seed}/{round_number}/start").sample(list(labels), len(labels))  # noqa: S311 - an order


def turn_orders(labels: Sequence[str], seed: int, round_number: int, turn_count: int) -> list[list[str]]:
    """Return the order of the contenders in each turn: a random one and then its mirror image (ABBA or BAAB)."""
    generator = random.Random(f"{seed}/{round_number}/turns")  # noqa: S311 - an order
    orders: list[list[str]] = []
    for _ in range(turn_count // 2):
        order = generator.sample(list(labels), len(labels))
        orders += [order, order[::-1]]
    return orders

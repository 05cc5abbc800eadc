"""From step times to comparisons of two contenders: the log-ratio of a round, and when a slower start has paid off.

A block's step time is the mean over its timed steps, in any unit that both contenders share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

Turns = Mapping[int, float]
"""The step time of one block for each turn in which the contender ran."""

ROUNDING = 1e-9
"""Relative tolerance of the break-even: binary fractions are off in their last digits, and 10 / (0.7 - 0.5) must be 50
steps and not 51."""


def process_median(blocks: Sequence[float]) -> float:
    """Return the step time of one process: the median over its blocks."""
    return float(np.median(blocks))


def ping_pong_difference(first: Turns, second: Turns) -> float | None:
    """Return log(first / second) of a round whose processes ran in turns; None where they share no turn.

    Both blocks of a turn are neighbours in time, so that a disturbance of both cancels in their ratio; a disturbance of
    one block spoils one turn, which the median over the turns ignores.
    """
    shared = first.keys() & second.keys()
    if not shared:
        return None
    return float(np.median([math.log(first[turn] / second[turn]) for turn in shared]))


def sequential_difference(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return log(first / second) of a round whose processes ran one after another; None where one has no block."""
    if not (first and second):
        return None
    return math.log(process_median(first) / process_median(second))


def break_even(start_a: float, step_a: float, start_b: float, step_b: float) -> int | None:
    """Return the number of steps after which the side with the slower start has caught up.

    All times have the same unit. None where it never catches up, or where both starts are equal.
    """
    lead = start_a - start_b
    gain = step_b - step_a
    if lead < 0:
        lead, gain = -lead, -gain
    if lead == 0 or gain <= 0:
        return None
    return math.ceil(lead / gain * (1.0 - ROUNDING))

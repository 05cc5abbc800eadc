"""From block times to the one number that a round gives of a pair: the logarithm of their ratio.

A block's step time is the mean over its timed steps, in any one unit. `Turns` holds one such time for each turn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

Turns = Mapping[int, float]

# Differences of binary fractions are off in their last digits: 10 / (0.7 - 0.5) must be 50 and not 51.
ROUNDING = 1e-9


def process_median(blocks: Sequence[float]) -> float:
    """Give the step time of one process: the median over its blocks."""
    return float(np.median(blocks))


def ping_pong_difference(first: Turns, second: Turns) -> float | None:
    """Give log(first / second) of one round whose processes took turns; None where they share no turn.

    Both blocks of a turn are neighbours in time, so a burst that covers them cancels; one that covers a single block
    spoils a single turn, and the median over turns passes it by.
    """
    shared = first.keys() & second.keys()
    if not shared:
        return None
    return float(np.median([math.log(first[turn] / second[turn]) for turn in shared]))


def sequential_difference(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Give log(first / second) of one round whose processes ran one after the other; None where one has no block."""
    if not (first and second):
        return None
    return math.log(process_median(first) / process_median(second))


def break_even(start_a: float, step_a: float, start_b: float, step_b: float) -> int | None:
    """Give the number of steps after which the side with the slower start has caught up.

    Times in any one unit. None where it never does, or where the starts are equal and there is nothing to catch up.
    """
    lead = start_a - start_b
    gain = step_b - step_a
    if lead < 0:
        lead, gain = -lead, -gain
    if lead == 0 or gain <= 0:
        return None
    return math.ceil(lead / gain * (1.0 - ROUNDING))

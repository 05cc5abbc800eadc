"""From block times to the one number that a round gives of a pair: the logarithm of their ratio.

A block's step time is the mean over its timed steps, in any one unit. `Turns` holds one such time for each turn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

Turns = Mapping[int, float]


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

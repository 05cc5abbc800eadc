"""How small a difference a machine can show, from how much the log-ratios of its rounds spread."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bakeoff.stats.boundaries import LOOKS
from bakeoff.stats.futility import half_width, spread_of
from bakeoff.stats.intervals import MIN_VALUES

if TYPE_CHECKING:
    from collections.abc import Sequence


def resolution(differences: Sequence[float], rounds: int = LOOKS[-1]) -> float | None:
    """Give the half-width that a pair's interval would have after so many rounds, as a share: 0.03 is 3 %.

    `differences` are log-ratios of rounds, `rounds` is one of LOOKS. A ratio farther from 1 than this would be shown
    to differ in about half of all comparisons; one inside, with an interval around it, needs a wider margin to be
    called equal. None below 3 rounds.
    """
    half = half_width(rounds, 1)
    if len(differences) < MIN_VALUES or half is None:
        return None
    return math.expm1(half * spread_of(differences))

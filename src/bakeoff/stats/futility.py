"""When another round is not worth its time: conditional power.

Futility only ever leaves a pair undecided, so it costs no false verdict and the boundaries need not know of it.
Source of the idea: Lan, Simon and Halperin, "Stochastically curtailed tests in long-term clinical trials", Sequential
Analysis 1, 1982.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from bakeoff.stats.boundaries import LOOKS, T_LOOKS, rank_index, t_multiplier
from bakeoff.stats.intervals import MIN_VALUES, centre, two_sided_levels

if TYPE_CHECKING:
    from collections.abc import Sequence

# Before the fifth round the spread of the differences is hardly known.
MIN_ROUNDS = 5
# A pair goes on while the chance of any verdict at the last look is at least this.
MIN_POWER = 0.15
# A signed-rank interval of normal data is wider than one by z by the root of the test's efficiency, pi / 3.
SIGNED_RANK_WIDTH = math.sqrt(math.pi / 3.0)
# The mean absolute deviation of a normal distribution, in standard deviations, is 1 over this.
MEAN_DEVIATION_TO_SD = math.sqrt(math.pi / 2.0)

_NORMAL = NormalDist()


def hopeless(differences: Sequence[float], last_look: int, family: int, rho: float) -> bool:
    """Tell whether the chance of any verdict at `last_look` is under 15 %, if the rounds go on as they did."""
    return power(differences, last_look, family, rho) < MIN_POWER


def power(differences: Sequence[float], last_look: int, family: int, rho: float) -> float:
    """Give the chance that the interval at `last_look` will be clear of zero or inside the margin `rho`.

    The estimate is taken to wander from where it is by what the coming rounds add, the interval to have the
    half-width that the present spread makes there.
    """
    spread = spread_of(differences)
    multiplier = half_width(last_look, family)
    if multiplier is None or spread == 0.0:
        return 1.0
    half = multiplier * spread
    wander = spread * math.sqrt(1.0 / len(differences) - 1.0 / last_look)
    estimate = centre(differences)
    above = _NORMAL.cdf((estimate - half) / wander)
    below = _NORMAL.cdf((-estimate - half) / wander)
    inside = _NORMAL.cdf((rho - half - estimate) / wander) - _NORMAL.cdf((half - rho - estimate) / wander)
    return above + below + max(0.0, inside)


def spread_of(differences: Sequence[float]) -> float:
    """Give the standard deviation, or what the mean absolute deviation makes of it where that is smaller.

    One disturbed round swells the first far more than the interval of a signed-rank look.
    """
    array = np.asarray(differences, dtype=float)
    deviation = float(np.abs(array - np.median(array)).mean()) * math.sqrt(len(array) / (len(array) - 1))
    return min(float(array.std(ddof=1)), MEAN_DEVIATION_TO_SD * deviation)


def half_width(look: int, family: int) -> float | None:
    """Give the half-width of the interval at a look, in standard deviations; None where there is no boundary."""
    if look in T_LOOKS:
        return t_multiplier(look, family) / math.sqrt(look)
    index = rank_index(look, family)
    if index is None:
        return None
    z = _NORMAL.inv_cdf(1.0 - two_sided_levels(look)[index] / 2.0)
    return z * SIGNED_RANK_WIDTH / math.sqrt(look)


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

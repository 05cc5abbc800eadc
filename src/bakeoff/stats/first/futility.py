"""What coming rounds can show: whether another is worth its time, and the smallest difference that all can resolve.

Futility by conditional power: stopping for it only ever leaves a pair undecided, so that it causes no false verdict and
the boundaries need not account for it. Source of the idea: Lan, Simon and Halperin, "Stochastically curtailed tests in
long-term clinical trials", Sequential Analysis 1, 1982.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

from bakeoff.stats.first.boundaries import T_LOOKS, rank_index, t_multiplier
from bakeoff.stats.first.intervals import centre
from bakeoff.stats.futility import spread_of
from bakeoff.stats.intervals import two_sided_levels

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_ROUNDS = 5
"""The first round after which a pair can be futile: before it, the spread of the differences is hardly known."""

MIN_POWER = 0.15
"""The least probability of a verdict at the last look with which a pair goes on."""

SIGNED_RANK_WIDTH = math.sqrt(math.pi / 3.0)
"""How much wider the signed-rank interval of normal data is than the interval by z: the root of the test's
efficiency."""

_NORMAL = NormalDist()


def hopeless(differences: Sequence[float], last_look: int, family: int, rho: float) -> bool:
    """Return whether a verdict at `last_look` is less probable than MIN_POWER, if the rounds go on as they did."""
    return power(differences, last_look, family, rho) < MIN_POWER


def power(differences: Sequence[float], last_look: int, family: int, rho: float) -> float:
    """Return the probability that the interval at `last_look` will exclude zero or lie inside the margin `rho`.

    `differences` are log-ratios of rounds, `rho` is log(1 + margin). The estimate is assumed to move from where it is
    by what the coming rounds add, and the interval to have the half-width that the present spread gives at that look.
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


def half_width(look: int, family: int) -> float | None:
    """Return the expected half-width at a look, in standard deviations; None at a look without a boundary."""
    if look in T_LOOKS:
        return t_multiplier(look, family) / math.sqrt(look)
    index = rank_index(look, family)
    if index is None:
        return None
    z = _NORMAL.inv_cdf(1.0 - two_sided_levels(look)[index] / 2.0)
    return z * SIGNED_RANK_WIDTH / math.sqrt(look)

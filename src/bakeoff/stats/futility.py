"""What coming rounds can show: at which look a pair would be decided, with what chance, and what is not worth its time.

Futility by conditional power: stopping for it only ever leaves a pair undecided, so that it causes no false verdict and
the boundaries need not account for it. Source of the idea: Lan, Simon and Halperin, "Stochastically curtailed tests in
long-term clinical trials", Sequential Analysis 1, 1982.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bakeoff.stats.boundaries import LOOKS, multiplier
from bakeoff.stats.intervals import MIN_VALUES, pseudo_median

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_ROUNDS = 10
"""The first look after which a pair can be futile: before it, the spread of the differences is hardly known."""

MIN_POWER = 0.15
"""The least probability of a verdict at the last look with which a pair goes on."""

EVEN = 0.5
"""A look at which a pair is decided more probably than not is the one that is told."""

MEAN_DEVIATION_TO_SD = math.sqrt(math.pi / 2.0)
"""The standard deviation of a normal distribution over its mean absolute deviation."""

_NORMAL = NormalDist()


class Prospect(NamedTuple):
    """A coming look, and the chance that it decides the pair if rounds go on as they did."""

    look: int
    chance: float


def hopeless(differences: Sequence[float], last_look: int, family: int, rho: float, *, moderated: bool) -> bool:
    """Return whether a verdict at `last_look` is less probable than MIN_POWER, if the rounds go on as they did."""
    return power(differences, last_look, family, rho, moderated=moderated) < MIN_POWER


def prospect(differences: Sequence[float], family: int, rho: float, *, moderated: bool) -> Prospect | None:
    """Return the first coming look that decides a pair more probably than not; else the last, if it well may.

    None where no coming look has a chance of MIN_POWER, below 3 rounds, and after the last look.
    """
    if len(differences) < MIN_VALUES:
        return None
    coming = [look for look in LOOKS if look > len(differences)]
    found = [Prospect(look, power(differences, look, family, rho, moderated=moderated)) for look in coming]
    likely = next((one for one in found if one.chance >= EVEN), None)
    return likely or next((one for one in found[-1:] if one.chance >= MIN_POWER), None)


def power(differences: Sequence[float], look: int, family: int, rho: float, *, moderated: bool) -> float:
    """Return the probability that the interval at `look` will exclude zero or lie inside the margin `rho`.

    `differences` are log-ratios of rounds, `rho` is log(1 + margin). The estimate is assumed to move from where it is
    by what the coming rounds add, and the interval to have the half-width that the present spread gives at that look.
    """
    spread = spread_of(differences)
    if spread == 0.0:
        return 1.0
    half = multiplier(look, family, moderated=moderated) * spread / math.sqrt(look)
    if rho >= 2.0 * half:
        return 1.0  # wherever the estimate goes, it is clear of zero or inside the margin
    wander = spread * math.sqrt(1.0 / len(differences) - 1.0 / look)
    estimate = pseudo_median(differences)
    above = _NORMAL.cdf((estimate - half) / wander)
    below = _NORMAL.cdf((-estimate - half) / wander)
    inside = _NORMAL.cdf((rho - half - estimate) / wander) - _NORMAL.cdf((half - rho - estimate) / wander)
    return min(1.0, above + below + max(0.0, inside))


def spread_of(differences: Sequence[float]) -> float:
    """Return the standard deviation, or the estimate of it by the mean absolute deviation where that is smaller.

    A single disturbed round raises the standard deviation far more than it widens an interval of signs or ranks.
    """
    array = np.asarray(differences, dtype=float)
    deviation = float(np.abs(array - np.median(array)).mean()) * math.sqrt(len(array) / (len(array) - 1))
    return min(float(array.std(ddof=1)), MEAN_DEVIATION_TO_SD * deviation)


def resolution(differences: Sequence[float]) -> float | None:
    """Return the smallest difference that as many rounds as the last look has can show, as a share: 0.03 is 3 %.

    It is the half-width of two contenders' interval then. `differences` are log-ratios of rounds. A ratio that differs
    from 1 by this share is found to differ in about half of all comparisons. None below 3 rounds.
    """
    if len(differences) < MIN_VALUES:
        return None
    last = LOOKS[-1]
    return math.expm1(multiplier(last, 1, moderated=False) * spread_of(differences) / math.sqrt(last))

"""Intervals that hold at every round at once, however often one looks and whenever one stops: until-sure.

A confidence sequence by a mixture of t-tests: the size of the effect in standard deviations has a normal prior, the
standard deviation the right Haar prior. Its likelihood ratio stays below 1 / level at all rounds together but for a
chance of `level` (Ville's inequality), and solving it for the mean gives the half-width in closed form.

Source: T. L. Lai, "On confidence sequences", Annals of Statistics 4, 1976; H. Wang and A. Ramdas, "Anytime-valid
t-tests and confidence sequences for Gaussian means with unknown variance", arXiv 2310.03722.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from bakeoff.stats.intervals import t_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.verdict import Interval

LEVEL = 0.05
"""Of any false verdict, over all rounds and pairs together."""

PRIOR_VARIANCE = 4.0
"""Of the effect in standard deviations: intervals are narrowest where an effect is about two of them, which 10 % are
on a shared machine (docs/method.md). Every value is valid; it only shifts where the rounds are spent."""


@cache
def anytime_multiplier(count: int, pairs: int) -> float | None:
    """Give how many standard errors the interval reaches from the mean of `count` values, one of `pairs` pairs.

    None where so few values exclude nothing.
    """
    growth = 1.0 + count * PRIOR_VARIANCE
    rest = (math.sqrt(growth) * pairs / LEVEL) ** (2.0 / count)
    if rest >= growth:
        return None
    return math.sqrt((count - 1) * (rest - 1.0) / (1.0 - rest / growth))


def anytime_interval(values: Sequence[float], pairs: int) -> Interval | None:
    """Give the interval of a pair's log-ratio after any number of rounds; None where they are too few for one.

    The level is divided by the number of all pairs and none is released, so that all intervals of a comparison hold
    together, at all rounds.
    """
    multiplier = anytime_multiplier(len(values), pairs) if len(values) > 1 else None
    return None if multiplier is None else t_interval(values, multiplier)

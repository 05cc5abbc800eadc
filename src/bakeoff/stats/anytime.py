"""Confidence sequences: intervals that hold at all rounds together, whenever the comparison stops (until-sure).

A confidence sequence by a mixture of t-tests: the size of the effect in standard deviations has a normal prior, the
standard deviation the right Haar prior. The probability that the likelihood ratio ever exceeds 1 / level, at any round,
is at most `level` (Ville's inequality), and solving the ratio for the mean gives the half-width in closed form.

Source: T. L. Lai, "On confidence sequences", Annals of Statistics 4, 1976; H. Wang and A. Ramdas, "Anytime-valid
t-tests and confidence sequences for Gaussian means with unknown variance", arXiv 2310.03722.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from bakeoff.spec.verdict import Interval
from bakeoff.stats.intervals import pseudo_median, t_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = 0.05
"""The probability of any false verdict, over all rounds and pairs together."""

PRIOR_VARIANCE = 4.0
"""Variance of the prior of the effect, in standard deviations of the rounds. Intervals are narrowest for effects of
about two standard deviations, which 10 % are on a shared machine (docs/verdicts.md). Every value is valid; it only
decides for which effects the fewest rounds are needed."""


@cache
def anytime_multiplier(count: int, pairs: int) -> float | None:
    """Return the half-width of the interval after `count` values, in standard errors of the mean.

    `pairs` is the number of pairs of the comparison. None where there are so few values that they exclude nothing.
    """
    growth = 1.0 + count * PRIOR_VARIANCE
    rest = (math.sqrt(growth) * pairs / LEVEL) ** (2.0 / count)
    if rest >= growth:
        return None
    return math.sqrt((count - 1) * (rest - 1.0) / (1.0 - rest / growth))


def anytime_interval(values: Sequence[float], pairs: int) -> Interval | None:
    """Return the interval of a pair's log-ratio after any number of rounds; None where there are too few rounds.

    The level is divided by the number of all pairs and stays divided when pairs are decided, so that all intervals of
    a comparison hold together, at all rounds.
    """
    multiplier = anytime_multiplier(len(values), pairs) if len(values) > 1 else None
    return None if multiplier is None else t_interval(values, multiplier)


def anytime_decision(values: Sequence[float], pairs: int) -> Interval | None:
    """Return the same interval widened to both sides of the pseudo-median, the estimate of every pair.

    It contains the interval of the mean, so that it holds wherever that does; and no direction is found that the
    pseudo-median does not show as clearly.
    """
    interval = anytime_interval(values, pairs)
    if interval is None:
        return None
    shift = pseudo_median(values) - interval.estimate
    return Interval(
        estimate=interval.estimate + shift,
        low=interval.low + min(shift, 0.0),
        high=interval.high + max(shift, 0.0),
    )

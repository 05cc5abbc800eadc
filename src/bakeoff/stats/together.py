"""Intervals that hold together: each as much wider than one for itself as there are of them (Bonferroni).

Where all of them cover at once, every sentence that rests on them alone is true, whatever it makes of them: that a
ratio lies above 1, that none of five does, which of them is the largest. So at most one set of claims in twenty has any
false one. The pair's interval of its size is where they come from: by Student's t from its spread and its rounds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtrit  # and not scipy.stats, which takes half a second to import

from bakeoff.spec.verdict import Interval
from bakeoff.stats.intervals import MIN_VALUES
from bakeoff.stats.size import COMPUTED, LEVEL, MULTIPLIERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.verdict import Verdict

_SPENT = (1.0 - COMPUTED) / (1.0 - LEVEL)
"""Of the error that is told, the share that is computed with: a race that stops when it is sure stops a little more
readily by chance, as `stats.size` has it."""


class Estimate(NamedTuple):
    """A logarithm that was measured, with its standard error and the degrees of freedom of that."""

    centre: float
    error: float
    freedom: float


def of_verdict(verdict: Verdict) -> Estimate | None:
    """Return the log-ratio of a pair; None where it has no interval, or where its rounds contradict its direction.

    The side of an interval that was cut at 1 tells nothing of its width: the other one does. By signed ranks, from 10
    rounds on, the wider side stands for both.
    """
    ratio, low, high = verdict.ratio, verdict.low, verdict.high
    if ratio is None or low is None or high is None or not 0.0 < low <= high < math.inf:
        return None
    if verdict.verdict in ("faster", "slower") and ratio == 1.0:
        return None
    half, freedom = max(math.log(ratio / low), math.log(high / ratio)), verdict.rounds - 1
    multiplier = MULTIPLIERS.get(verdict.rounds) or float(stdtrit(freedom, 0.5 + COMPUTED / 2.0))
    return Estimate(math.log(ratio), half / multiplier, freedom)


def of_values(first: Sequence[float], second: Sequence[float]) -> Estimate | None:
    """Return how far the means of two lots of independent logarithms are apart (Welch); None below 3 of either."""
    if min(len(first), len(second)) < MIN_VALUES:
        return None
    means = [Estimate(float(np.mean(one)), _error(one), len(one) - 1) for one in (first, second)]
    return combined(means, (1.0, -1.0))


def of_rounds(interval: Interval, rounds: int) -> Estimate:
    """Return the mean that an interval of LEVEL over so many rounds is of; its wider side stands for both."""
    half = max(interval.estimate - interval.low, interval.high - interval.estimate)
    return Estimate(interval.estimate, half / float(stdtrit(rounds - 1, 0.5 + LEVEL / 2.0)), rounds - 1)


def _error(values: Sequence[float]) -> float:
    """Return the standard error of a mean."""
    return float(np.std(values, ddof=1)) / math.sqrt(len(values))


def combined(estimates: Sequence[Estimate], weights: Sequence[float]) -> Estimate:
    """Return a weighted sum of independent estimates; its degrees of freedom are Welch's and Satterthwaite's."""
    parts = [(weight * one.error) ** 2 for one, weight in zip(estimates, weights, strict=True)]
    centre = sum(weight * one.centre for one, weight in zip(estimates, weights, strict=True))
    below = sum(part**2 / one.freedom for part, one in zip(parts, estimates, strict=True))
    freedom = sum(parts) ** 2 / below if below else min(one.freedom for one in estimates)
    return Estimate(centre, math.sqrt(sum(parts)), freedom)


def interval_of(estimate: Estimate, count: int) -> Interval:
    """Return the interval of one of `count` logarithms whose intervals hold together at the level of all."""
    error = _SPENT * (1.0 - LEVEL) / count
    half = float(stdtrit(estimate.freedom, 1.0 - error / 2.0)) * estimate.error
    return Interval(estimate=estimate.centre, low=estimate.centre - half, high=estimate.centre + half)

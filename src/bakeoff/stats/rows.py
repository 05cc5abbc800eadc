"""The parts of a gap, all at once: an interval for each, and which of them are surely not 0.

A row is a difference of two contenders' time in one thing: share of the second's step times its raced step time, minus
the same of the first. Two things vary: shares between rounds of traced trials, whose mean is taken, and step times
between raced rounds, whose medians are. They are measured in different processes, so that their variances add up (Welch
and Satterthwaite's degrees of freedom). That of two medians of the same rounds has no formula that holds where a loud
machine slows both at times; it is that of rounds that are drawn again and again from those that there are. With five
rounds, signed ranks reach no level that is fit for many rows, so the intervals are by Student's t.

Sources: B. L. Welch, "The generalization of Student's problem when several different population variances are
involved", Biometrika 34, 1947; B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7,
1979; S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from bakeoff.spec.verdict import Interval
from bakeoff.stats.intervals import MIN_VALUES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LEVEL = 0.05
"""The chance that any row is told apart where no row differs: over both tables of a pair."""

DRAWS = 400
"""Of all rounds, with repetition: the standard error that they give is itself known to 4 %."""

ROUNDING = 1e-9
"""Differences below this share of a step are the rounding of sums."""


class Spread(NamedTuple):
    """How sure a difference is: the standard error of its mean, with its degrees of freedom."""

    error: float
    freedom: float


class Found(NamedTuple):
    """What is known of one row."""

    interval: Interval | None
    told_apart: bool


class Raced(NamedTuple):
    """How sure two step times are, of the same rounds."""

    medians: NDArray[np.float64]
    """Medians of first and second, in seconds, over rounds drawn again: (draws, 2)."""
    rounds: int


def raced(pairs: Sequence[tuple[float, float]]) -> Raced | None:
    """Return how sure the medians of two contenders over their common rounds are; None of too few rounds.

    The same rounds are drawn every time, so that records give the same intervals.
    """
    if len(pairs) < MIN_VALUES:
        return None
    drawn = np.random.default_rng(0).integers(len(pairs), size=(DRAWS, len(pairs)))
    return Raced(np.median(np.asarray(pairs)[drawn], axis=1), len(pairs))


def spread_of(traced: Sequence[float], weights: tuple[float, float], known: Raced | None) -> Spread | None:
    """Return how sure a row is: a mean over rounds of traces, and weights times two raced step times.

    None where there are too few rounds of either.
    """
    if known is None or len(traced) < MIN_VALUES:
        return None
    raced_variance = float(np.var(known.medians @ np.asarray(weights))) * known.rounds / (known.rounds - 1)
    variances = (float(np.var(traced, ddof=1)) / len(traced), raced_variance)
    freedoms = (len(traced) - 1, known.rounds - 1)
    whole = sum(variances)
    parts = sum(one**2 / freedom for one, freedom in zip(variances, freedoms, strict=True))
    return Spread(math.sqrt(whole), whole**2 / parts if parts else float(min(freedoms)))


def told_apart(
    differences: Sequence[float],
    spreads: Sequence[Spread | None],
    *,
    scale: float,
    tested: Sequence[bool],
    level: float,
) -> list[Found]:
    """Return each row's interval at the level that Holm's procedure holds it to, and whether that leaves out 0.

    Rows that are not `tested`, because they are small on both sides, or that have no spread, count for nothing.
    `scale` is a whole step, in the unit of the differences.
    """
    chances = [
        1.0 if spread is None or not is_tested else _chance(difference, spread, scale)
        for difference, spread, is_tested in zip(differences, spreads, tested, strict=True)
    ]
    order = sorted(range(len(chances)), key=lambda index: chances[index])
    count = sum(tested)
    found: dict[int, Found] = {}
    is_going_on, held = True, level / max(1, count)
    for rank, index in enumerate(order):
        if is_going_on:
            held = level / max(1, count - rank)
            is_going_on = rank < count and chances[index] <= held
        found[index] = Found(_interval(differences[index], spreads[index], held), is_going_on)
    return [found[index] for index in range(len(differences))]


def _chance(difference: float, spread: Spread, scale: float) -> float:
    """Return how probable so large a difference is where there is none."""
    if abs(difference) <= ROUNDING * scale:
        return 1.0
    if not spread.error:
        return 0.0
    return float(2.0 * stdtr(spread.freedom, -abs(difference) / spread.error))


def _interval(difference: float, spread: Spread | None, level: float) -> Interval | None:
    """Return the interval of a difference; None without a spread."""
    if spread is None:
        return None
    half = float(stdtrit(spread.freedom, 1.0 - level / 2.0)) * spread.error
    return Interval(estimate=difference, low=difference - half, high=difference + half)

"""The parts of a gap, all at once: an interval for each, and which of them are surely not 0.

A row is a difference of two contenders' time in one thing: share of the second's step times its raced step time, minus
the same of the first. Two things vary, in different processes: shares between rounds of traced trials, whose mean is
taken, and step times between raced rounds, whose medians are. That of two medians of the same rounds has no formula
that holds where a loud machine slows both at times; it is that of rounds that are drawn again and again from those that
there are. With five rounds, signed ranks reach no level that is fit for many rows, so the intervals are by Student's t
with Welch and Satterthwaite's degrees of freedom.

A step time is a factor: what is not known of it moves a part by a share of that part. So the end of an interval is at
the distance that both have together, the quantile times the error of the shares, and the longer side's part times what
the quantile times the error of the ratio's logarithm makes of it (intervals from those of their parts: G. Y. Zou and A.
Donner). A part that one contender alone has then differs for sure, however little is known of its step, where an error
in proportion to the part would hide it. The level of both together moves no sign, and widens the intervals.

Sources: B. L. Welch, "The generalization of Student's problem when several different population variances are
involved", Biometrika 34, 1947; B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7,
1979; S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979;
G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a general approach", Statistics in
Medicine 27, 2008.
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

LEVEL = 0.05
"""The chance that any interval of both tables of a pair is wrong."""

SCALE_LEVEL = 0.01
"""Of it, for the level of both contenders together, which is the same for all rows and tells none of them apart."""

DRAWS = 400
"""Of all rounds, with repetition: the standard error that they give is itself known to 4 %."""

ROUNDING = 1e-9
"""Differences below this share of a step are the rounding of sums."""

FARTHEST = 1e4
"""In standard errors: with four degrees of freedom the chance is then below 1e-15."""

STEEPEST = 700.0
"""The largest exponent of which there is a power."""


class Shares(NamedTuple):
    """What a row takes of both contenders' steps, in each round of traces."""

    first: Sequence[float]
    second: Sequence[float]


class RowInterval(NamedTuple):
    """What is known of one row."""

    interval: Interval | None
    told_apart: bool


class Raced(NamedTuple):
    """What the race knows of two contenders."""

    first_s: float
    second_s: float
    ratio_error: float
    """Standard error of the logarithm of the ratio of both."""
    scale_error: float
    """That of the logarithm of the first."""
    freedom: int


class _Row(NamedTuple):
    """A row, from the shorter side to the longer one, in seconds."""

    difference: float
    """Not below 0."""
    longer: float
    shares_error: float
    ratio_error: float
    freedom: float
    sign: int
    """-1: the first is the longer one."""

    def distance(self, errors: float, direction: int) -> float:
        """Return how far the end of an interval of so many standard errors is, below (-1) or above (1)."""
        exponent = min(errors * self.ratio_error, STEEPEST)
        return math.hypot(self.longer * math.expm1(direction * exponent), errors * self.shares_error)


def raced(pairs: Sequence[tuple[float, float]], steps_s: tuple[float, float]) -> Raced | None:
    """Return what the race knows of two contenders by the rounds that both ran; None of too few rounds.

    `steps_s` are their step times. The same rounds are drawn every time, so that records give the same intervals.
    """
    rounds = len(pairs)
    if rounds < MIN_VALUES:
        return None
    drawn = np.random.default_rng(0).integers(rounds, size=(DRAWS, rounds))
    first, second = np.log(np.median(np.asarray(pairs)[drawn], axis=1)).T
    # Of n values, medians of those that are drawn again vary by (n - 1) / n of what those of new ones do.
    wider = math.sqrt(rounds / (rounds - 1))
    return Raced(*steps_s, wider * float(np.std(second - first)), wider * float(np.std(first)), rounds - 1)


def told_apart(
    rows: Sequence[Shares], known: Raced | None, *, tested: Sequence[bool], tables: int = 1
) -> list[RowInterval]:
    """Return each row's interval in seconds, at the level that Holm's procedure holds it to, and whether it has no 0.

    Rows that are not `tested`, because they are small on both sides, count for nothing. There are so many `tables`, of
    which this is one. With too few rounds of the race or of traces there is no interval.
    """
    if known is None or not rows or len(rows[0].first) < MIN_VALUES:
        return [RowInterval(None, told_apart=False) for _ in rows]
    level = (LEVEL - SCALE_LEVEL) / tables
    sides = [_row(row, known) for row in rows]
    chances = [_chance(one, known) if is_tested else 1.0 for one, is_tested in zip(sides, tested, strict=True)]
    order = sorted(range(len(chances)), key=lambda index: chances[index])
    count = sum(tested)
    found: dict[int, RowInterval] = {}
    is_going_on, held = True, level / max(1, count)
    for rank, index in enumerate(order):
        if is_going_on:
            held = level / max(1, count - rank)
            is_going_on = rank < count and chances[index] <= held
        found[index] = RowInterval(_interval(sides[index], known, held), is_going_on)
    return [found[index] for index in range(len(rows))]


def _row(row: Shares, known: Raced) -> _Row:
    """Return a row with how sure it is."""
    first, second = (
        np.asarray(shares) * step_s for shares, step_s in zip(row, (known.first_s, known.second_s), strict=True)
    )
    differences = second - first
    difference, rounds = float(np.mean(differences)), len(differences)
    longer = float(max(np.mean(first), np.mean(second)))
    shares_error = float(np.std(differences, ddof=1)) / math.sqrt(rounds)
    variances = (shares_error**2, (longer * known.ratio_error) ** 2)
    parts = sum(one**2 / freedom for one, freedom in zip(variances, (rounds - 1, known.freedom), strict=True))
    freedom = sum(variances) ** 2 / parts if parts else float(min(rounds - 1, known.freedom))
    return _Row(abs(difference), longer, shares_error, known.ratio_error, freedom, -1 if difference < 0 else 1)


def _chance(row: _Row, known: Raced) -> float:
    """Return how probable so large a difference is where there is none."""
    if row.difference <= ROUNDING * max(known.first_s, known.second_s):
        return 1.0
    from scipy.optimize import brentq  # here: it takes longer to import than all else of a short command

    def beyond(errors: float) -> float:
        return row.difference - row.distance(errors, -1)

    errors = FARTHEST if beyond(FARTHEST) >= 0 else float(brentq(beyond, 0.0, FARTHEST))
    return float(2.0 * stdtr(row.freedom, -errors))


def _interval(row: _Row, known: Raced, level: float) -> Interval:
    """Return the interval of a row, in seconds."""
    errors = float(stdtrit(row.freedom, 1.0 - level / 2.0))
    ends = sorted(row.sign * (row.difference + direction * row.distance(errors, direction)) for direction in (-1, 1))
    scale = math.exp(float(stdtrit(known.freedom, 1.0 - SCALE_LEVEL / 2.0)) * known.scale_error)
    low, high = (
        end * scale if (end > 0) == outwards else end / scale for end, outwards in zip(ends, (False, True), strict=True)
    )
    return Interval(estimate=row.sign * row.difference, low=low, high=high)

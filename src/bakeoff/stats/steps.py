"""Where a series of independent values steps: E-divisive, whose significance is found by permutation.

Sources: Matteson and James, "A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data", Journal
of the American Statistical Association 109, 2014, for the method; Daly, Brown, Ingo, O'Leary and Bradford, "The Use of
Change Point Detection to Identify Software Performance Regressions in a Continuous Integration System", ICPE 2020, for
its use on series like these.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

LEVEL = 0.01
"""The probability, at most, that any step is found in a series without one, whatever its distribution is."""

FEWEST = 12
"""Values of a series in which a step is looked for: of the 924 ways in which twelve can be parted in halves two are as
far apart as a step in their middle, well below LEVEL; of the 252 of ten, two are so near to it that chance decides."""

SHORTEST = 2
"""Values on each side of a step: one alone is as well an outlier."""

PERMUTATIONS = 999
"""The smallest p is then 0.001, a tenth of LEVEL; Matteson and James take 499."""

SEED = 0
"""Of the permutations: the same values always give the same steps."""

CHUNK, CHUNK_BYTES = 100, 1 << 24
"""Permutations that are looked at together: so many, or as many whose sums stay near the processor's cache."""


class ChangePoint(NamedTuple):
    """A place where a series steps."""

    place: int
    """Index of the first value after it."""
    before: float
    """Median of the values since the step before it, or since the beginning."""
    after: float
    """Median of the values until the next one, or until the end."""
    p: float
    """The share of orders of the values, of those drawn, in which some step is at least as clear."""


def steps(values: Sequence[float]) -> list[ChangePoint]:
    """Return every step of a series, in its order; none in fewer than FEWEST values.

    Parts of the series are divided one after another where their two sides are furthest apart, until the next division
    is no clearer than in random orders of the values within the parts.
    """
    series = np.asarray(values, dtype=np.float64)
    if len(series) < FEWEST:
        return []
    random = np.random.default_rng(SEED)
    bounds, found = [0, len(series)], {}
    while True:
        index, clearness = max((_clearest(series[low:high], low) for low, high in pairwise(bounds)), key=_by_clearness)
        p = _p(series, bounds, clearness, random) if clearness > 0 else 1.0
        if p > LEVEL:
            break
        bounds = sorted([*bounds, index])
        found[index] = p
    middles = {low: float(np.median(series[low:high])) for low, high in pairwise(bounds)}
    return [
        ChangePoint(place=index, before=middles[low], after=middles[index], p=found[index])
        for low, index in pairwise(bounds[:-1])
    ]


def _by_clearness(division: tuple[int, float]) -> float:
    """Return by what divisions are compared."""
    return division[1]


def _clearest(part: Array, low: int) -> tuple[int, float]:
    """Return where a part, which begins at `low`, is best divided, and how clear that is."""
    if len(part) < 2 * SHORTEST:
        return low, 0.0
    clearness = _clearness(part[None])[0]
    place = int(np.argmax(clearness.max(axis=1)))
    return low + place, float(clearness[place].max())


def _p(series: Array, bounds: list[int], clearness: float, random: np.random.Generator) -> float:
    """Return the share of orders, of random ones and the one that is, in which some part divides as clearly.

    It is a lower bound as soon as it is above LEVEL: what is left of the permutations could not take it below again.
    """
    parts = [series[low:high] for low, high in pairwise(bounds) if high - low >= 2 * SHORTEST]
    longest = max(part.size for part in parts)
    chunk = max(1, min(CHUNK, CHUNK_BYTES // (longest**2 * series.itemsize)))
    as_clear = 1
    for begun in range(0, PERMUTATIONS, chunk):
        count = min(chunk, PERMUTATIONS - begun)
        orders = [random.permuted(np.tile(part, (count, 1)), axis=1) for part in parts]
        best = np.max([_clearness(one).max(axis=(1, 2)) for one in orders], axis=0)
        # A sum in another order may differ in its last digits.
        as_clear += int(np.count_nonzero(best >= clearness * (1.0 - 1e-9)))
        if as_clear > LEVEL * (1 + PERMUTATIONS):
            break
    return as_clear / (1 + PERMUTATIONS)


def _clearness(orders: Array) -> Array:
    """Return, for series (count, length), the statistic Q of each division: (count, length, length + 1).

    The second axis is where the right side begins, the third where it ends: values behind it are left out, so that a
    later step hides none. Divisions with too short a side have 0.
    """
    count, length = orders.shape
    sums = np.zeros((count, length + 1, length + 1))
    np.cumsum(np.abs(orders[:, :, None] - orders[:, None, :]), axis=1, out=sums[:, 1:, 1:])
    np.cumsum(sums, axis=2, out=sums)  # sums[:, i, j] is over the distances of the first i values to the first j
    begin, end = np.arange(length)[:, None], np.arange(length + 1)[None, :]
    left, right = begin, end - begin
    is_long = (left >= SHORTEST) & (right >= SHORTEST)
    m, n = np.where(is_long, left, SHORTEST), np.where(is_long, right, SHORTEST)
    within = np.diagonal(sums, axis1=1, axis2=2)
    of_left, joint = within[:, :length, None], sums[:, :length, :]
    between = joint - of_left
    of_right = within[:, None, :] - 2.0 * joint + of_left
    energy = 2.0 * between / (m * n) - of_left / (m * (m - 1)) - of_right / (n * (n - 1))
    clearness: Array = np.where(is_long, energy * (m * n / (m + n)), 0.0)
    return clearness

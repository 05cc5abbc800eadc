"""The boundaries of the scheduled looks: what it takes to decide a pair, fixed before any number is seen.

With them, a winner is named among m pairs that do not differ in at most 5 % of all comparisons, over all looks and
pairs together. benchmarks/boundaries.py makes both tables from 4,000,000 draws and explains how.
"""

from __future__ import annotations

import math
from functools import cache

LOOKS = (5, 7, 10, 14, 20)
"""The numbers of rounds after which verdicts can be reached. Below 5, two modes of a process pass for no spread."""
FROM_SIGN = 10
"""From this look on a sign test decides, too: below it no number of rounds on one side is rare enough."""
SPENT = 0.045
"""Of the 5 %, by normal noise; the rest is kept for noise that is not (docs/verdicts.md)."""

Row = tuple[tuple[float, ...], tuple[int | None, ...]]
# One row for each size m of a family, from 1 on: the multiplier c_n of the standard error at LOOKS; and from FROM_SIGN
# on how many rounds may lie on the other side, None where no number of rounds on one side is convincing enough.
_OWN: tuple[Row, ...] = (
    ((5.33, 3.83, 3.1, 2.7, 2.41), (0, 1, 3)),
    ((6.54, 4.5, 3.56, 3.09, 2.75), (None, 0, 2)),
    ((7.36, 4.94, 3.85, 3.31, 2.96), (None, 0, 2)),
    ((8.0, 5.25, 4.06, 3.48, 3.1), (None, 0, 2)),
    ((8.55, 5.5, 4.22, 3.6, 3.2), (None, 0, 2)),
    ((9.02, 5.71, 4.35, 3.71, 3.29), (None, 0, 2)),
    ((9.43, 5.9, 4.46, 3.8, 3.37), (None, 0, 2)),
    ((9.81, 6.08, 4.57, 3.87, 3.43), (None, 0, 2)),
    ((10.15, 6.24, 4.66, 3.94, 3.49), (None, 0, 2)),
    ((10.37, 6.34, 4.72, 3.99, 3.53), (None, 0, 1)),
    ((10.69, 6.47, 4.8, 4.04, 3.57), (None, 0, 1)),
    ((10.95, 6.6, 4.87, 4.09, 3.61), (None, 0, 1)),
    ((11.21, 6.71, 4.94, 4.14, 3.65), (None, 0, 1)),
    ((11.4, 6.81, 4.99, 4.18, 3.68), (None, 0, 1)),
    ((11.63, 6.9, 5.05, 4.23, 3.71), (None, 0, 1)),
    ((11.82, 6.98, 5.1, 4.26, 3.75), (None, 0, 1)),
    ((12.05, 7.08, 5.15, 4.29, 3.78), (None, 0, 1)),
    ((12.23, 7.15, 5.2, 4.33, 3.8), (None, 0, 1)),
    ((12.39, 7.24, 5.25, 4.35, 3.83), (None, 0, 1)),
    ((12.61, 7.3, 5.29, 4.38, 3.85), (None, 0, 1)),
    ((12.8, 7.38, 5.33, 4.41, 3.87), (None, None, 1)),
    ((12.94, 7.43, 5.36, 4.43, 3.89), (None, None, 1)),
    ((13.13, 7.49, 5.39, 4.46, 3.91), (None, None, 1)),
    ((13.27, 7.56, 5.43, 4.48, 3.93), (None, None, 1)),
    ((13.43, 7.62, 5.47, 4.5, 3.94), (None, None, 1)),
    ((13.56, 7.67, 5.5, 4.53, 3.96), (None, None, 1)),
    ((13.71, 7.73, 5.54, 4.55, 3.98), (None, None, 1)),
    ((13.85, 7.77, 5.57, 4.57, 3.99), (None, None, 1)),
    ((13.95, 7.82, 5.61, 4.59, 4.01), (None, None, 1)),
    ((14.04, 7.86, 5.63, 4.61, 4.03), (None, None, 1)),
    ((14.14, 7.91, 5.66, 4.64, 4.04), (None, None, 1)),
    ((14.29, 7.95, 5.68, 4.66, 4.06), (None, None, 1)),
    ((14.42, 8.0, 5.72, 4.68, 4.07), (None, None, 1)),
    ((14.52, 8.07, 5.74, 4.7, 4.09), (None, None, 1)),
    ((14.61, 8.12, 5.77, 4.72, 4.1), (None, None, 1)),
    ((14.72, 8.16, 5.8, 4.73, 4.11), (None, None, 1)),
)
"""By the pair's own variance: two contenders, and pairs that no other contender ran beside."""

_MODERATED: tuple[Row, ...] = (
    ((3.83, 3.32, 2.91, 2.62, 2.37), (0, 1, 3)),
    ((4.4, 3.78, 3.31, 2.97, 2.7), (None, 0, 2)),
    ((4.76, 4.06, 3.54, 3.18, 2.89), (None, 0, 2)),
    ((5.02, 4.27, 3.71, 3.33, 3.03), (None, 0, 2)),
    ((5.22, 4.43, 3.85, 3.45, 3.13), (None, 0, 2)),
    ((5.4, 4.58, 3.96, 3.54, 3.22), (None, 0, 2)),
    ((5.55, 4.7, 4.06, 3.62, 3.29), (None, 0, 2)),
    ((5.68, 4.8, 4.14, 3.69, 3.35), (None, 0, 2)),
    ((5.81, 4.89, 4.21, 3.75, 3.41), (None, 0, 2)),
    ((5.9, 4.95, 4.26, 3.79, 3.44), (None, 0, 1)),
    ((6.0, 5.02, 4.32, 3.84, 3.48), (None, 0, 1)),
    ((6.09, 5.09, 4.37, 3.89, 3.52), (None, 0, 1)),
    ((6.18, 5.15, 4.42, 3.93, 3.56), (None, 0, 1)),
    ((6.26, 5.21, 4.46, 3.97, 3.59), (None, 0, 1)),
    ((6.33, 5.26, 4.5, 4.01, 3.62), (None, 0, 1)),
    ((6.4, 5.33, 4.55, 4.04, 3.65), (None, 0, 1)),
    ((6.46, 5.37, 4.58, 4.07, 3.68), (None, 0, 1)),
    ((6.53, 5.41, 4.61, 4.1, 3.7), (None, 0, 1)),
    ((6.58, 5.46, 4.65, 4.13, 3.73), (None, 0, 1)),
    ((6.64, 5.5, 4.68, 4.15, 3.75), (None, 0, 1)),
    ((6.71, 5.54, 4.71, 4.17, 3.77), (None, 0, 1)),
    ((6.75, 5.57, 4.73, 4.19, 3.79), (None, None, 1)),
    ((6.79, 5.6, 4.75, 4.21, 3.81), (None, None, 1)),
    ((6.83, 5.63, 4.78, 4.23, 3.83), (None, None, 1)),
    ((6.88, 5.67, 4.81, 4.25, 3.85), (None, None, 1)),
    ((6.92, 5.7, 4.83, 4.27, 3.86), (None, None, 1)),
    ((6.97, 5.73, 4.86, 4.29, 3.88), (None, None, 1)),
    ((7.01, 5.75, 4.88, 4.31, 3.9), (None, None, 1)),
    ((7.04, 5.78, 4.91, 4.33, 3.91), (None, None, 1)),
    ((7.08, 5.81, 4.93, 4.35, 3.93), (None, None, 1)),
    ((7.13, 5.84, 4.95, 4.36, 3.94), (None, None, 1)),
    ((7.16, 5.87, 4.97, 4.38, 3.96), (None, None, 1)),
    ((7.2, 5.89, 4.99, 4.4, 3.97), (None, None, 1)),
    ((7.23, 5.92, 5.01, 4.42, 3.99), (None, None, 1)),
    ((7.27, 5.93, 5.03, 4.43, 4.0), (None, None, 1)),
    ((7.3, 5.96, 5.05, 4.45, 4.01), (None, None, 1)),
)
"""With the prior of `stats.decision`."""

MAX_FAMILY = 36
"""The largest family with boundaries: all pairs of 9 contenders, such as three frameworks in three tiers."""

MAX_CONTENDERS = 9
"""Whose pairs are MAX_FAMILY."""


def check_family(pairs: int) -> None:
    """Raise ValueError unless there are boundaries for a family of this many pairs."""
    if not 1 <= pairs <= MAX_FAMILY:
        most = f"{MAX_FAMILY}, which are 2 to {MAX_CONTENDERS} contenders"
        msg = f"no boundaries for a family of {pairs} pairs: from 1 to {most}"
        raise ValueError(msg)


def multiplier(look: int, family: int, *, moderated: bool) -> float:
    """Return c_n at one of LOOKS, in standard errors; `moderated`: with the prior of three and more contenders."""
    check_family(family)
    return (_MODERATED if moderated else _OWN)[family - 1][0][LOOKS.index(look)]


def sign_index(look: int, family: int, *, moderated: bool) -> int | None:
    """Return how many rounds may lie on the other side at a look; None where the sign test cannot decide."""
    check_family(family)
    late = [one for one in LOOKS if one >= FROM_SIGN]
    return (_MODERATED if moderated else _OWN)[family - 1][1][late.index(look)] if look in late else None


@cache
def sign_levels(count: int) -> tuple[float, ...]:
    """Return, for k = 0, 1, ..., the probability that at most k of `count` signs differ from the others."""
    below = 0.0
    levels = []
    for k in range(count // 2 + 1):
        below += math.comb(count, k) / 2.0**count
        levels.append(min(1.0, 2.0 * below))
    return tuple(levels)

"""The boundaries of the scheduled looks: how wide an interval is at each, fixed before any number is seen.

With them, a difference is reported among m pairs that do not differ in at most 5 % of all comparisons, over all looks
and pairs together. benchmarks/boundaries.py computes them and explains how: a fifth of the 5 % / m goes to t-intervals
at the first three looks, for large effects; the rest to signed-rank intervals, which tolerate heavy tails. Rows 1 to 6
come from 200,000 simulated pairs, rows 7 to 36 from 4,000,000, both with seed 5.

The signed-rank boundaries are shipped as indices and not as levels: a rounded level can lose a whole look.
"""

from __future__ import annotations

T_LOOKS = (3, 4, 5)
RANK_LOOKS = (7, 10, 14, 20)
LOOKS = T_LOOKS + RANK_LOOKS
"""The numbers of rounds after which intervals are computed and verdicts can be reached."""

# One row for each size m of a family, from 1 on: the multiplier c_n of the standard error at T_LOOKS, and the index
# k_n among the sorted Walsh averages at RANK_LOOKS; None where no data of that length can be convincing enough.
_TABLE: tuple[tuple[tuple[float, ...], tuple[int | None, ...]], ...] = (
    ((15.87, 8.09, 5.97), (0, 4, 14, 41)),
    ((23.05, 10.44, 7.30), (None, 2, 12, 37)),
    ((28.94, 12.18, 8.22), (None, 2, 10, 33)),
    ((33.83, 13.53, 8.92), (None, 1, 9, 31)),
    ((37.74, 14.57, 9.44), (None, 0, 8, 30)),
    ((41.60, 15.55, 9.93), (None, 0, 8, 28)),
    ((43.38, 16.00, 10.15), (None, 0, 7, 27)),
    ((46.34, 16.73, 10.50), (None, 0, 6, 26)),
    ((49.36, 17.45, 10.85), (None, None, 6, 25)),
    ((52.25, 18.13, 11.17), (None, None, 6, 25)),
    ((54.75, 18.71, 11.44), (None, None, 6, 25)),
    ((57.29, 19.28, 11.71), (None, None, 6, 25)),
    ((59.68, 19.82, 11.95), (None, None, 6, 25)),
    ((62.28, 20.39, 12.22), (None, None, 5, 25)),
    ((64.48, 20.87, 12.44), (None, None, 5, 25)),
    ((66.68, 21.35, 12.65), (None, None, 5, 24)),
    ((68.80, 21.80, 12.85), (None, None, 5, 24)),
    ((70.64, 22.19, 13.03), (None, None, 5, 23)),
    ((72.76, 22.63, 13.23), (None, None, 4, 23)),
    ((74.39, 22.97, 13.38), (None, None, 4, 23)),
    ((76.43, 23.39, 13.56), (None, None, 4, 23)),
    ((78.41, 23.80, 13.74), (None, None, 4, 22)),
    ((80.37, 24.19, 13.91), (None, None, 4, 22)),
    ((81.82, 24.48, 14.04), (None, None, 4, 21)),
    ((83.48, 24.82, 14.18), (None, None, 4, 21)),
    ((84.97, 25.11, 14.31), (None, None, 4, 21)),
    ((86.63, 25.44, 14.45), (None, None, 3, 21)),
    ((88.27, 25.76, 14.59), (None, None, 3, 21)),
    ((90.45, 26.18, 14.77), (None, None, 3, 21)),
    ((92.21, 26.52, 14.92), (None, None, 3, 21)),
    ((93.67, 26.80, 15.04), (None, None, 3, 20)),
    ((94.91, 27.04, 15.14), (None, None, 3, 20)),
    ((96.32, 27.31, 15.25), (None, None, 3, 20)),
    ((98.43, 27.71, 15.42), (None, None, 3, 19)),
    ((99.81, 27.97, 15.53), (None, None, 3, 19)),
    ((100.91, 28.17, 15.62), (None, None, 3, 19)),
)

MAX_FAMILY = len(_TABLE)
"""The largest family with boundaries, 36: all pairs of 9 contenders, such as three frameworks in three tiers."""


def check_family(pairs: int) -> None:
    """Raise ValueError unless there are boundaries for a family of this many pairs."""
    if not 1 <= pairs <= MAX_FAMILY:
        msg = f"no boundaries for a family of {pairs} pairs: from 1 to {MAX_FAMILY}, which are 2 to 9 contenders"
        raise ValueError(msg)


def t_multiplier(look: int, family: int) -> float:
    """Return c_n, the half-width of the t-interval at one of T_LOOKS, in standard errors of the mean."""
    check_family(family)
    return _TABLE[family - 1][0][T_LOOKS.index(look)]


def rank_index(look: int, family: int) -> int | None:
    """Return k_n, the index of the signed-rank interval's lower bound among the sorted Walsh averages.

    `look` is one of RANK_LOOKS. None at a look that is too early for a family of this size.
    """
    check_family(family)
    return _TABLE[family - 1][1][RANK_LOOKS.index(look)]

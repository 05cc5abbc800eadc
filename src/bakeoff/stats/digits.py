"""Numbers with the digits that their interval supports, and no more."""

from __future__ import annotations

from typing import NamedTuple

# Nobody acts on a fifth digit of a step time or a ratio, however narrow the interval.
MAX_SIGNIFICANT = 4


class Digits(NamedTuple):
    """An estimate and its interval, ready to print, all with the same decimals."""

    estimate: str
    low: str
    high: str


def digits(estimate: float, low: float, high: float, *, apart_from: tuple[float, ...] = ()) -> Digits:
    """Round to the place of the first digit of the interval's half-width.

    More decimals are given where rounding would carry a bound onto or across one of `apart_from`: a ratio of
    1.15 [1.04, 1.26] must not read [1.0, 1.3] when what counts is that it lies above 1.
    """
    largest = max(abs(estimate), abs(low), abs(high))
    finest = MAX_SIGNIFICANT - 1 - _place(largest)
    half = (high - low) / 2.0
    decimals = finest if half <= 0.0 else min(finest, -_place(half))
    while decimals < finest and not _sides_kept(low, high, decimals, apart_from):
        decimals += 1
    return Digits(*(_fixed(value, decimals) for value in (estimate, low, high)))


def significant(value: float, count: int = 3) -> str:
    """Round a number that has no interval to `count` significant digits."""
    return _fixed(value, count - 1 - _place(abs(value)))


def _place(value: float) -> int:
    """Give the power of ten of the first significant digit; 0 for zero. 0.0996 counts as 0.1, as it prints."""
    return int(f"{value:.1e}".partition("e")[2]) if value else 0


def _sides_kept(low: float, high: float, decimals: int, marks: tuple[float, ...]) -> bool:
    """Tell whether both bounds still stand on their own side of every mark after rounding."""
    return all(
        (bound > mark) == (round(bound, decimals) > mark) and (bound < mark) == (round(bound, decimals) < mark)
        for bound in (low, high)
        for mark in marks
    )


def _fixed(value: float, decimals: int) -> str:
    """Print with a fixed number of decimals; below zero decimals, whole tens, hundreds, ..."""
    rounded = round(value, decimals) + 0.0  # -0.0 + 0.0 is 0.0: no "-0"
    return f"{rounded:.{max(decimals, 0)}f}"

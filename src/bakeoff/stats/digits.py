"""Numbers with the digits that their interval supports, and no more."""

from __future__ import annotations

from typing import NamedTuple

MAX_SIGNIFICANT = 4
"""The most significant digits shown: nobody acts on a fifth digit of a step time or a ratio, however narrow its
interval is."""


class Digits(NamedTuple):
    """An estimate and its interval, ready to print, all with the same decimals."""

    estimate: str
    low: str
    high: str


def digits(estimate: float, low: float, high: float, *, apart_from: tuple[float, ...] = ()) -> Digits:
    """Return an estimate and its interval, rounded to the first digit of the interval's half-width.

    More decimals are kept where rounding would move a bound onto or across one of `apart_from`: a ratio of
    1.15 (1.04 to 1.26) must not read 1.0 to 1.3 when what matters is that it lies above 1. One more is kept where an
    estimate would read as one of its own bounds.
    """
    largest = max(abs(estimate), abs(low), abs(high))
    finest = MAX_SIGNIFICANT - 1 - _place(largest)
    half = (high - low) / 2.0
    decimals = finest if half <= 0.0 else min(finest, -_place(half))
    while decimals < finest and not _sides_kept(low, high, decimals, apart_from):
        decimals += 1
    if decimals < finest and low < estimate < high:
        shown = _fixed(estimate, decimals)
        decimals += shown in (_fixed(low, decimals), _fixed(high, decimals))
    return Digits(*(_fixed(value, decimals) for value in (estimate, low, high)))


def significant(value: float, count: int = 3) -> str:
    """Return a number that has no interval, rounded to `count` significant digits."""
    return _fixed(value, count - 1 - _place(abs(value)))


def _place(value: float) -> int:
    """Return the power of ten of the first significant digit; 0 for zero. 0.0996 counts as 0.1, as it is printed."""
    return int(f"{value:.1e}".partition("e")[2]) if value else 0


def _sides_kept(low: float, high: float, decimals: int, marks: tuple[float, ...]) -> bool:
    """Return whether rounding leaves both bounds on their side of every mark."""
    return all(
        (bound > mark) == (round(bound, decimals) > mark) and (bound < mark) == (round(bound, decimals) < mark)
        for bound in (low, high)
        for mark in marks
    )


def _fixed(value: float, decimals: int) -> str:
    """Return the number with so many decimals; with fewer than zero, in whole tens, hundreds, ..."""
    rounded = round(value, decimals) + 0.0  # -0.0 + 0.0 is 0.0: no "-0"
    return f"{rounded:.{max(decimals, 0)}f}"

"""Which batch size a search tries next: where memory should end by the attempts before, or by bisection: pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST = 1 << 20
"""Largest batch in samples: no real training run has a larger one, and work without memory would double for ever."""

AIMED = 8
"""So many attempts are aimed by the memory of those before; beyond, a bracket is halved, which always ends soon."""

BACK = 4
"""Where memory ends before the guess, the next step back is so many times as long as the last, from 8 % on."""

SHOWN_BYTES = 4_000_000
"""Two peaks that are less apart tell nothing: allocators take memory in pieces of up to some megabytes."""

HELD_BYTES = 16_000_000
"""A process that has run real steps holds more than this beyond its import."""

FURTHEST = 256
"""A jump goes at most so many times as far as the largest batch that fits: what is taken for a line may bend."""


def bracket(tried: Mapping[int, bool]) -> tuple[int, int | None]:
    """Return the largest batch below every one that did not fit, 0 for none, and the smallest that did not fit."""
    high = min((batch for batch, fits in tried.items() if not fits), default=None)
    below = [batch for batch, fits in tried.items() if fits and (high is None or batch < high)]
    return max(below, default=0), high


def guessed_end(peaks: Mapping[int, int], limit_bytes: int, sample_bytes: int) -> float | None:
    """Return the batch size at which memory should reach the limit; None where nothing shows.

    `peaks` are those of batches that fit. By a line through the largest and the next that is at most half of it, as
    neighbours' peaks may fall where they should rise; a sample takes at least its own bytes. Where no line shows, all
    of the largest peak is taken for its samples': that is too little, and so it fits.
    """
    if not peaks:
        return None
    large = max(peaks)
    small = max((batch for batch in peaks if 2 * batch <= large), default=large)
    rise_bytes = peaks[large] - peaks[small]
    if rise_bytes >= SHOWN_BYTES and rise_bytes >= sample_bytes * (large - small):
        return large + (limit_bytes - peaks[large]) * (large - small) / rise_bytes
    return large * limit_bytes / peaks[large] if peaks[large] >= HELD_BYTES else None


def next_batch(start: int, tried: Mapping[int, bool], precision: float, guess: float | None = None) -> int | None:
    """Return the batch size to try next; None at the end.

    Without a guess of where memory ends it doubles while batches fit, halves while none did, then bisects. With one, it
    tries just below, then just above it. `precision` is a share of the largest that fits: a bracket that is no wider,
    or one sample wide, is the end.
    """
    low, high = bracket(tried)
    if not tried:
        return start
    if low == 0:
        assert high is not None  # something was tried, and it did not fit
        return high // 2 or None
    if high is not None and high - low <= max(1, precision * low):
        return None
    aimed = _aimed(tried, guess, precision) if guess is not None and len(tried) <= AIMED else None
    if aimed is not None:
        return aimed
    if high is None:
        return min(2 * low, LARGEST) if low < LARGEST else None
    # Where a jump went too far, the end is as likely in one order of magnitude as in another.
    return max(low + 1, math.isqrt(low * high)) if high > 2 * low else (low + high) // 2


def _aimed(tried: Mapping[int, bool], guess: float, precision: float) -> int | None:
    """Return a size just below the guess, or just above it, or some way back from what did not fit; None for none."""
    low, high = bracket(tried)
    share = precision / 3.0  # below and above together are within the precision, with room for rounding
    below, above = math.floor(guess * (1.0 - share)), math.ceil(guess * (1.0 + share))
    # A step that hardly leaves what fits, or what does not, would gain nothing.
    least = low + max(1, math.floor(share * low))
    if high is None:
        most = min(FURTHEST * low, LARGEST)
        sizes = [min(below, most), above]
    else:
        most = high - max(1, math.floor(share * high))
        failures = sum(not fits for fits in tried.values())
        sizes = [below, above, math.floor(high * (1.0 - precision * BACK**failures))]
    return next((size for size in sizes if least <= size <= most), None)

"""Which batch size to try next, from those that were tried: pure, so that a search can be gone on with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST = 1 << 20
"""Samples: no batch of a real training run is larger, and work that takes no memory would never end the doubling."""


def bracket(tried: Mapping[int, bool]) -> tuple[int, int | None]:
    """Give the largest batch below every one that did not fit, 0 for none, and the smallest that did not fit."""
    high = min((batch for batch, fits in tried.items() if not fits), default=None)
    below = [batch for batch, fits in tried.items() if fits and (high is None or batch < high)]
    return max(below, default=0), high


def next_batch(start: int, tried: Mapping[int, bool], precision: float) -> int | None:
    """Double while batches fit, halve while none did, then bisect; None at the end.

    `precision` is a share of the largest that fits: a bracket that is no wider, or one sample wide, is the end.
    """
    low, high = bracket(tried)
    if not tried:
        return start
    if high is None:
        return min(2 * low, LARGEST) if low < LARGEST else None
    if low == 0:
        return high // 2 or None
    if high - low <= max(1, precision * low):
        return None
    return (low + high) // 2

"""A few numbers that stand for an array: they differ by at most as much as the arrays' worst element does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PROJECTIONS = 3
"""Sums with signs of their own: arrays whose samples are exchanged, zeroed or scaled agree in all of them by chance
only."""


def checksums(*arrays: NDArray[Any]) -> list[float]:
    """Return the largest magnitude, the mean one, and means by signs that only each array's size decides.

    Of several arrays they are those of all elements; never are two arrays copied at a time. None are returned where one
    is not finite: JSON could not hold it.
    """
    largest, sums, count = 0.0, np.zeros(1 + PROJECTIONS), 0
    for array in arrays:
        flat = np.asarray(array, np.float64).ravel()
        stream = np.random.RandomState(flat.size % 2**32)
        magnitudes = np.abs(flat)
        largest = max(largest, float(magnitudes.max(initial=0.0)))
        # One after another: all signs at once would take several times the memory of the array.
        signed = (flat * (stream.randint(0, 2, flat.size) * 2 - 1) for _ in range(PROJECTIONS))
        sums += [magnitudes.sum(), *(one.sum() for one in signed)]
        count += flat.size
    found = [largest, *(sums / count).tolist()]
    return found if all(map(math.isfinite, found)) else []


def farthest(found: list[float], expected: list[float]) -> float:
    """Return the largest difference of two arrays' checksums, in units of the expected array's largest magnitude."""
    if len(found) != len(expected) or not any(expected[:1]):
        return 0.0 if found == expected else float("inf")
    return max(abs(one - other) for one, other in zip(found, expected, strict=True)) / expected[0]

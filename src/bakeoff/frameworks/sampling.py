"""What becomes of a map's height and width: in NumPy, for frameworks that have no operation for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Pair = int | tuple[int, int]
"""A number for both axes of a map, or (vertical, horizontal)."""


def windows(length: int, size: int) -> list[tuple[int, int]]:
    """Return the windows of adaptive pooling: the i-th begins at floor(i * length / size), as PyTorch has them.

    They overlap where the size does not divide the length: each ends at ceil((i + 1) * length / size).
    """
    return [(index * length // size, -(-(index + 1) * length // size)) for index in range(size)]


def shares(length: int, size: int) -> NDArray[Any]:
    """Return the (size, length) matrix of the means of adaptive pooling."""
    found = np.zeros((size, length))
    for row, (start, end) in zip(found, windows(length, size), strict=True):
        row[start:end] = 1 / (end - start)
    return found


def bilinear(length: int, size: int) -> NDArray[Any]:
    """Return the (size, length) matrix of linear interpolation between the centres of points, the edges repeated."""
    centres = np.clip((np.arange(size) + 0.5) * length / size - 0.5, 0, length - 1)
    before = np.minimum(centres.astype(int), max(0, length - 2))
    weight = centres - before
    found = np.zeros((size, length))
    np.add.at(found, (np.arange(size), before), 1 - weight)
    np.add.at(found, (np.arange(size), np.minimum(before + 1, length - 1)), weight)
    return found


def counted(length: int, kernel: int, stride: int, padding: int) -> NDArray[Any]:
    """Return for each window along a padded axis how many of its points lie on the map."""
    starts = np.arange(-padding, length + padding - kernel + 1, stride)
    return np.minimum(starts + kernel, length) - np.maximum(starts, 0)


def pair(number: Pair) -> tuple[int, int]:
    """Return (vertical, horizontal)."""
    return number if isinstance(number, tuple) else (number, number)

"""What becomes of a map's height and width: in NumPy, for frameworks that have no operation for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Pair = int | tuple[int, int]
"""A number for both axes of a map, or (vertical, horizontal)."""

Sides = tuple[tuple[int, int], tuple[int, int]]
"""How much is put around a map: ((top, bottom), (left, right))."""


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


def counted(length: int, kernel: int, stride: int, padding: int, *, end: int = 0, edge: int = 0) -> NDArray[Any]:
    """Return for each window along a padded axis how many of its points lie on the map, or on its first `edge` around.

    `end` is what the axis has more at its end than its padding.
    """
    starts = np.arange(-padding, length + padding + end - kernel + 1, stride)
    return np.minimum(starts + kernel, length + edge) - np.maximum(starts, -edge)


Ends = tuple[int, int]
"""By how much the height and the width of a map are made longer at their ends, behind the padding."""


def ends(lengths: Sequence[int], kernel: Pair, stride: Pair, padding: Pair, *, ceil_mode: bool) -> Ends:
    """Return what a map lacks at its ends for the last windows of a pool in `ceil_mode`, which are PyTorch's."""
    if not ceil_mode:
        return 0, 0
    down, across = zip(lengths, pair(kernel), pair(stride), pair(padding), strict=True)
    return end(*down), end(*across)


def places(lengths: Sequence[int], kernel: Pair, stride: Pair, padding: Pair, *, ceil_mode: bool) -> tuple[int, int]:
    """Return how many windows a pool has down and across a map."""
    more = ends(lengths, kernel, stride, padding, ceil_mode=ceil_mode)
    axes = zip(lengths, pair(kernel), pair(stride), pair(padding), more, strict=True)
    down, across = ((length + 2 * edge + end - window) // step + 1 for length, window, step, edge, end in axes)
    return down, across


def end(length: int, kernel: int, stride: int, padding: int) -> int:
    """Return by how much a window beyond the last whole one leaves a padded axis; 0 where it begins behind the map."""
    last, rest = divmod(length + 2 * padding - kernel, stride)
    begins = (last + 1) * stride
    return stride - rest if rest and begins < padding + length else 0


def pair(number: Pair) -> tuple[int, int]:
    """Return (vertical, horizontal)."""
    return number if isinstance(number, tuple) else (number, number)

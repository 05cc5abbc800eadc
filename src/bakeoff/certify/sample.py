"""Large arrays, reduced to samples that are small enough to store for every trial.

An array of up to 65,536 elements is kept whole. The sample of a larger array holds, in this order, 65,536 elements at
seeded positions, the L2 norm, and 8 projections, which are sums of all elements with seeded signs. As no element is
left out of them, a permutation, a changed part or a scaling shows in the projections, too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_POSITIONS = 65_536  # 512 KiB in float64
_PROJECTIONS = 8  # one bit each of a random byte
_CHUNK = 1 << 20  # elements at a time: the temporary arrays stay in the cache


def sample(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return the sample of an array, as a vector; arrays of the same size have the same positions and signs."""
    flat = np.asarray(array, np.float64).reshape(-1)
    if flat.size <= _POSITIONS:
        return flat
    positions = np.random.RandomState(_POSITIONS).randint(0, flat.size, _POSITIONS, dtype=np.int64)
    return np.concatenate([flat[positions], [np.linalg.norm(flat)], _project(flat)])


def distance(actual: NDArray[Any], reference: NDArray[Any], floor: float = 0.0) -> float:
    """Return the largest error of a sample against the reference's; infinite for another shape, and for NaN or inf.

    The error of elements is relative to the reference's largest magnitude or `floor`, whichever is larger; that of the
    norm and the projections, which are sums over all elements, to the reference's norm or that of _POSITIONS elements
    of size `floor`.
    """
    if actual.shape != reference.shape or actual.dtype.kind != "f" or not _are_finite(actual, reference):
        return math.inf
    if actual.ndim > 1:  # Outputs are stored whole, however many there are.
        actual, reference = sample(actual), sample(reference)
    errors = [_relative((actual - reference)[:_POSITIONS], max(largest(reference), floor))]
    if reference.size > _POSITIONS:
        sums = slice(_POSITIONS, None)
        norm = max(float(reference[_POSITIONS]), floor * math.sqrt(_POSITIONS))
        errors.append(_relative(actual[sums] - reference[sums], norm))
    return max(errors)


def _are_finite(actual: NDArray[Any], reference: NDArray[Any]) -> bool:
    """Return whether both are numbers throughout: a NaN would hide where the largest of many errors is taken."""
    return bool(np.isfinite(actual).all() and np.isfinite(reference).all())


def kept(sampled: NDArray[Any]) -> NDArray[Any]:
    """Return the elements of a sample, without norm and projections; of a small array, all its elements."""
    return sampled.reshape(-1)[:_POSITIONS]


def largest(sampled: NDArray[Any]) -> float:
    """Return the largest magnitude of a sample's elements."""
    return float(np.abs(kept(sampled)).max(initial=0.0))


def _relative(difference: NDArray[Any], scale: float) -> float:
    """Return the largest difference divided by the scale."""
    error = float(np.abs(difference).max(initial=0.0))
    if error == 0.0:
        return 0.0
    return error / scale if scale > 0 else math.inf


def _project(flat: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of all elements with the signs of each projection."""
    sums = np.zeros(_PROJECTIONS)
    for signs, part in _signed(flat):
        for index in range(_PROJECTIONS):
            # Twice the sum of the elements with a plus sign, less the sum of all.
            sums[index] += 2.0 * part[(signs >> index) & 1 == 1].sum() - part.sum()
    return sums


def _signed(flat: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.float64]]]:
    """Yield the array in chunks, each with a random byte for every element: one bit for each projection's sign."""
    stream = np.random.RandomState(_PROJECTIONS)
    for start in range(0, flat.size, _CHUNK):
        part = flat[start : start + _CHUNK]
        yield np.frombuffer(stream.bytes(part.size), np.uint8), part

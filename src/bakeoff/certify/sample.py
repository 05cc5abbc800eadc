"""Large arrays, reduced to samples that are small enough to store for every trial.

An array of up to 65,536 elements is kept whole. The sample of a larger array holds, in this order, 65,536 elements at
seeded positions, the L2 norm, and 8 projections, which are sums of all elements with seeded signs. As no element is
left out of them, a permutation, a changed part or a scaling shows in the projections, too.

Outputs are reduced sample by sample, so that it stays known which are of which: logits of every place over 50,000
tokens are 5 GB for a batch of GPT-2 in float64, of which no record could be kept.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_POSITIONS = 65_536  # 512 KiB in float64
_PROJECTIONS = 8  # one bit each of a random byte
MASK = 1e4
"""Elements of this magnitude that no other comes within this factor of are a mask's constants, as -1e9 in the place of
logits that are left out. They are held by themselves: on their scale nothing else would be."""

_CHUNK = 1 << 16  # elements of a row at a time: the temporary arrays stay small, however many rows there are


def sample(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return the sample of an array, as a vector; arrays of the same size have the same positions and signs."""
    flat = np.asarray(array, np.float64).reshape(-1)
    if flat.size <= _POSITIONS:
        return flat
    return np.concatenate([flat[_positions(flat.size)], [np.linalg.norm(flat)], _project(flat[None])[0]])


def sampled_outputs(outputs: NDArray[Any]) -> NDArray[np.float64]:
    """Return outputs (batch, ...) as evidence holds them: whole, or with a row for each sample where these are large.

    A row holds elements and behind them the projections, divided by the root of the number of elements: each is then
    about as large as an element, and its error as an element's, so that nothing has to know where they begin.
    """
    if outputs.ndim < 2 or math.prod(outputs.shape[1:]) <= _POSITIONS + _PROJECTIONS:  # noqa: PLR2004 - with samples
        return np.asarray(outputs, np.float64)
    rows = outputs.reshape(len(outputs), -1)
    size = rows.shape[1]
    elements = np.asarray(rows[:, _positions(size)], np.float64)
    if _masks(elements).any():  # of a mask's constants a sum would have nothing but theirs
        rows = np.where(np.abs(rows) < np.abs(elements).max() / 2.0, rows, 0.0)
    return np.concatenate([elements, _project(rows) / math.sqrt(size)], axis=1)


def distance(actual: NDArray[Any], reference: NDArray[Any], floor: float = 0.0) -> float:
    """Return the largest error of a sample against the reference's; infinite for another shape, and for NaN or inf.

    The error of elements is relative to the reference's largest magnitude (a mask's constants by themselves) or to
    `floor`, whichever is larger; that of the norm and the projections, which are sums over all elements, to the
    reference's norm or that of _POSITIONS elements of size `floor`.
    """
    if actual.shape != reference.shape or actual.dtype.kind != "f" or not _are_finite(actual, reference):
        return math.inf
    if actual.ndim > 1:  # Outputs are stored by samples, however many there are.
        actual, reference = sample(actual), sample(reference)
    difference, expected = (actual - reference)[:_POSITIONS], reference[:_POSITIONS]
    is_mask = _masks(expected)
    errors = [
        _largest_share(difference[~is_mask], max(largest(reference), floor)),
        _largest_share(difference[is_mask], float(np.abs(expected[is_mask]).max(initial=0.0))),
    ]
    if reference.size > _POSITIONS:
        sums = slice(_POSITIONS, None)
        norm = max(float(reference[_POSITIONS]), floor * math.sqrt(_POSITIONS))
        errors.append(_largest_share(actual[sums] - reference[sums], norm))
    return max(errors)


def _are_finite(actual: NDArray[Any], reference: NDArray[Any]) -> bool:
    """Return whether both are numbers throughout: a NaN would hide where the largest of many errors is taken."""
    return bool(np.isfinite(actual).all() and np.isfinite(reference).all())


def kept(sampled: NDArray[Any]) -> NDArray[Any]:
    """Return the elements of a sample, without norm and projections; of a small array, all its elements."""
    return sampled.reshape(-1)[:_POSITIONS]


def largest(sampled: NDArray[Any]) -> float:
    """Return the largest magnitude of a sample's elements, without a mask's constants."""
    elements = kept(sampled)
    return float(np.abs(elements[~_masks(elements)]).max(initial=0.0))


def _masks(elements: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which elements are a mask's constants (see MASK), within a factor of two; none where the others are 0."""
    sizes = np.abs(elements)
    top = float(sizes.max(initial=0.0))
    is_mask = sizes >= max(top / 2.0, MASK)
    others = float(sizes[~is_mask].max(initial=0.0))
    return is_mask if 0.0 < others <= top / MASK else np.zeros(sizes.shape, bool)


def _largest_share(difference: NDArray[Any], scale: float) -> float:
    """Return the largest difference divided by the scale."""
    error = float(np.abs(difference).max(initial=0.0))
    if error == 0.0:
        return 0.0
    return error / scale if scale > 0 else math.inf


def _positions(size: int) -> NDArray[np.int64]:
    """Return the positions that are kept of so many elements."""
    return np.random.RandomState(_POSITIONS).randint(0, size, _POSITIONS, dtype=np.int64)


def _project(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return for each row the sums of all its elements with the signs of each projection, the same for all rows."""
    sums = np.zeros((len(rows), _PROJECTIONS))
    stream = np.random.RandomState(_PROJECTIONS)
    for start in range(0, rows.shape[1], _CHUNK):
        part = np.asarray(rows[:, start : start + _CHUNK], np.float64)
        drawn = np.frombuffer(stream.bytes(part.shape[1]), np.uint8)  # a bit for each projection
        for index in range(_PROJECTIONS):
            signs = ((drawn >> index) & 1) * 2.0 - 1.0
            # By no BLAS, whose threads would stay in a worker that is timed.
            sums[:, index] += np.einsum("ij,j->i", part, signs)
    return sums

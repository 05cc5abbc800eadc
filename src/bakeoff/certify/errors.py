"""How far one side's results are from another's: the same errors for a contender and for a moved reference."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bakeoff.certify.sample import kept, largest

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from bakeoff.workloads.optimizers import Arrays

GRADIENT_FLOOR = 1e-3
"""The least scale of a gradient array's error, as a share of the largest gradient of all parameters. A smaller array,
such as that of a bias before a normalisation, is zero but for rounding, so that an error relative to itself means
nothing."""

STATE_FLOOR = 0.1
"""The least scale of the error of what a step adds to a running statistic: that is a difference of numbers of about 1,
which a float32 holds to about 1e-7, however small the difference is."""


def named(arrays: Arrays, kind: str) -> list[str]:
    """Return the names of the arrays of one kind: "output", "gradient", "state"."""
    return sorted(name for name in arrays if name.startswith(f"{kind}/"))


def gradient_floor(names: Collection[str], expected: Arrays) -> float:
    """Return the least scale of a gradient array's error."""
    return GRADIENT_FLOOR * max((largest(expected[name]) for name in names if name in expected), default=0.0)


def norm_error(names: Sequence[str], found: Arrays, expected: Arrays) -> float:
    """Return the L2 norm of the error of all arrays together, relative to theirs."""
    first, second = (np.concatenate([kept(side[name]) for name in names]) for side in (found, expected))
    return quotient(float(np.linalg.norm(first - second)), float(np.linalg.norm(second)))


def loss_errors(found: Sequence[float | None], expected: Sequence[float | None]) -> list[float]:
    """Return the relative error of each loss."""
    return [relative(*pair) for pair in zip(found, expected, strict=True)]


def relative(found: float | None, expected: float | None) -> float:
    """Return a relative error; where one side is not finite it is infinite."""
    if found is None or expected is None or not (math.isfinite(found) and math.isfinite(expected)):
        return math.inf
    return quotient(abs(found - expected), abs(expected))


def norms_error(found: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    """Return the largest error of a sample's norm relative to it, or to GRADIENT_FLOOR of the batch's largest."""
    return max(norms_errors(found, expected), default=math.inf)


def norms_errors(found: NDArray[np.float64], expected: NDArray[np.float64]) -> list[float]:
    """Return that error of each sample; all are infinite where a norm is missing or not finite."""
    if found.shape != expected.shape or not (np.isfinite(found).all() and np.isfinite(expected).all()):
        return [math.inf] * len(expected)
    scales = np.maximum(expected, GRADIENT_FLOOR * expected.max(initial=0.0))
    return list(map(quotient, np.abs(found - expected).tolist(), scales.tolist()))


def quotient(error: float, scale: float) -> float:
    """Return an error in units of a scale."""
    if error == 0.0:
        return 0.0
    return error / scale if scale else math.inf


def finite(number: float) -> float | None:
    """Return a number that JSON can hold; None where it is not finite."""
    return number if math.isfinite(number) else None


def bound(most: float) -> str:
    """Return what is allowed, in words."""
    return f"allowed {most:.0e}" if math.isfinite(most) else "not held: the model magnifies this precision too much"

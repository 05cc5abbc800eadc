"""How fast a device multiplies matrices and adds long arrays, by operations that an engine has prepared.

Peaks are what somebody has reached, so the fastest block counts and not the middle one; `bakeoff.judge.light` judges.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import msgspec
import numpy as np

from bakeoff.measure.clock import Stepper, Timed
from bakeoff.spec.peaks import Timing

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bakeoff.measure.clock import Clock


class TimedProbe(Timed, Protocol):
    """One operation that is run again and again."""

    def read(self) -> NDArray[np.float64]:
        """Return the first row of the last result."""


class ProbeSizes(msgspec.Struct, frozen=True, kw_only=True):
    """How much is computed: about two seconds in all."""

    smallest: int = 64
    """Rows of the first matrices, which lie in the first cache: a library that does not part matrices into blocks
    multiplies these the fastest."""
    largest: int = 8192
    """Rows of the last matrices: three of them in float32 take 0.8 GB. Each size is twice the one before."""
    gain: float = 1.02
    """A size that is not faster by this factor than all before it has not raised the peak."""
    patience: int = 2
    """So many sizes in a row that have not raised it are the last."""
    longest_s: float = 0.25
    """No size is begun of which one product would take longer."""
    block_s: float = 0.05
    """A block lasts about so long: far above what the clock and a wait cost."""
    block_limit: int = 1000
    """Operations of a block at most: the smallest products are shorter than their call."""
    blocks: int = 3
    """Blocks of each size."""
    again: int = 5
    """Blocks more of the fastest size, so that what disturbs a few of them lowers no peak."""
    sums: int = 5
    """Sums of long arrays, each waited for."""


SIZES = ProbeSizes()

WRONG = 0.05
"""Of the largest value of a row, by how much a product's row may differ from NumPy's in float64: half precision keeps
three digits, and what was not computed is off by about 1."""

EIGHTHS = 8
"""Factors are multiples of an eighth from -1 to 1, which every precision holds exactly."""

PERIOD = 4099
"""Values that are drawn for a matrix and then repeated: a prime, so that no two rows of any size here are alike."""


def products(make: Callable[[NDArray[np.float32], NDArray[np.float32]], TimedProbe], clock: Clock) -> list[Timing]:
    """Time products of square matrices of growing sizes, and the fastest size once more.

    Raises ValueError where a product's first row is not the product's.
    """
    found: list[Timing] = []
    size, waited = SIZES.smallest, 0
    while size <= SIZES.largest and waited < SIZES.patience:
        before = max(map(macs_per_s, found), default=0.0)
        found.append(_product(make, clock, size, SIZES.blocks))
        rate = macs_per_s(found[-1])
        waited = waited + 1 if rate < SIZES.gain * before else 0
        size *= 2
        if size**3 / rate > SIZES.longest_s:
            break
    best = max(found, key=macs_per_s)
    return [*found, _product(make, clock, best.size, SIZES.again)]


def macs_per_s(timing: Timing) -> float:
    """Return the multiply-accumulates of a second in the fastest block of products."""
    return timing.count * timing.size**3 / (max(1, min(timing.blocks_ns)) * 1e-9)


def _product(
    make: Callable[[NDArray[np.float32], NDArray[np.float32]], TimedProbe], clock: Clock, size: int, blocks: int
) -> Timing:
    """Time the product of two matrices of this size."""
    left, right = matrix(size, 1), matrix(size, 2)
    probe = make(left, right)
    stepper = Stepper(probe, [None], clock)
    # The first run may compile, and the second may still take memory.
    once_ns = min(stepper.fenced(3)[1:])
    _check(probe.read(), left[0].astype(np.float64) @ right)
    count = min(SIZES.block_limit, math.ceil(SIZES.block_s * 1e9 / max(1, once_ns)))
    return Timing(size=size, count=count, blocks_ns=[stepper.streamed(count)[1] for _ in range(blocks)])


def matrix(size: int, seed: int) -> NDArray[np.float32]:
    """Return a square matrix of few digits."""
    drawn = np.random.RandomState(seed).randint(-EIGHTHS, EIGHTHS + 1, PERIOD) / EIGHTHS
    return np.resize(drawn.astype(np.float32), size * size).reshape(size, size)


def _check(row: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    """Raise ValueError for a row that is not the product's: its time is no time of a product."""
    if row.shape != expected.shape or not np.abs(row - expected).max() <= WRONG * np.abs(expected).max():
        msg = f"a product of matrices of {expected.size} rows is not what it should be"
        raise ValueError(msg)


def sums(make: Callable[[int], TimedProbe], clock: Clock, count: int) -> Timing:
    """Time the sum of two arrays of so many ones onto the first; raise ValueError where the sum is wrong."""
    probe = make(count)
    stepper = Stepper(probe, [None], clock)
    stepper.fenced(1)
    timing = Timing(size=count, count=1, blocks_ns=stepper.fenced(SIZES.sums))
    if (found := float(probe.read()[0])) != 1.0 + stepper.position:
        msg = f"after {stepper.position} sums of ones there is {found}"
        raise ValueError(msg)
    return timing

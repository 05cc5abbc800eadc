"""Where the warm-up of a process ends: MSER-5.

Source: K. P. White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69(6),
1997, for the rule; S. C. Spratt, 1998, and White, Cobb and Spratt, Winter Simulation Conference 2000, for the batches
of five. Here a batch is the median of its five steps and not their mean, so that a single slow step moves no cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCH_STEPS = 5
"""Steps in a batch, as in MSER-5."""

MIN_BATCHES = 20
"""The fewest batches from which a process can be called unsteady. By chance alone the cut of a steady series lies at
its limit the more often the shorter the series is: in 2.5 % of simulated processes of 120 steps, in under 1 % of longer
ones (benchmarks/warmup.py), and in far more of shorter ones."""


class Cut(msgspec.Struct, frozen=True):
    """How many steps from the start are warm-up, and whether a steady state follows them.

    `steady` is False where the best cut is the latest that is allowed: the series was still changing in its middle.
    Under 100 steps that happens by chance too often, and `steady` stays True.
    """

    steps: int
    steady: bool


def mser5(steps_ns: Sequence[int]) -> Cut:
    """Return the cut, at most half of the series, after which the mean of the rest has the smallest standard error.

    It minimises the variance of the batches behind the cut divided by their number. Of a series that is too short for
    two batches, half is cut.
    """
    batches = len(steps_ns) // BATCH_STEPS
    if batches < 2:  # noqa: PLR2004 - one batch has no variance
        return Cut(steps=len(steps_ns) // 2, steady=True)
    whole = np.asarray(steps_ns[: batches * BATCH_STEPS], dtype=float)
    medians = np.median(whole.reshape(batches, BATCH_STEPS), axis=1)
    limit = min(batches // 2, batches - 2)
    errors = [float(medians[cut:].var()) / (batches - cut) for cut in range(limit + 1)]
    best = int(np.argmin(errors))
    return Cut(steps=best * BATCH_STEPS, steady=best < limit or batches < MIN_BATCHES)

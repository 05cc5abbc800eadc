"""The intervals of the first procedure: of the mean by t at early looks, of the pseudo-median by signed ranks later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bakeoff.stats.first.boundaries import LOOKS, T_LOOKS, rank_index, t_multiplier
from bakeoff.stats.intervals import MIN_VALUES, pseudo_median, signed_rank_interval, t_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.verdict import Interval


def centre(values: Sequence[float]) -> float:
    """Return the centre as looks estimate it: the mean of 3 to 5 values, Hodges-Lehmann from 6 on, else the median."""
    if len(values) < MIN_VALUES:
        return float(np.median(values))
    if len(values) <= T_LOOKS[-1]:
        return float(np.mean(values))
    return pseudo_median(values)


def pair_interval(differences: Sequence[float], family: int) -> Interval | None:
    """Return the interval of a pair's log-ratio at a scheduled look; `family` pairs are not yet decided.

    None between the looks, and at a look that is too early for a family of this size.
    """
    look = len(differences)
    if look not in LOOKS:
        return None
    if look in T_LOOKS:
        return t_interval(differences, t_multiplier(look, family))
    index = rank_index(look, family)
    return None if index is None else signed_rank_interval(differences, index)

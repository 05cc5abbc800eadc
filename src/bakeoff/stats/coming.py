"""How many more rounds: to a verdict by the coming looks' own boundaries, to a size by its interval."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.stats.anytime import anytime_multiplier
from bakeoff.stats.boundaries import FROM_SIGN, LOOKS
from bakeoff.stats.futility import prospect, spread_of
from bakeoff.stats.intervals import MIN_VALUES, largest_index, pseudo_median, two_sided_levels
from bakeoff.stats.size import COMPUTED, MULTIPLIERS, NARROW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.comparison import Goal
    from bakeoff.spec.verdict import VerdictKind

SIGNED_RANK_WIDTH = math.sqrt(math.pi / 3.0)
"""How much wider the signed-rank interval of normal data is than the interval by z: the root of the test's
efficiency."""

MOST = 10_000
"""Until-sure promises no more rounds than this: a week of rounds of a minute each."""


class Needed(NamedTuple):
    """More rounds, and the chance that they are enough; None where that is not known."""

    rounds: int
    chance: float | None


def more_rounds(
    values: Sequence[float], verdict: VerdictKind, family: int, rho: float, *, goal: Goal, moderated: bool
) -> Needed | None:
    """Return how many more rounds would decide an undecided pair, or make a decided one's size known.

    None where none of the coming looks can, or where no number of rounds that is allowed would do.
    """
    count = len(values)
    if verdict != "undecided":
        found = next((n for n in range(count + 1, LOOKS[-1] + 1) if _is_known(values, n)), None)
        return None if found is None else Needed(found - count, None)
    if count < MIN_VALUES:
        return Needed(LOOKS[0] - count, None)
    if goal == "until-sure":
        return _until_sure(values, family, rho)
    ahead = prospect(values, family, rho, moderated=moderated)
    return None if ahead is None else Needed(ahead.look - count, ahead.chance)


def _is_known(values: Sequence[float], count: int) -> bool:
    """Return whether the interval of the size would be narrow after so many rounds with the present spread."""
    half = size_half_width(count) * spread_of(values)
    return half <= max(NARROW.half_width, NARROW.share * abs(pseudo_median(values)))


def size_half_width(count: int) -> float:
    """Return the expected half-width of the size's interval after so many rounds, in their standard deviations."""
    if count < FROM_SIGN:
        return MULTIPLIERS[count] / math.sqrt(count)
    index = largest_index(count, 1.0 - COMPUTED)
    assert index is not None  # from 7 rounds on there is one at 97 %
    z = NormalDist().inv_cdf(1.0 - two_sided_levels(count)[index] / 2.0)
    return z * SIGNED_RANK_WIDTH / math.sqrt(count)


def _until_sure(values: Sequence[float], family: int, rho: float) -> Needed | None:
    """Return the first number of rounds at which the interval that holds at every round would decide."""
    spread, distance, count = spread_of(values), abs(pseudo_median(values)), len(values)
    reach = max(distance, rho - distance)
    for more in range(max(1, LOOKS[0] - count), MOST):
        wide = anytime_multiplier(count + more, family)
        if wide is not None and wide * spread / math.sqrt(count + more) < reach:
            return Needed(more, None)
    return None

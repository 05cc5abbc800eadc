"""Two contenders, round by round, and what is read from their rounds whatever the procedure is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from bakeoff.stats.intervals import pseudo_median

if TYPE_CHECKING:
    from bakeoff.spec.verdict import Interval, Verdict, VerdictKind

Ended = Literal["", "budget", "rounds"]
"""Why a comparison ended before every pair was settled; "" while it runs, and for any other reason."""
Stopped = Literal["", "futility", "budget", "rounds"]


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """The measurements of two contenders, round by round; sequences are parallel, all but the first may be empty.

    `differences` are log(time of first / time of second), None where one of them has no time in that round.
    """

    first: str
    second: str
    differences: Sequence[float | None]
    calm: Sequence[float | None] = ()
    """The differences without the turns in which other processes disturbed either; None where no turn is left."""
    blocks: Sequence[tuple[int, int]] = ()
    """How many timed blocks of both contenders were disturbed, and how many there are."""
    means: Sequence[tuple[float, float] | None] = ()
    """Mean step times of first and second, over all timed steps of the round."""
    lost: int | None = None
    """The round, counted from 0, after which one of them was given up for failing; None: neither was."""


def judge_interval(interval: Interval, rho: float) -> VerdictKind:
    """Return the verdict that an interval of log(first / second) allows; `rho` is log(1 + margin)."""
    if -rho < interval.low and interval.high < rho:
        return "equal"
    if interval.low > 0.0:
        return "slower"
    if interval.high < 0.0:
        return "faster"
    return "undecided"


def is_unsettled(verdict: Verdict) -> bool:
    """Return whether a pair lacks what the comparison aims at, whether or not it gets more rounds."""
    return verdict.verdict == "undecided" or verdict.wide


def is_open(verdict: Verdict) -> bool:
    """Return whether another round could settle a pair."""
    return is_unsettled(verdict) and not verdict.stopped


def ratio_unflagged(
    pair: Pair, rounds: Sequence[int], centre: Callable[[Sequence[float]], float] = pseudo_median
) -> float | None:
    """Return the ratio of first to second over `rounds`, without the turns that other processes disturbed.

    None where no block was disturbed, or where no turn is left.
    """
    values = [value for index in rounds if index < len(pair.calm) and (value := pair.calm[index]) is not None]
    is_flagged = any(flagged for flagged, _ in blocks_of(pair, rounds))
    return math.exp(centre(values)) if values and is_flagged else None


def ratio_of_means(pair: Pair, rounds: Sequence[int]) -> float | None:
    """Return the ratio of the mean step times over `rounds`; None where there are no means."""
    means = [mean for index in rounds if index < len(pair.means) and (mean := pair.means[index]) is not None]
    if not means:
        return None
    first, second = np.asarray(means).mean(axis=0)
    return float(first / second)


def blocks_of(pair: Pair, rounds: Sequence[int]) -> list[tuple[int, int]]:
    """Return for each of these rounds the numbers of disturbed blocks and of all blocks, where they are known."""
    return [pair.blocks[index] for index in rounds if index < len(pair.blocks)]


def beside_the_size(
    pair: Pair, rounds: Sequence[int], centre: Callable[[Sequence[float]], float] = pseudo_median
) -> dict[str, Any]:
    """Return the fields of a verdict that stand beside its ratio whatever the procedure is, over `rounds`."""
    blocks = blocks_of(pair, rounds)
    return {
        "ratio_of_means": ratio_of_means(pair, rounds),
        "ratio_unflagged": ratio_unflagged(pair, rounds, centre),
        "blocks": sum(count for _, count in blocks),
        "flagged_blocks": sum(flagged for flagged, _ in blocks),
        "flagged_rounds": sum(flagged > 0 for flagged, _ in blocks),
    }

"""The interval that decides a pair at a look: what is known of its direction, and of being equal.

Its centre reaches from the pseudo-median to the mean of the rounds' log-ratios, so that a direction needs both of them
clear of zero: one contender's bursts move the mean alone, two modes of a process the pseudo-median alone. With three
and more contenders the variance is moderated by a prior with 4 degrees of freedom: half of the pair's own variance over
its first 5 rounds, half of that of its sum against the others. Where two contenders are noisier than the rest their sum
is, too, so that calm contenders do not lend a noisy pair their spread, as a variance pooled over all would.

Source of moderation: G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in
microarray experiments", Statistical Applications in Genetics and Molecular Biology 3, 2004.
"""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from bakeoff.spec.verdict import Interval
from bakeoff.stats.boundaries import LOOKS, multiplier, sign_index
from bakeoff.stats.intervals import pseudo_median

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bakeoff.stats.pairs import Pair

PRIOR_ROUNDS = LOOKS[0]
"""Rounds of the prior: before the first look no contender has dropped out, so nothing that was seen chose them."""
PRIOR_FREEDOM = 4
"""Degrees of freedom of the prior: as many as one contrast has over these rounds."""


def prior_variance(pair: Pair, pairs: Sequence[Pair]) -> float | None:
    """Return the prior of the variance of a pair's log-ratio; None below 5 rounds, or where no other ran in these."""
    rounds = [index for index, value in enumerate(pair.differences) if value is not None][:PRIOR_ROUNDS]
    if len(rounds) < PRIOR_ROUNDS:
        return None
    known = _signed(pairs)
    sums = [
        [above + below for above, below in zip(mine, yours, strict=True) if above is not None and below is not None]
        for other in dict.fromkeys(chain.from_iterable((one.first, one.second) for one in pairs))
        if other not in (pair.first, pair.second)
        and (mine := _at(known.get((pair.first, other)), rounds)) is not None
        and (yours := _at(known.get((pair.second, other)), rounds)) is not None
    ]
    complete = [one for one in sums if len(one) == PRIOR_ROUNDS]
    if not complete:
        return None
    # Among equals x_a + x_b - 2 mean(x_k) varies (1 + 2 / others) times as much as x_a - x_b.
    others = np.mean(complete, axis=0).var(ddof=1) / (1.0 + 2.0 / len(complete))
    own = np.var([pair.differences[index] for index in rounds], ddof=1)  # type: ignore[arg-type]
    return float((own + others) / 2.0)


def _signed(pairs: Sequence[Pair]) -> Mapping[tuple[str, str], Sequence[float | None]]:
    """Return the log-ratios of all pairs, from both sides."""
    known: dict[tuple[str, str], Sequence[float | None]] = {}
    for pair in pairs:
        known[pair.first, pair.second] = pair.differences
        known[pair.second, pair.first] = [None if value is None else -value for value in pair.differences]
    return known


def _at(differences: Sequence[float | None] | None, rounds: Sequence[int]) -> list[float | None] | None:
    """Return the values of some rounds; None where there is no such pair, or it has not come that far."""
    if differences is None or len(differences) <= rounds[-1]:
        return None
    return [differences[index] for index in rounds]


def decision_interval(values: Sequence[float], family: int, prior: float | None) -> Interval:
    """Return the interval of a pair's log-ratio at one of LOOKS, while `family` pairs are open.

    From 10 rounds on the sign test's interval narrows it, which a few wild rounds do not widen.
    """
    array = np.sort(np.asarray(values, dtype=float))
    look, moderated = len(array), prior is not None
    middle, mean = pseudo_median(array), float(array.mean())
    half = multiplier(look, family, moderated=moderated) * math.sqrt(_variance(array, prior) / look)
    low, high = min(middle, mean) - half, max(middle, mean) + half
    index = sign_index(look, family, moderated=moderated)
    if index is not None:
        # The pseudo-median lies in both, where less than 1 - sqrt(1/2) of the rounds, 0.29, are left out on a side:
        # most averages of two are then of rounds that are not. It is 0.15 at most (tests/stats/test_decision.py).
        low, high = max(low, float(array[index])), min(high, float(array[look - 1 - index]))
    return Interval(estimate=middle, low=low, high=high)


def _variance(values: np.ndarray[tuple[int], np.dtype[np.float64]], prior: float | None) -> float:
    """Return the variance of a pair's log-ratio, moderated by the prior where there is one."""
    own, freedom = float(values.var(ddof=1)), len(values) - 1
    return own if prior is None else (PRIOR_FREEDOM * prior + freedom * own) / (PRIOR_FREEDOM + freedom)

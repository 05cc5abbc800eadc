"""The one quantity that decides a document's claim, with its interval, and on which side of the claim that lies.

A claim holds where all of the interval lies where the document says, and does not where nothing of it does.
"""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from bakeoff.spec.parts import OF_STEPS
from bakeoff.spec.verdict import Interval
from bakeoff.stats.pairs import judge_interval
from bakeoff.stats.together import Estimate, combined, interval_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bakeoff.spec.published import Claim, ClaimKind

Standing = Literal["holds", "does not hold", "inconclusive", "not measured"]

SUMS = ("mean", "less-time", "grows")
"""Kinds whose quantity is a weighted sum of independent comparisons, with an interval of its own."""

_SIGNED: dict[ClaimKind, Callable[[Iterable[float]], float]] = {
    "more": min,
    "each": min,
    "most": max,
    "at-least": max,
    "about": fmean,
}
"""What becomes of the numbers of comparisons whose sign matters."""

_FAR = 100.0
"""A logarithm beyond which no ratio is told apart: an interval of few and wild rounds may reach further than floats."""


def quantity(claim: Claim, estimates: Sequence[Estimate], together: int, batches: Sequence[int] = ()) -> Interval:
    """Return the one quantity that decides a claim, a logarithm or a share, with its interval among `together`.

    `batches` are the batch sizes of the estimates, at least two different ones: what grows does so with them.
    """
    if claim.kind in SUMS:
        weights = _rising(batches) if claim.kind == "grows" else [1.0 / len(estimates)] * len(estimates)
        return interval_of(combined(estimates, weights), together)
    found = [interval_of(one, together) for one in estimates]
    if claim.of in OF_STEPS:
        found = [_bounded(one) for one in found]
    if claim.kind == "least":
        return _below(found)
    if claim.kind in _SIGNED:
        return _of_each(_SIGNED[claim.kind], found)
    apart = [_distance(one) for one in found]
    if claim.kind == "mostly-within":
        # The smallest that more than half of the comparisons do not exceed.
        return _of_each(lambda values: sorted(values)[len(values) // 2], apart)
    return _of_each(max if claim.kind == "within" else fmean, apart)


def _of_each(reduce: Callable[[Sequence[float]], float], found: Sequence[Interval]) -> Interval:
    """Return what intervals that hold together leave of a quantity that rises with each of them."""
    ends = ([one.estimate for one in found], [one.low for one in found], [one.high for one in found])
    estimate, low, high = (reduce(values) for values in ends)
    return Interval(estimate=estimate, low=low, high=high)


def _bounded(interval: Interval) -> Interval:
    """Return what of an interval a share of a step can be: 0 to 1."""
    return Interval(estimate=interval.estimate, low=max(0.0, interval.low), high=min(1.0, interval.high))


def _below(found: Sequence[Interval]) -> Interval:
    """Return by how much the first is less than the least of the others."""
    first, *others = found
    least = _of_each(min, others)
    return Interval(estimate=least.estimate - first.estimate, low=least.low - first.high, high=least.high - first.low)


def _distance(interval: Interval) -> Interval:
    """Return the interval of a number's distance from 0."""
    low = max(0.0, interval.low, -interval.high)
    return Interval(estimate=abs(interval.estimate), low=low, high=max(abs(interval.low), abs(interval.high)))


def _rising(batches: Sequence[int]) -> list[float]:
    """Return the weights of the slope of the straight line through values over the logarithm of their batches.

    The slope is that for a doubling; the line is that of the least squares.
    """
    places = [math.log2(batch) for batch in batches]
    middle = fmean(places)
    whole = sum((place - middle) ** 2 for place in places)
    return [(place - middle) / whole for place in places]


def standing_of(claim: Claim, value: Interval, margin: float) -> Standing:
    """Return on which side of a claim its quantity lies; `margin` is that of equality, a share."""
    if claim.kind == "most" and not _limit(claim):
        # At most nothing, without a number, is less than nothing: a pass that adds nodes, and not one that adds none.
        return _held(value.high < 0.0, value.low >= 0.0)
    if claim.kind in ("most", "within", "mostly-within", "mean-difference"):
        return _held(value.high <= _limit(claim), value.low > _limit(claim))
    if claim.kind in ("at-least", "each"):
        return _held(value.low >= _limit(claim), value.high < _limit(claim))
    if claim.kind == "about":
        low, high = _limit(claim) - claim.taken_percent / 100.0, _limit(claim) + claim.taken_percent / 100.0
        return _held(low <= value.low and value.high <= high, value.high < low or high < value.low)
    if claim.kind == "least":
        return _held(value.low > 0.0, value.high <= 0.0)
    # A difference that the document itself has within the margin, or calls slight, is not refuted by equality.
    is_small = claim.kind == "grows" or 0.0 < (claim.percent or claim.taken_percent) <= 100.0 * margin
    found = judge_interval(value, 0.0 if is_small else math.log1p(margin))
    return _held(found == "slower", found in ("faster", "equal"))


def _held(holds: bool, fails: bool) -> Standing:  # noqa: FBT001 - two sides of one question
    """Return the word for where an interval lies."""
    return "holds" if holds else "does not hold" if fails else "inconclusive"


def _limit(claim: Claim) -> float:
    """Return a claim's percent as its quantity is: a logarithm, or a share."""
    share = (claim.percent or claim.taken_percent) / 100.0
    if claim.is_of_shares:
        return share
    return -math.log1p(-share) if _is_share(claim) else math.log1p(share)


def _is_share(claim: Claim) -> bool:
    """Return whether a claim's percent are a share of the longer time, and not beyond the shorter."""
    return claim.kind == "less-time" or claim.of == "overhead"


def percent_of(claim: Claim, value: float) -> float:
    """Return a claim's quantity, a logarithm or a share, in percent as the claim's own are meant."""
    if claim.is_of_shares:
        return 100.0 * value
    near = max(-_FAR, min(_FAR, value))
    return -100.0 * math.expm1(-near) if _is_share(claim) else 100.0 * math.expm1(near)


def in_percent(claim: Claim, value: Interval) -> Interval:
    """Return a claim's quantity and its interval in percent."""
    ends = (percent_of(claim, one) for one in (value.estimate, value.low, value.high))
    estimate, low, high = ends
    return Interval(estimate=estimate, low=low, high=high)

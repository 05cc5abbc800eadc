"""Whether a ratio or a step time changed between two comparisons beyond what chance leaves: Welch's test on logarithms.

Two comparisons are independent, and each size has an interval from its own rounds, whose half-width over its multiplier
is a standard error. Source: Welch, "The generalization of Student's problem when several different population variances
are involved", Biometrika 34, 1947.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from scipy.special import stdtr, stdtrit  # and not scipy.stats, which takes half a second to import

from bakeoff.spec.verdict import Interval
from bakeoff.stats.intervals import MIN_VALUES
from bakeoff.stats.size import COMPUTED, MULTIPLIERS

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome
    from bakeoff.spec.verdict import Verdict

OF_STEPS = 0.95
"""Of the interval of a step time."""

OF_CHANGE = 0.99
"""Of the interval of a change: a comparison has several sizes, and two runs also differ by more than their rounds show.
"""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """How a size went from one comparison to another."""

    factor: Interval
    """The later size over the earlier one, with its 99 % interval."""
    p: float
    """The probability of such a change, or a larger one, where nothing changed."""
    is_sure: bool
    """Whether the interval of the factor leaves 1 out."""
    is_apart: bool
    """Whether the two intervals have nothing in common."""


class _Size(NamedTuple):
    """A size as a logarithm, with its standard error and the degrees of freedom behind that."""

    middle: float
    error: float
    freedom: int


def ratio_change(before: Verdict, after: Verdict) -> Change | None:
    """Return how a pair's ratio changed; None where one of them has no interval.

    Intervals that boundaries over all looks and pairs gave are wider than those of one pair alone: with them the test
    finds less.
    """
    first, second = _ratio(before), _ratio(after)
    if first is None or second is None:
        return None
    return _changed(first, second, apart=_is_apart(before.low, before.high, after.low, after.high))


def step_change(before: ContenderOutcome, after: ContenderOutcome) -> Change | None:
    """Return how a contender's step time changed; None where one of them has no interval."""
    one, other = before.step_s, after.step_s
    if one is None or other is None or min(before.rounds, after.rounds) < MIN_VALUES:
        return None
    first, second = _step(one, before.rounds), _step(other, after.rounds)
    if first is None or second is None:
        return None
    return _changed(first, second, apart=_is_apart(one.low, one.high, other.low, other.high))


def _ratio(verdict: Verdict) -> _Size | None:
    """Return a ratio's logarithm with its standard error: half of its interval over what the interval multiplied."""
    if verdict.ratio is None or verdict.low is None or verdict.high is None or verdict.rounds < MIN_VALUES:
        return None
    multiplier = MULTIPLIERS.get(verdict.rounds) or float(stdtrit(verdict.rounds - 1, 0.5 + COMPUTED / 2.0))
    interval = Interval(estimate=verdict.ratio, low=verdict.low, high=verdict.high)
    return _sized(interval, verdict.rounds, multiplier)


def _step(interval: Interval, rounds: int) -> _Size | None:
    """Return a step time's logarithm with its standard error."""
    return _sized(interval, rounds, float(stdtrit(rounds - 1, 0.5 + OF_STEPS / 2.0)))


def _sized(interval: Interval, rounds: int, multiplier: float) -> _Size | None:
    """Return a size; its half-width is the wider side, as an interval may be cut where its verdict ends."""
    if not (0 < interval.low <= interval.estimate <= interval.high < math.inf):
        return None
    half = max(math.log(interval.high / interval.estimate), math.log(interval.estimate / interval.low))
    return _Size(math.log(interval.estimate), half / multiplier, rounds - 1)


def _changed(before: _Size, after: _Size, *, apart: bool) -> Change:
    """Return the change between two independent sizes."""
    shift, error = after.middle - before.middle, math.hypot(before.error, after.error)
    if error == 0.0:  # Without any spread, as scripts have it, a difference is one.
        factor = Interval(estimate=math.exp(shift), low=math.exp(shift), high=math.exp(shift))
        return Change(factor=factor, p=float(shift == 0.0), is_sure=shift != 0.0, is_apart=apart)
    freedom = error**4 / (before.error**4 / before.freedom + after.error**4 / after.freedom)
    half = float(stdtrit(freedom, 0.5 + OF_CHANGE / 2.0)) * error
    factor = Interval(estimate=math.exp(shift), low=math.exp(shift - half), high=math.exp(shift + half))
    p = 2.0 * float(stdtr(freedom, -abs(shift) / error))
    return Change(factor=factor, p=p, is_sure=abs(shift) > half, is_apart=apart)


def _is_apart(low: float | None, high: float | None, other_low: float | None, other_high: float | None) -> bool:
    """Return whether two intervals have nothing in common."""
    assert low is not None
    assert high is not None
    assert other_low is not None
    assert other_high is not None
    return high < other_low or other_high < low

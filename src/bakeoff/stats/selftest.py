"""From the readings of the timer's self-test to its outcome: pure functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.spec.selftest import TimerCheck, TimerOutcome, TimerVerdict
from bakeoff.stats.intervals import fixed_interval, largest_index

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bakeoff.spec.selftest import TimerTest
    from bakeoff.spec.verdict import Interval


class TimerCriteria(NamedTuple):
    """What decides whether a timer passes.

    allowed     how far a clock may be wrong: the default margin of equality, since a larger error could turn a verdict.
                An interval inside of it passes, one wholly outside fails, and any other is inconclusive: the spread of
                the readings decides, and no timer fails because the machine is busy
    confidence  of each interval, high because a contender has three checks to fail; eight pairs are the fewest for
                which the signed-rank test reaches it
    widest      the widest interval, from end to end and as a logarithm, by which a timer can fail. A wider one means
                that the machine is unsteady in a way that chance does not describe: under heavy load a block of twice
                the length is interrupted more than twice as long (measured: 7.0 times the time, interval 2.5 to 24)
    """

    allowed: float = 0.05
    confidence: float = 0.99
    widest: float = math.log(1.5)


LIMITS = TimerCriteria()

NARROWER = 0.4
"""How much narrower the interval of all passes may turn out than the square root of their number says: that of a first
pass of few pairs is wide by itself, and its estimate is off. By simulation (tests/stats/test_selftest.py) passes are
spared where readings spread by a fifth, and clocks that three passes find wrong are hardly found less often."""


def judge_timer(contender: str, passes: Sequence[TimerTest]) -> TimerVerdict:
    """Return whether the timer of one contender can be trusted, from all passes together."""
    checks = (_doubling(passes), _profiler(passes), _fetching(passes))
    failed = [check for check in checks if check.outcome == "failed"]
    inconclusive = [check for check in checks if check.outcome == "untold"]
    return TimerVerdict(
        contender=contender,
        outcome="failed" if failed else "untold" if inconclusive else "passed",
        reason="; ".join(f"{check.name}: {check.detail}" for check in failed or inconclusive),
        checks=checks,
    )


def may_tell(passes: Sequence[TimerTest], most: int) -> bool:
    """Return whether `most` passes in all are likely to tell what these have not.

    Each interval is taken to become narrower about its estimate. Where none would then lie within what is allowed or
    outside of it, the machine is too unsteady for an answer, and further passes would find that again. Of an interval
    by t, of few readings, that cannot be known: one that was disturbed makes it wide.
    """
    profiler = _profiler_readings(passes)
    if not profiler.values and any(test.empty_sessions for test in passes):
        return True
    untold = [one for one in (_doubling_readings(passes), profiler, _fetching_readings(passes)) if one.may_change()]
    narrower = NARROWER * math.sqrt(len(passes) / most)
    return any(one.is_by_t() or one.outcome(narrower) != "untold" for one in untold)


class _Readings(NamedTuple):
    """Readings of one check: their centre is allowed to lie between `least` and `most`.

    Logarithms of times fail nobody by an interval that is wider than the limit.
    """

    values: list[float]
    least: float
    most: float
    widest: float = math.inf

    def interval(self) -> Interval | None:
        """Return the interval of their centre; None where they are too few."""
        return fixed_interval(self.values, LIMITS.confidence)

    def is_by_t(self) -> bool:
        """Return whether they are too few for an interval by signed ranks."""
        return largest_index(len(self.values), 1.0 - LIMITS.confidence) is None

    def may_change(self) -> bool:
        """Return whether there are any, and they leave the check open."""
        return bool(self.values) and self.outcome() == "untold"

    def outcome(self, narrower: float = 1.0) -> TimerOutcome:
        """Return the outcome of their interval, or of one whose sides are this share of its sides."""
        found = self.interval()
        if found is None:
            return "untold"
        low, high = (found.estimate + narrower * (end - found.estimate) for end in (found.low, found.high))
        if self.least < low and high < self.most:
            return "passed"
        is_outside = low > self.most or high < self.least
        return "failed" if is_outside and high - low <= self.widest else "untold"


def _times(ratios: list[float], share: float) -> _Readings:
    """Return logarithms of ratios, 0 where times are as they should be, that may be off by a share."""
    allowed = math.log1p(share)
    return _Readings(ratios, -allowed, allowed, LIMITS.widest)


def _doubling_readings(passes: Sequence[TimerTest]) -> _Readings:
    """Return how much longer than twice as long each block of twice the steps takes."""
    pairs = [pair for test in passes for pair in zip(test.single_ns, test.double_ns, strict=True)]
    return _times([_log_ratio(double, 2 * single) for single, double in pairs], LIMITS.allowed)


def _profiler_share(passes: Sequence[TimerTest]) -> float:
    """Return by how much a profiler's time may be off.

    Its span begins within the first step and ends within the last, so that it can lack up to one step.
    """
    return LIMITS.allowed + max((1 / test.profiled_steps for test in passes), default=0.0)


def _profiler_readings(passes: Sequence[TimerTest]) -> _Readings:
    """Return how much longer than the fenced time each session's is by the profiler."""
    pairs = [pair for test in passes for pair in zip(test.fenced_ns, test.profiled_ns, strict=False)]
    return _times([_log_ratio(profiled, fenced) for fenced, profiled in pairs], _profiler_share(passes))


def _fetching_readings(passes: Sequence[TimerTest]) -> _Readings:
    """Return what fetching a result takes longer than fetching it again, as a share of its block's time."""
    shares = [
        (fetch - again) / max(block, 1)
        for test in passes
        for fetch, again, block in zip(test.fetch_ns, test.again_ns, test.block_ns, strict=True)
    ]
    return _Readings(shares, -math.inf, LIMITS.allowed)


def _doubling(passes: Sequence[TimerTest]) -> TimerCheck:
    """Check that twice the work takes twice the time."""
    readings = _doubling_readings(passes)
    said = _said(readings.interval(), lambda log: f"{2 * math.exp(log):.3g}")
    detail = f"twice the steps take {said} times the time, 2 within {LIMITS.allowed:.0%} is allowed"
    return TimerCheck(name="doubling", outcome=readings.outcome(), detail=detail)


def _profiler(passes: Sequence[TimerTest]) -> TimerCheck:
    """Check that the fenced time agrees with the framework's own profiler or device events."""
    # A later pass may not have asked a profiler that had told.
    means = next((test.profiler for test in reversed(passes) if test.profiler), "")
    readings = _profiler_readings(passes)
    if not readings.values and any(test.profiler_empty for test in passes):
        detail = f"{means}, and a step that computes is seen by it"
        return TimerCheck(name="profiler", outcome="failed", detail=detail)
    if not readings.values and any(test.empty_sessions for test in passes):
        # Steps that at times compute nothing are no profiler that is missing, and one lost session is no proof of them.
        detail = f"{means}; some of its sessions saw no operation, and others did"
        return TimerCheck(name="profiler", outcome="untold", detail=detail)
    if not readings.values:
        return TimerCheck(name="profiler", outcome="unavailable", detail=means)
    said = _said(readings.interval(), lambda log: f"{math.exp(log):.3g}")
    detail = f"{means} gives {said} times the fenced time, 1 within {_profiler_share(passes):.0%} is allowed"
    outcome = readings.outcome()
    if outcome == "failed" and not all(test.profiler_can_fail for test in passes):
        outcome, detail = "untold", f"{detail}; such a profiler was not run by bakeoff's authors, and fails no timer"
    return TimerCheck(name="profiler", outcome=outcome, detail=detail)


def _fetching(passes: Sequence[TimerTest]) -> TimerCheck:
    """Check that a result that was waited for is ready: fetching it takes no longer than fetching it again."""
    readings = _fetching_readings(passes)
    said = _said(readings.interval(), lambda share: f"{max(share, 0.0):.2%}")
    detail = f"after the wait, fetching the result takes {said} of a block's time, {LIMITS.allowed:.0%} is allowed"
    return TimerCheck(name="fetching", outcome=readings.outcome(), detail=detail)


def _said(interval: Interval | None, write: Callable[[float], str]) -> str:
    """Return an estimate with its interval, in words."""
    if interval is None:
        return "an unknown number of"
    low, high = write(interval.low), write(interval.high)
    return f"{write(interval.estimate)} ({low} to {high})"


def _log_ratio(above: int, below: int) -> float:
    """Return the logarithm of a ratio of times in nanoseconds; a time of 0 counts as 1."""
    return math.log(max(above, 1) / max(below, 1))

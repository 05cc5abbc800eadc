"""From the readings of the timer's self-test to its outcome: pure functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.spec.selftest import TimerCheck, TimerOutcome, TimerVerdict
from bakeoff.spec.verdict import Interval
from bakeoff.stats.intervals import fixed_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bakeoff.spec.selftest import TimerTest


class Limits(NamedTuple):
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


LIMITS = Limits()

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
    outside of it, the machine is too unsteady for an answer, and further passes would find that again.
    """
    narrower = NARROWER * math.sqrt(len(passes) / most)
    profiled = _profiler_logs(passes)
    asked = (
        (_doubling_logs(passes), math.log1p(LIMITS.allowed), None),
        (profiled or [0.0] * most, math.log1p(_profiler_share(passes)), None),
        (_fetching_shares(passes), LIMITS.allowed, -math.inf),
    )
    if not profiled and any(test.empty_sessions for test in passes):
        return True
    for values, allowed, below in asked:
        interval = fixed_interval(values, LIMITS.confidence)
        if interval is None:
            return True
        now, then = (_steady(one, _outcome(one, allowed, below)) for one in (interval, _narrowed(interval, narrower)))
        if now == "untold" != then:
            return True
    return False


def _narrowed(interval: Interval, share: float) -> Interval:
    """Return an interval with the same estimate, and both sides shorter."""
    low, high = (interval.estimate + share * (end - interval.estimate) for end in (interval.low, interval.high))
    return Interval(estimate=interval.estimate, low=low, high=high)


def _doubling_logs(passes: Sequence[TimerTest]) -> list[float]:
    """Return the logarithm of each pair's ratio, 0 where twice the steps take twice the time."""
    pairs = [pair for test in passes for pair in zip(test.single_ns, test.double_ns, strict=True)]
    return [_log_ratio(double, 2 * single) for single, double in pairs]


def _profiler_logs(passes: Sequence[TimerTest]) -> list[float]:
    """Return the logarithm of each session's ratio, 0 where the profiler gives the fenced time."""
    pairs = [pair for test in passes for pair in zip(test.fenced_ns, test.profiled_ns, strict=False)]
    return [_log_ratio(profiled, fenced) for fenced, profiled in pairs]


def _profiler_share(passes: Sequence[TimerTest]) -> float:
    """Return by how much a profiler's time may be off.

    Its span begins within the first step and ends within the last, so that it can lack up to one step.
    """
    return LIMITS.allowed + 1 / min(test.profiled_steps for test in passes)


def _fetching_shares(passes: Sequence[TimerTest]) -> list[float]:
    """Return what fetching a result takes longer than fetching it again, as a share of its block's time."""
    return [
        (fetch - again) / max(block, 1)
        for test in passes
        for fetch, again, block in zip(test.fetch_ns, test.again_ns, test.block_ns, strict=True)
    ]


def _doubling(passes: Sequence[TimerTest]) -> TimerCheck:
    """Check that twice the work takes twice the time."""
    interval = fixed_interval(_doubling_logs(passes), LIMITS.confidence)
    allowed = math.log1p(LIMITS.allowed)
    said = _said(interval, lambda log: f"{2 * math.exp(log):.3g}")
    detail = f"twice the steps take {said} times the time, 2 within {LIMITS.allowed:.0%} is allowed"
    return TimerCheck(name="doubling", outcome=_steady(interval, _outcome(interval, allowed)), detail=detail)


def _profiler(passes: Sequence[TimerTest]) -> TimerCheck:
    """Check that the fenced time agrees with the framework's own profiler or device events."""
    ratios = _profiler_logs(passes)
    # A later pass may not have asked a profiler that had told.
    means = next((test.profiler for test in reversed(passes) if test.profiler), "")
    if not ratios and any(test.profiler_empty for test in passes):
        detail = f"{means}, and a step that computes is seen by it"
        return TimerCheck(name="profiler", outcome="failed", detail=detail)
    if not ratios and any(test.empty_sessions for test in passes):
        # Steps that at times compute nothing are no profiler that is missing, and one lost session is no proof of them.
        detail = f"{means}; some of its sessions saw no operation, and others did"
        return TimerCheck(name="profiler", outcome="untold", detail=detail)
    if not ratios:
        return TimerCheck(name="profiler", outcome="unavailable", detail=means)
    share = _profiler_share(passes)
    interval = fixed_interval(ratios, LIMITS.confidence)
    said = _said(interval, lambda log: f"{math.exp(log):.3g}")
    detail = f"{means} gives {said} times the fenced time, 1 within {share:.0%} is allowed"
    outcome = _steady(interval, _outcome(interval, math.log1p(share)))
    if outcome == "failed" and not all(test.profiler_can_fail for test in passes):
        outcome, detail = "untold", f"{detail}; such a profiler was not run by bakeoff's authors, and fails no timer"
    return TimerCheck(name="profiler", outcome=outcome, detail=detail)


def _fetching(passes: Sequence[TimerTest]) -> TimerCheck:
    """Check that a result that was waited for is ready: fetching it takes no longer than fetching it again."""
    interval = fixed_interval(_fetching_shares(passes), LIMITS.confidence)
    said = _said(interval, lambda share: f"{max(share, 0.0):.2%}")
    detail = f"after the wait, fetching the result takes {said} of a block's time, {LIMITS.allowed:.0%} is allowed"
    return TimerCheck(name="fetching", outcome=_outcome(interval, LIMITS.allowed, below=-math.inf), detail=detail)


def _outcome(interval: Interval | None, allowed: float, below: float | None = None) -> TimerOutcome:
    """Return the outcome of an interval; from `below` (None: -allowed) to `allowed` is allowed."""
    least = -allowed if below is None else below
    if interval is None:
        return "untold"
    if least < interval.low and interval.high < allowed:
        return "passed"
    return "failed" if interval.low > allowed or interval.high < least else "untold"


def _steady(interval: Interval | None, outcome: TimerOutcome) -> TimerOutcome:
    """Return the outcome, but "untold" for a failure by an interval of logarithms wider than the limit."""
    if interval is None or outcome != "failed":
        return outcome
    return "failed" if interval.high - interval.low <= LIMITS.widest else "untold"


def _said(interval: Interval | None, write: Callable[[float], str]) -> str:
    """Return an estimate with its interval, in words."""
    if interval is None:
        return "an unknown number of"
    low, high = write(interval.low), write(interval.high)
    return f"{write(interval.estimate)} ({low} to {high})"


def _log_ratio(above: int, below: int) -> float:
    """Return the logarithm of a ratio of times in nanoseconds; a time of 0 counts as 1."""
    return math.log(max(above, 1) / max(below, 1))

"""From the readings of a timer self-test to its outcome: pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bakeoff.spec.selftest import TimerCheck, TimerOutcome, TimerVerdict
from bakeoff.stats.intervals import fixed_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bakeoff.spec.selftest import TimerTest
    from bakeoff.spec.verdict import Interval

ALLOWED = 0.05
"""The default margin of equality: a clock that is wrong by more than this could turn a verdict. Passed is an interval
inside of it, failed one wholly outside of it, and all else cannot be told: so the spread of the readings decides,
and a busy machine makes nobody fail."""

WIDEST = math.log(1.5)
"""From end to end of the interval of a clock that fails. Where it is wider the machine is unsteady in a way that chance
does not describe: under heavy load a block of twice the length meets more than twice the stalls (found: 7.0 times the
time, 2.5 to 24), and no clock is told from that."""

CONFIDENCE = 0.99
"""Eight pairs are the fewest that the signed-rank test can be this sure of; a contender has three checks to fail."""


def judge_timer(contender: str, passes: Sequence[TimerTest]) -> TimerVerdict:
    """Judge all passes of one contender together."""
    checks = (_doubling(passes), _profiler(passes), _fetching(passes))
    failed = [check for check in checks if check.outcome == "failed"]
    untold = [check for check in checks if check.outcome == "untold"]
    told = failed or untold
    return TimerVerdict(
        contender=contender,
        outcome="failed" if failed else "untold" if untold else "passed",
        reason="; ".join(f"{check.name}: {check.detail}" for check in told),
        checks=checks,
    )


def _doubling(passes: Sequence[TimerTest]) -> TimerCheck:
    """Twice the work takes twice the time."""
    pairs = [pair for one in passes for pair in zip(one.single_ns, one.double_ns, strict=True)]
    interval = fixed_interval([_log_ratio(double, 2 * single) for single, double in pairs], CONFIDENCE)
    allowed = math.log1p(ALLOWED)
    said = _said(interval, lambda log: f"{2 * math.exp(log):.3g}")
    detail = f"twice the steps take {said} times the time, 2 within {ALLOWED:.0%} is allowed"
    return TimerCheck(name="doubling", outcome=_steady(interval, _outcome(interval, allowed)), detail=detail)


def _profiler(passes: Sequence[TimerTest]) -> TimerCheck:
    """The fenced time agrees with the framework's own profiler or device events."""
    pairs = [pair for one in passes for pair in zip(one.fenced_ns, one.profiled_ns, strict=False)]
    means = passes[-1].profiler if passes else ""
    if not pairs:
        return TimerCheck(name="profiler", outcome="unavailable", detail=means)
    # What of the first step comes before, and what of the last comes after all that a profiler sees, is at most a step.
    share = ALLOWED + 1 / min(one.profiled_steps for one in passes)
    interval = fixed_interval([_log_ratio(profiled, fenced) for fenced, profiled in pairs], CONFIDENCE)
    said = _said(interval, lambda log: f"{math.exp(log):.3g}")
    detail = f"{means} gives {said} times the fenced time, 1 within {share:.0%} is allowed"
    outcome = _steady(interval, _outcome(interval, math.log1p(share)))
    return TimerCheck(name="profiler", outcome=outcome, detail=detail)


def _fetching(passes: Sequence[TimerTest]) -> TimerCheck:
    """A result that was waited for is there: fetching it costs no more than fetching it once more."""
    shares = [
        (fetch - again) / max(block, 1)
        for one in passes
        for fetch, again, block in zip(one.fetch_ns, one.again_ns, one.block_ns, strict=True)
    ]
    interval = fixed_interval(shares, CONFIDENCE)
    said = _said(interval, lambda share: f"{max(share, 0.0):.2%}")
    detail = f"after the wait, fetching the result takes {said} of a block's time, {ALLOWED:.0%} is allowed"
    return TimerCheck(name="fetching", outcome=_outcome(interval, ALLOWED, below=-math.inf), detail=detail)


def _outcome(interval: Interval | None, allowed: float, below: float | None = None) -> TimerOutcome:
    """Hold an interval against what is allowed, from `below` to `allowed`."""
    least = -allowed if below is None else below
    if interval is None:
        return "untold"
    if least < interval.low and interval.high < allowed:
        return "passed"
    return "failed" if interval.low > allowed or interval.high < least else "untold"


def _steady(interval: Interval | None, outcome: TimerOutcome) -> TimerOutcome:
    """Let nobody fail by an interval of logarithms that only an unsteady machine makes so wide."""
    if interval is None or outcome != "failed":
        return outcome
    return "failed" if interval.high - interval.low <= WIDEST else "untold"


def _said(interval: Interval | None, write: Callable[[float], str]) -> str:
    """Write an estimate with its interval."""
    if interval is None:
        return "an unknown number of"
    low, high = write(interval.low), write(interval.high)
    return f"{write(interval.estimate)} ({low} to {high})"


def _log_ratio(above: int, below: int) -> float:
    """Give the logarithm of a ratio of times; a clock that stood still counts as one nanosecond."""
    return math.log(max(above, 1) / max(below, 1))

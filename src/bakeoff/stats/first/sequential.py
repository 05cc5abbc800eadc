"""Verdicts of the first procedure, reached round by round: sequential Holm correction with scheduled looks.

The whole history is replayed in the order of its rounds, so that the same records always give the same verdicts. A
verdict is reached only at a look, and no later round changes it. Until-sure looks after every round instead. One
interval is boundary and estimate at once, which is what the present procedure (`stats.sequential`) keeps apart.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bakeoff.spec.verdict import Interval, Verdict, VerdictKind
from bakeoff.stats.anytime import anytime_interval
from bakeoff.stats.first.boundaries import LOOKS, check_family
from bakeoff.stats.first.futility import MIN_ROUNDS, hopeless
from bakeoff.stats.first.intervals import centre, pair_interval
from bakeoff.stats.pairs import Ended, Pair, Stopped, beside_the_size, judge_interval
from bakeoff.stats.size import Narrow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bakeoff.spec.comparison import Aim

NARROWEST = 1e-6
"""Margins below this count as no margin: no step time can be measured to a millionth."""


NARROW = Narrow(half_width=math.log1p(0.05), share=0.25)
"""Of comparisons that this procedure decides, whatever the present one calls narrow."""


class _Progress:
    """One pair while its history is replayed."""

    def __init__(self, pair: Pair, aim: Aim) -> None:
        self.pair = pair
        self.aim = aim
        self.values: list[float] = []
        self.rounds: list[int] = []
        """The rounds of `values`, counted from 0."""
        self.interval: Interval | None = None
        """The interval of the last look that had one, as logarithms."""
        self.looked: int = 0
        """The number of values at that look."""
        self.verdict: VerdictKind = "undecided"
        self.futile = False

    @property
    def is_wide(self) -> bool:
        """Whether the pair is decided, but its interval is wider than how-much asks for."""
        if self.aim != "how-much" or self.verdict not in ("faster", "slower") or self.interval is None:
            return False
        half = (self.interval.high - self.interval.low) / 2.0
        return half > max(NARROW.half_width, NARROW.share * abs(self.interval.estimate))

    @property
    def is_settled(self) -> bool:
        """Whether the pair has everything that the comparison aims at, so that it needs no more rounds."""
        return self.verdict != "undecided" and not self.is_wide

    def add(self, round_index: int) -> bool:
        """Add one round, unless the pair is settled or has no value in it; return whether a look is due."""
        differences = self.pair.differences
        value = differences[round_index] if round_index < len(differences) else None
        if self.is_settled or value is None:
            return False
        self.values.append(value)
        self.rounds.append(round_index)
        return self.aim == "until-sure" or len(self.values) in LOOKS

    def look(self, family: int, rho: float) -> None:
        """Compute the interval for a family of this size and, where it allows one, the verdict, which never changes."""
        form = anytime_interval if self.aim == "until-sure" else pair_interval
        interval = form(self.values, family)
        if interval is None:
            return
        self.looked = len(self.values)
        if self.verdict == "undecided" or self.interval is None:
            self.interval, self.verdict = interval, judge_interval(interval, rho)
        else:
            self.interval = _common(self.interval, interval)


def decide(
    pairs: Sequence[Pair], *, margin: float, max_rounds: int | None, ended: Ended = "", aim: Aim = "verdict"
) -> list[Verdict]:
    """Return the verdict on every pair after the rounds so far, in the order of `pairs`.

    Rounds beyond `max_rounds` do not count. The family of the Holm correction is the number of pairs that are not yet
    found to differ; until-sure takes all pairs. Raise ValueError for more pairs than there are boundaries for.
    """
    if pairs:
        check_family(len(pairs))
    rho = math.log1p(margin)
    progress = [_Progress(pair, aim) for pair in pairs]
    done = max((len(pair.differences) for pair in pairs), default=0)
    limit = max(done, LOOKS[-1]) if max_rounds is None else max_rounds
    done = min(done, limit)
    for round_index in range(done):
        due = [pair for pair in progress if pair.add(round_index)]
        if aim == "until-sure":
            for pair in due:
                pair.look(len(pairs), rho)
            continue
        _look(due, progress, rho)
        family = max(1, _open(progress))
        for pair in due:
            last = _last_look(len(pair.values) + limit - round_index - 1)
            pair.futile = _is_futile(pair, last, family, rho)
    left = None if max_rounds is None else max_rounds - done
    return [_verdict(pair, rho, _stopped(pair, left, ended)) for pair in progress]


def _open(progress: Iterable[_Progress]) -> int:
    """Return the number of pairs that are not found to differ; a verdict of equal does not reduce the family."""
    return sum(pair.verdict in ("undecided", "equal") for pair in progress)


def _look(due: Sequence[_Progress], progress: Sequence[_Progress], rho: float) -> None:
    """Look at the pairs that are due, and again with the smaller family as long as that finds another difference."""
    wide = [pair for pair in due if pair.is_wide]
    family = 0
    while (smaller := _open(progress)) != family:
        family = smaller
        for pair in due:
            if pair.verdict == "undecided":
                pair.look(family, rho)
    for pair in wide:
        # This pair is found to differ, so that the family no longer counts it; its own interval still has to.
        pair.look(family + 1, rho)


def _last_look(reachable: int) -> int | None:
    """Return the last look that a pair with this many rounds in all has; None where it has no look."""
    return max((look for look in LOOKS if look <= reachable), default=None)


def _is_futile(pair: _Progress, last: int | None, family: int, rho: float) -> bool:
    """Return whether a pair that was just looked at has too small a chance of a verdict for more rounds."""
    count = len(pair.values)
    if pair.verdict != "undecided" or count < MIN_ROUNDS or last is None or last <= count:
        return False
    return hopeless(pair.values, last, family, rho)


def _stopped(pair: _Progress, left: int | None, ended: Ended) -> Stopped:
    """Return why a pair gets no more rounds, with `left` rounds to come; "" where it is settled or goes on."""
    if pair.is_settled:
        return ""
    if pair.futile:
        return "futility"
    if left is None or pair.aim == "until-sure":
        return "rounds" if left == 0 else ended
    last = _last_look(len(pair.values) + left)
    # Where not even the first look can be reached, the rounds that were asked for are still run, for their step times.
    if left == 0 or (last is not None and last <= len(pair.values)):
        return "rounds"
    return ended


def _more_rounds(pair: _Progress, rho: float) -> int | None:
    """Return about how many more rounds would narrow the interval to the margin: its width falls with their root.

    None where there is no interval yet, or where the margin is so narrow that no number of rounds would do.
    """
    if pair.interval is None or rho < NARROWEST:
        return None
    half = (pair.interval.high - pair.interval.low) / 2.0
    needed = math.ceil(pair.looked * (half / rho) ** 2)
    done = len(pair.values)
    looks = () if pair.aim == "until-sure" else LOOKS
    return max(needed, next((look for look in looks if look > done), done + 1)) - done


def _verdict(pair: _Progress, rho: float, stopped: Stopped) -> Verdict:
    """Return one pair's result, with ratios instead of logarithms."""
    logs = pair.interval
    ratio = None if logs is None else _as_ratio(logs)
    estimate = ratio.estimate if ratio else math.exp(centre(pair.values)) if pair.values else None
    return Verdict(
        first=pair.pair.first,
        second=pair.pair.second,
        verdict=pair.verdict,
        ratio=estimate,
        low=ratio.low if ratio else None,
        high=ratio.high if ratio else None,
        rounds=len(pair.values),
        under_margin=logs is not None
        and ((pair.verdict == "slower" and logs.low < rho) or (pair.verdict == "faster" and logs.high > -rho)),
        more_rounds=_more_rounds(pair, rho) if pair.verdict == "undecided" else None,
        stopped=stopped,
        wide=pair.is_wide,
        **beside_the_size(pair.pair, pair.rounds, centre),
    )


def _common(before: Interval, now: Interval) -> Interval:
    """Return the intersection of two looks' intervals, which hold together; the earlier interval if it is empty."""
    low, high = max(before.low, now.low), min(before.high, now.high)
    if low >= high:
        return before
    return Interval(estimate=min(high, max(low, now.estimate)), low=low, high=high)


def _as_ratio(logs: Interval) -> Interval:
    """Return an interval of log-ratios as one of ratios."""
    return Interval(estimate=math.exp(logs.estimate), low=math.exp(logs.low), high=math.exp(logs.high))

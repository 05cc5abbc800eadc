"""Verdicts on pairs of contenders, reached round by round: sequential Holm correction with scheduled looks.

The whole history is replayed in the order of its rounds, so that the same records always give the same verdicts. A
verdict is reached only at a look, and no later round changes it. Until-sure looks after every round instead.
`docs/method.md` gives the reasons.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
import numpy as np

from bakeoff.spec.verdict import Interval, Verdict, VerdictKind
from bakeoff.stats.anytime import anytime_interval
from bakeoff.stats.boundaries import LOOKS, check_family
from bakeoff.stats.futility import MIN_ROUNDS, hopeless
from bakeoff.stats.intervals import centre, pair_interval

if TYPE_CHECKING:
    from bakeoff.spec.comparison import Aim

Ended = Literal["", "budget", "rounds"]
"""Why a comparison ended before every pair was settled; "" while it runs, and for any other reason."""
Stopped = Literal["", "futility", "budget", "rounds"]

NARROWEST = 1e-6
"""Margins below this count as no margin: no step time can be measured to a millionth."""


class Narrow(NamedTuple):
    """When how-much calls an interval narrow: its half-width, as a logarithm, is at most one of two limits.

    half_width  5 % of the ratio
    share       a quarter of the difference: of a ratio of 2 nobody asks for the third digit
    """

    half_width: float = math.log1p(0.05)
    share: float = 0.25


NARROW = Narrow()


class Stopping(msgspec.Struct, frozen=True, kw_only=True):
    """When a contender runs no more rounds, whatever its pairs are."""

    failures: int = 2
    """Failed timed trials after which it is given up: a third would fail, too."""
    rounds_alone: int = 3
    """Rounds where no other is left: they give its step time an interval, and there is no pair to settle."""


STOPPING = Stopping()


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How far a contender has come."""

    label: str
    rounds: int = 0
    """With a time of its own."""
    failures: int = 0
    """Of timed trials."""


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


def still_active(standings: Sequence[Standing], verdicts: Iterable[Verdict]) -> list[str]:
    """Return the labels of the contenders that run in the next round, in the order of `standings`.

    A contender runs on while it has a pair, with one that is not given up, that is neither settled nor stopped; a pair
    without a verdict is open. `standings` name a pair's contenders in the order in which its verdict does. The only
    contender that is left runs for the rounds that its step time's interval needs.
    """
    labels = [one.label for one in standings if one.failures < STOPPING.failures]
    if len(labels) == 1:
        return [one.label for one in standings if one.label in labels and one.rounds < STOPPING.rounds_alone]
    closed = {(verdict.first, verdict.second) for verdict in verdicts if not is_open(verdict)}
    needed = {label for pair in combinations(labels, 2) if pair not in closed for label in pair}
    return [label for label in labels if label in needed]


def ratio_unflagged(pair: Pair, rounds: Sequence[int]) -> float | None:
    """Return the ratio of first to second over `rounds`, without the turns that other processes disturbed.

    The estimator is that of the looks. None where no block was disturbed, or where no turn is left.
    """
    values = [value for index in rounds if index < len(pair.calm) and (value := pair.calm[index]) is not None]
    return math.exp(centre(values)) if values and any(flagged for flagged, _ in _blocks(pair, rounds)) else None


def ratio_of_means(pair: Pair, rounds: Sequence[int]) -> float | None:
    """Return the ratio of the mean step times over `rounds`; None where there are no means."""
    means = [mean for index in rounds if index < len(pair.means) and (mean := pair.means[index]) is not None]
    if not means:
        return None
    first, second = np.asarray(means).mean(axis=0)
    return float(first / second)


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
    blocks = _blocks(pair.pair, pair.rounds)
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
        ratio_of_means=ratio_of_means(pair.pair, pair.rounds),
        ratio_unflagged=ratio_unflagged(pair.pair, pair.rounds),
        blocks=sum(count for _, count in blocks),
        flagged_blocks=sum(flagged for flagged, _ in blocks),
        flagged_rounds=sum(flagged > 0 for flagged, _ in blocks),
    )


def _blocks(pair: Pair, rounds: Sequence[int]) -> list[tuple[int, int]]:
    """Return for each of these rounds the numbers of disturbed blocks and of all blocks, where they are known."""
    return [pair.blocks[index] for index in rounds if index < len(pair.blocks)]


def _common(before: Interval, now: Interval) -> Interval:
    """Return the intersection of two looks' intervals, which hold together; the earlier interval if it is empty."""
    low, high = max(before.low, now.low), min(before.high, now.high)
    if low >= high:
        return before
    return Interval(estimate=min(high, max(low, now.estimate)), low=low, high=high)


def _as_ratio(logs: Interval) -> Interval:
    """Return an interval of log-ratios as one of ratios."""
    return Interval(estimate=math.exp(logs.estimate), low=math.exp(logs.low), high=math.exp(logs.high))

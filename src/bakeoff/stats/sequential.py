"""Verdicts on pairs of contenders, reached round by round: decision and size apart.

The direction of a pair is decided at scheduled looks, by boundaries that hold over all looks and pairs together; its
size is reported by an interval of its own, from all of its rounds. The whole history is replayed in the order of its
rounds, so that the same records always give the same verdicts; no later round changes a direction. Until-sure looks
after every round instead. `docs/verdicts.md` gives the reasons.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bakeoff.spec.comparison import Goal, goal_of
from bakeoff.spec.verdict import Interval, Verdict, VerdictKind
from bakeoff.stats.anytime import anytime_decision
from bakeoff.stats.boundaries import LOOKS, check_family
from bakeoff.stats.coming import more_rounds
from bakeoff.stats.decision import decision_interval, prior_variance
from bakeoff.stats.futility import MIN_ROUNDS, hopeless
from bakeoff.stats.intervals import pseudo_median
from bakeoff.stats.pairs import Ended, Pair, Stopped, beside_the_size, judge_interval
from bakeoff.stats.size import LEVEL, is_narrow, size_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bakeoff.spec.comparison import Aim

FEWEST_ROUNDS = LOOKS[0]
"""Fewer give no verdict."""


class _Progress:
    """One pair while its history is replayed."""

    def __init__(self, pair: Pair, pairs: Sequence[Pair], goal: Goal) -> None:
        self.pair = pair
        self.goal = goal
        self.prior = prior_variance(pair, pairs)
        self.values: list[float] = []
        self.rounds: list[int] = []
        """The rounds of `values`, counted from 0."""
        self.decided: Interval | None = None
        """The interval of the last look while the pair was undecided, as logarithms."""
        self.decided_rounds: int | None = None
        self.verdict: VerdictKind = "undecided"
        self.futile = False
        self.lost = False

    @property
    def size(self) -> Interval | None:
        """The interval of the size, from all rounds so far."""
        return size_interval(self.values, self.verdict)

    @property
    def is_wide(self) -> bool:
        """Whether the pair is found to differ, and by how much is not known as narrowly as the comparison aims at."""
        if self.goal != "size" or self.verdict not in ("faster", "slower"):
            return False
        return self.size is None or not is_narrow(self.size)

    def add(self, round_index: int) -> bool:
        """Add one round, unless the pair has no value in it; return whether a look is due."""
        differences = self.pair.differences
        self.lost = self.pair.lost is not None and round_index >= self.pair.lost
        value = differences[round_index] if round_index < len(differences) else None
        if value is None:
            return False
        self.values.append(value)
        self.rounds.append(round_index)
        count = len(self.values)
        return count >= FEWEST_ROUNDS if self.goal == "until-sure" else count in LOOKS

    def look(self, family: int, rho: float) -> None:
        """Hold an undecided pair to the boundaries of a family of this size."""
        if self.goal == "until-sure":
            interval = anytime_decision(self.values, family)
        else:
            interval = decision_interval(self.values, family, self.prior)
        if interval is None:
            return
        self.decided, self.verdict = interval, judge_interval(interval, rho)
        if self.verdict != "undecided":
            self.decided_rounds = len(self.values)


def decide(
    pairs: Sequence[Pair], *, margin: float, max_rounds: int | None, ended: Ended = "", aim: Aim = "size"
) -> list[Verdict]:
    """Return the verdict on every pair after the rounds so far, in the order of `pairs`.

    Rounds beyond `max_rounds` do not count. The family of the Holm correction is the number of pairs that are not yet
    found to differ and of which no contender is lost; until-sure takes all pairs. Raise ValueError for more pairs than
    there are boundaries for.
    """
    if pairs:
        check_family(len(pairs))
    rho, goal = math.log1p(margin), goal_of(aim)
    done = max((len(pair.differences) for pair in pairs), default=0)
    limit = max(done, LOOKS[-1]) if max_rounds is None else max_rounds
    done = min(done, limit)
    progress = [_Progress(pair, pairs, goal) for pair in pairs]
    for round_index in range(done):
        due = [pair for pair in progress if pair.add(round_index) and pair.verdict == "undecided"]
        _look(due, progress, rho)
        for pair in due:
            last = _last_look(len(pair.values) + limit - round_index - 1)
            pair.futile = _is_futile(pair, last, _family(progress), rho)
    left = None if max_rounds is None else max_rounds - done
    family = _family(progress)
    return [_verdict(pair, rho, family, _stopped(pair, left, ended)) for pair in progress]


def _family(progress: Sequence[_Progress]) -> int:
    """Return how many pairs share the error that is left.

    A pair that is found to differ leaves it (Holm), one that is equal stays. One that lost a contender will not be
    looked at again: its share of what the coming looks may spend passes to the others, and since no time had a part in
    the loss, all shares together stay what they were. Until-sure's boundaries have no such shares to pass on.
    """
    if progress and progress[0].goal == "until-sure":
        return len(progress)
    return max(1, sum(pair.verdict in ("undecided", "equal") and not pair.lost for pair in progress))


def _look(due: Iterable[_Progress], progress: Sequence[_Progress], rho: float) -> None:
    """Look at the pairs that are due, and again with the smaller family as long as that finds another difference."""
    undecided, before = list(due), 0
    while undecided and (family := _family(progress)) != before:
        before = family
        for pair in undecided:
            pair.look(family, rho)
        undecided = [pair for pair in undecided if pair.verdict == "undecided"]


def _last_look(reachable: int) -> int | None:
    """Return the last look that a pair with this many rounds in all has; None where it has no look."""
    return max((look for look in LOOKS if look <= reachable), default=None)


def _is_futile(pair: _Progress, last: int | None, family: int, rho: float) -> bool:
    """Return whether a pair that was just looked at has too small a chance of a verdict for more rounds."""
    count = len(pair.values)
    is_last = last is None or last <= count
    if pair.goal == "until-sure" or pair.verdict != "undecided" or count < MIN_ROUNDS or is_last:
        return False
    assert last is not None
    return hopeless(pair.values, last, family, rho, moderated=pair.prior is not None)


def _stopped(pair: _Progress, left: int | None, ended: Ended) -> Stopped:
    """Return why a pair gets no more rounds, with `left` rounds to come; "" where it is settled or goes on."""
    if pair.verdict != "undecided":
        return ("rounds" if left == 0 else ended) if pair.is_wide else ""
    if pair.futile:
        return "futility"
    if left is None or pair.goal == "until-sure":
        return "rounds" if left == 0 else ended
    last = _last_look(len(pair.values) + left)
    # Where not even the first look can be reached, the rounds that were asked for are still run, for their step times.
    if left == 0 or (last is not None and last <= len(pair.values)):
        return "rounds"
    return ended


def _verdict(pair: _Progress, rho: float, family: int, stopped: Stopped) -> Verdict:
    """Return one pair's result, with ratios instead of logarithms."""
    size, decided = pair.size, pair.decided
    ratio = math.exp(size.estimate if size else pseudo_median(pair.values)) if pair.values else None
    needed = more_rounds(pair.values, pair.verdict, family, rho, goal=pair.goal, moderated=pair.prior is not None)
    is_wanted = pair.verdict == "undecided" or pair.is_wide
    return Verdict(
        first=pair.pair.first,
        second=pair.pair.second,
        verdict=pair.verdict,
        ratio=ratio,
        low=math.exp(size.low) if size else None,
        high=math.exp(size.high) if size else None,
        level=LEVEL if size else None,
        rounds=len(pair.values),
        fewest=FEWEST_ROUNDS,
        decided_rounds=pair.decided_rounds,
        decided_low=math.exp(decided.low) if decided else None,
        decided_high=math.exp(decided.high) if decided else None,
        under_margin=size is not None
        and ((pair.verdict == "slower" and size.low < rho) or (pair.verdict == "faster" and size.high > -rho)),
        more_rounds=needed.rounds if needed and is_wanted else None,
        chance=needed.chance if needed and is_wanted else None,
        stopped=stopped,
        wide=pair.is_wide,
        **beside_the_size(pair.pair, pair.rounds),
    )

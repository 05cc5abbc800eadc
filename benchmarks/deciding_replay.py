"""Many comparisons at once, by the procedures of `bakeoff.stats`: vectorised, so that thousands take seconds.

`tests/stats/test_replay.py` holds both against the shipped code, comparison by comparison. Log times are
(trials, contenders, rounds); what belongs to pairs is (trials, pairs), in the order of `itertools.combinations`.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from bakeoff.stats.boundaries import FROM_SIGN, LOOKS, multiplier, sign_index
from bakeoff.stats.decision import PRIOR_FREEDOM, PRIOR_ROUNDS
from bakeoff.stats.first import boundaries as first_boundaries
from bakeoff.stats.first.futility import MIN_ROUNDS as FIRST_MIN_ROUNDS
from bakeoff.stats.first.futility import half_width
from bakeoff.stats.futility import MEAN_DEVIATION_TO_SD, MIN_POWER, MIN_ROUNDS
from bakeoff.stats.intervals import largest_index
from bakeoff.stats.size import COMPUTED, MULTIPLIERS, NARROW

if TYPE_CHECKING:
    from bakeoff.spec.comparison import Goal

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
RHO = math.log1p(0.05)
TINY = 1e-300  # keeps a spread of 0 from dividing
UNDECIDED, SLOWER, FASTER, EQUAL = 0, 1, -1, 2


class Bounds(NamedTuple):
    """An interval of every pair."""

    estimate: Floats
    low: Floats
    high: Floats


class Rules(Protocol):
    """How a procedure decides; `seen` are the log-ratios so far, (trials, pairs, rounds)."""

    looks: tuple[int, ...]
    futile_from: int

    def decides(self, seen: Floats, prior: Floats | None, family: int) -> Bounds | None:
        """Give the intervals of a look for a family of this size; None at a look without boundaries."""

    def last_half(self, family: int, *, moderated: bool) -> float | None:
        """Give the half-width at the last look, in standard deviations."""


class Present:
    """The shipped procedure."""

    looks = LOOKS
    futile_from = MIN_ROUNDS

    def decides(self, seen: Floats, prior: Floats | None, family: int) -> Bounds:
        """Give what `stats.decision` gives."""
        count, moderated = seen.shape[-1], prior is not None
        middle, mean, variance = pseudo_median(averages(seen)), seen.mean(-1), seen.var(-1, ddof=1)
        if prior is not None:
            variance = (PRIOR_FREEDOM * prior + (count - 1) * variance) / (PRIOR_FREEDOM + count - 1)
        half = multiplier(count, family, moderated=moderated) * np.sqrt(variance / count)
        low, high = np.minimum(middle, mean) - half, np.maximum(middle, mean) + half
        index = sign_index(count, family, moderated=moderated)
        if index is not None:
            low, high = narrowed(low, high, np.sort(seen, axis=-1), index)
        return Bounds(middle, low, high)

    def last_half(self, family: int, *, moderated: bool) -> float:
        """Give it by t."""
        return multiplier(LOOKS[-1], family, moderated=moderated) / math.sqrt(LOOKS[-1])


def narrowed(low: Floats, high: Floats, ordered: Floats, index: int) -> tuple[Floats, Floats]:
    """Give what an interval has in common with that between the values at `index` from either end."""
    other_low, other_high = ordered[..., index], ordered[..., ordered.shape[-1] - 1 - index]
    least, most = np.maximum(low, other_low), np.minimum(high, other_high)
    apart = least > most
    return (
        np.where(apart, np.minimum(low, other_low), least),
        np.where(apart, np.maximum(high, other_high), most),
    )


class First:
    """The first procedure, as old comparisons are decided by it."""

    looks = first_boundaries.LOOKS
    futile_from = FIRST_MIN_ROUNDS

    def decides(self, seen: Floats, prior: Floats | None, family: int) -> Bounds | None:
        """Give what `stats.first.intervals` gives; there is no prior."""
        del prior
        count = seen.shape[-1]
        if count in first_boundaries.T_LOOKS:
            half = first_boundaries.t_multiplier(count, family) * seen.std(-1, ddof=1) / math.sqrt(count)
            mean = seen.mean(-1)
            return Bounds(mean, mean - half, mean + half)
        index = first_boundaries.rank_index(count, family)
        if index is None:
            return None
        ordered = averages(seen)
        return Bounds(pseudo_median(ordered), ordered[..., index], ordered[..., ordered.shape[-1] - 1 - index])

    def last_half(self, family: int, *, moderated: bool) -> float | None:
        """Give it by signed ranks."""
        del moderated
        return half_width(self.looks[-1], family)


def averages(seen: Floats) -> Floats:
    """Give the averages of every two rounds, sorted."""
    rows, columns = np.triu_indices(seen.shape[-1])
    found: Floats = np.sort((seen[..., rows] + seen[..., columns]) / 2.0, axis=-1)
    return found


def pseudo_median(ordered: Floats) -> Floats:
    """Give the median of sorted averages."""
    last = ordered.shape[-1] - 1
    found: Floats = (ordered[..., last // 2] + ordered[..., last - last // 2]) / 2.0
    return found


def size(seen: Floats) -> Bounds:
    """Give what `stats.size` gives, uncut."""
    count, ordered = seen.shape[-1], averages(seen)
    middle = pseudo_median(ordered)
    if count < FROM_SIGN:
        half = MULTIPLIERS[count] * seen.std(-1, ddof=1) / math.sqrt(count)
        return Bounds(middle, middle - half, middle + half)
    index = largest_index(count, 1.0 - COMPUTED)
    assert index is not None
    return Bounds(middle, ordered[..., index], ordered[..., ordered.shape[-1] - 1 - index])


def prior_of(logs: Floats) -> Floats | None:
    """Give what `stats.decision.prior_variance` gives, (trials, pairs); None of two contenders."""
    early, contenders = logs[..., :PRIOR_ROUNDS], logs.shape[1]
    if contenders == 2:
        return None
    total, found = early.sum(1), []
    for first, second in combinations(range(contenders), 2):
        both = early[:, first] + early[:, second]
        others = (both - 2.0 * (total - both) / (contenders - 2)).var(-1, ddof=1) / (1.0 + 2.0 / (contenders - 2))
        found.append(((early[:, first] - early[:, second]).var(-1, ddof=1) + others) / 2.0)
    return np.stack(found, axis=1)


class Raced(NamedTuple):
    """Comparisons that are over, (trials, pairs)."""

    verdicts: Numbers
    low: Floats
    high: Floats
    """As logarithms: by the present procedure the size's interval, by the first one that of the last look."""
    estimate: Floats
    rounds: Numbers
    decided: Numbers
    """The round of the verdict; 0 where there is none."""
    processes: Numbers
    """(trials, 20): how many contenders ran in each round."""


class Race:
    """The comparisons while they run."""

    def __init__(self, logs: Floats, rules: Rules, goal: Goal, lost: Numbers | None = None) -> None:
        """Begin before the first round."""
        trials, self.contenders, self.last = logs.shape
        self.rules, self.goal = rules, goal
        self.pairs = list(combinations(range(self.contenders), 2))
        self.one, self.other = (np.array(side) for side in zip(*self.pairs, strict=True))
        self.ratios = np.stack([logs[:, a] - logs[:, b] for a, b in self.pairs], axis=1)
        self.is_first = isinstance(rules, First)
        self.prior = None if self.is_first else prior_of(logs)
        self.lost = np.full((trials, self.contenders), self.last + 1) if lost is None else lost
        """The round, counted from 1, in which a contender is given up; it has no time in it."""
        shape = (trials, len(self.pairs))
        self.verdicts, self.rounds, self.decided = (np.zeros(shape, dtype=np.int64) for _ in range(3))
        self.estimate, self.low, self.high = (np.full(shape, np.nan) for _ in range(3))
        self.futile = np.zeros(shape, dtype=bool)
        self.active = np.ones((trials, self.contenders), dtype=bool)
        self.processes = np.zeros((trials, self.last), dtype=np.int64)

    def run(self) -> Raced:
        """Run every comparison to its end."""
        for done in range(1, self.last + 1):
            self.active &= self.lost > done
            rows = np.flatnonzero(self.active.any(1))
            if not rows.size:
                break
            self.processes[:, done - 1] = self.active.sum(1)
            due = self.active[:, self.one] & self.active[:, self.other]
            self.rounds += due
            if done in self.rules.looks:
                self._look(rows, due[rows], done)
            if done >= self.rules.looks[0]:
                self._rest(rows, due[rows], done)
        return Raced(self.verdicts, self.low, self.high, self.estimate, self.rounds, self.decided, self.processes)

    def _family(self, rows: Numbers, done: int) -> Numbers:
        """Give how many pairs share the error that is left."""
        gone = (self.lost[:, self.one] <= done) | (self.lost[:, self.other] <= done)
        is_open = np.isin(self.verdicts[rows], (UNDECIDED, EQUAL)) & (self.is_first | ~gone[rows])
        found: Numbers = np.maximum(1, is_open.sum(1))
        return found

    def _look(self, rows: Numbers, due: NDArray[np.bool_], done: int) -> None:
        """Hold the undecided pairs to the boundaries, again as long as the family shrinks."""
        seen, prior = self.ratios[rows][..., :done], None if self.prior is None else self.prior[rows]
        known: dict[int, Bounds | None] = {}
        before = np.zeros(len(rows), dtype=np.int64)
        while (changed := (family := self._family(rows, done)) != before).any():
            before = family
            for pairs in np.unique(family[changed]).tolist():
                if pairs not in known:
                    known[pairs] = self.rules.decides(seen, prior, pairs)
                bounds = known[pairs]
                held = due & (self.verdicts[rows] == UNDECIDED) & (changed & (family == pairs))[:, None]
                if bounds is not None:
                    self._decide(rows, held, bounds, done)
        if self.rules.futile_from <= done < self.last:
            self._give_up(rows, due, seen, family)

    def _decide(self, rows: Numbers, held: NDArray[np.bool_], bounds: Bounds, done: int) -> None:
        """Write down the verdicts that these intervals allow."""
        estimate, low, high = bounds
        inside = (low > -RHO) & (high < RHO)
        kinds = np.where(inside, EQUAL, np.where(low > 0.0, SLOWER, np.where(high < 0.0, FASTER, UNDECIDED)))
        for target, value in (
            (self.verdicts, kinds),
            (self.decided, np.where(kinds == UNDECIDED, 0, done)),
        ):
            target[rows] = np.where(held, value, target[rows])
        if self.is_first:
            for target, number in ((self.estimate, estimate), (self.low, low), (self.high, high)):
                target[rows] = np.where(held, number, target[rows])

    def _give_up(self, rows: Numbers, due: NDArray[np.bool_], seen: Floats, family: Numbers) -> None:
        """Find the pairs that the last look would hardly decide."""
        done = seen.shape[-1]
        deviation = np.abs(seen - np.median(seen, axis=-1, keepdims=True)).mean(-1) * math.sqrt(done / (done - 1))
        spread = np.minimum(seen.std(-1, ddof=1), MEAN_DEVIATION_TO_SD * deviation)
        is_mean = self.is_first and done in first_boundaries.T_LOOKS
        middle = seen.mean(-1) if is_mean else pseudo_median(averages(seen))
        sizes = range(1, len(self.pairs) + 1)
        halves = [self.rules.last_half(pairs, moderated=self.prior is not None) for pairs in sizes]
        half = np.array([np.nan if one is None else one for one in halves])[family - 1][:, None] * spread
        wander = np.maximum(spread, TINY) * math.sqrt(1.0 / done - 1.0 / self.last)
        outside = ndtr((middle - half) / wander) + ndtr((-middle - half) / wander)
        inside = ndtr((RHO - half - middle) / wander) - ndtr((half - RHO - middle) / wander)
        is_sure = np.isnan(half) | (spread == 0.0) | (~np.isnan(half) & (2.0 * half <= RHO))
        power = np.where(is_sure, 1.0, outside + np.maximum(0.0, inside))
        undecided = self.verdicts[rows] == UNDECIDED
        self.futile[rows] = np.where(due, undecided & (power < MIN_POWER), self.futile[rows])

    def _rest(self, rows: Numbers, due: NDArray[np.bool_], done: int) -> None:
        """Let contenders rest that have no open pair; tell the size of every pair that has run."""
        verdicts = self.verdicts[rows]
        if not self.is_first:
            estimate, low, high = size(self.ratios[rows][..., :done])
            low = np.where(verdicts == SLOWER, np.maximum(low, 0.0), low)
            high = np.where(verdicts == FASTER, np.minimum(high, 0.0), high)
            for target, number in ((self.estimate, estimate), (self.low, low), (self.high, high)):
                target[rows] = np.where(due, number, target[rows])
        half = (self.high[rows] - self.low[rows]) / 2.0
        narrow = half <= np.maximum(NARROW.half_width, NARROW.share * np.abs(self.estimate[rows]))
        settled = (verdicts == EQUAL) | ((np.abs(verdicts) == 1) & (narrow | (self.goal == "direction")))
        is_open = ~settled & ~(self.futile[rows] & (verdicts == UNDECIDED))
        needed = np.zeros((len(rows), self.contenders), dtype=bool)
        alive = self.lost[rows] > done
        for place, (one, other) in enumerate(self.pairs):
            both = is_open[:, place] & alive[:, one] & alive[:, other]
            needed[:, one] |= both
            needed[:, other] |= both
        self.active[rows] &= needed


def race(logs: Floats, rules: Rules, goal: Goal = "size", lost: Numbers | None = None) -> Raced:
    """Run comparisons of contenders with these log times, each to its end."""
    return Race(logs, rules, "direction" if isinstance(rules, First) else goal, lost).run()

"""Whether a framework's step takes as long in ping-pong with others as alone: from the records of both ways.

The ratio is that of the step time in ping-pong over the one alone, twice:

- quickest quarter: the lower quartile over the blocks of all rounds; its 95 % interval is by bootstrap over rounds. A
  lead-in that is too short slows every block of ping-pong, the quickest as well; what other guests of the machine do
  slows some blocks, and those are not among the quickest. So this one is the test.
- medians: by process medians over rounds, the interval by t. On a machine with bursts this one tells of the bursts.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from bakeoff.judge.rounds import kept_blocks, round_times
from bakeoff.spec.verdict import Interval
from bakeoff.stats.differences import process_median
from bakeoff.stats.intervals import MIN_VALUES, fixed_interval
from bakeoff.store.results import of_contender

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bakeoff.spec.record import Record

Way = Literal["alone", "ping-pong"]
WAYS: tuple[Way, ...] = ("alone", "ping-pong")

AGREED = 0.02
"""Below what races are to resolve: the margin of equality is 5 %."""

RESAMPLES = 2000
"""Enough for the second digit of a 95 % interval's ends (Efron and Tibshirani 1993, chapter 13)."""


class TwoWays(msgspec.Struct, frozen=True, kw_only=True):
    """One contender's step alone and in ping-pong."""

    label: str
    rounds: int
    """In which both ways were timed."""
    step_s: dict[str, float] = {}
    """The lower quartile of each way; empty below three rounds, as all that follows."""
    quickest: Interval | None = None
    """Of the lower quartiles: ping-pong over alone."""
    medians: Interval | None = None
    """Of the process medians: ping-pong over alone."""
    spread: float | None = None
    """Standard deviation of the runs alone, on the log scale."""

    @property
    def agrees(self) -> bool | None:
        """Whether the quickest quarters agree within 2 %, by all of the interval; None: neither is known."""
        found = self.quickest
        if found is None:
            return None
        if found.low >= 1.0 - AGREED and found.high <= 1.0 + AGREED:
            return True
        return False if found.high < 1.0 - AGREED or found.low > 1.0 + AGREED else None


def two_ways(label: str, records: Mapping[Way, Sequence[Record]]) -> TwoWays:
    """Return how one contender's two ways compare; a round is a pair of numbers, one of each way.

    A round in which a trial failed is left out, and `rounds` tells.
    """
    mine = {way: of_contender(records[way], label) for way in WAYS}
    times = {
        way: {(number - 1) // 2: time for number, time in round_times(mine[way], kept_blocks(mine[way])).items()}
        for way in WAYS
    }
    both = sorted(times["alone"].keys() & times["ping-pong"].keys())
    if len(both) < MIN_VALUES:
        return TwoWays(label=label, rounds=len(both))
    blocks = {way: [list(times[way][number].turns.values()) for number in both] for way in WAYS}
    step_s = {way: [process_median(turns) for turns in blocks[way]] for way in WAYS}
    logs = [math.log(b / a) for a, b in zip(step_s["alone"], step_s["ping-pong"], strict=True)]
    interval = fixed_interval(logs, 0.95)
    assert interval is not None
    return TwoWays(
        label=label,
        rounds=len(both),
        step_s={way: _quarter(blocks[way]) for way in WAYS},
        quickest=quickest(blocks["alone"], blocks["ping-pong"]),
        medians=Interval(
            estimate=math.exp(interval.estimate), low=math.exp(interval.low), high=math.exp(interval.high)
        ),
        spread=statistics.stdev(map(math.log, step_s["alone"])),
    )


def quickest(alone: Sequence[Sequence[float]], ping_pong: Sequence[Sequence[float]]) -> Interval:
    """Return the ratio of the lower quartiles over all blocks, with its 95 % interval by bootstrap over rounds."""
    draws = np.random.default_rng(0).integers(len(alone), size=(RESAMPLES, len(alone)))
    ratios = [_quarter([ping_pong[i] for i in draw]) / _quarter([alone[i] for i in draw]) for draw in draws]
    low, high = np.quantile(ratios, (0.025, 0.975))
    return Interval(estimate=_quarter(ping_pong) / _quarter(alone), low=float(low), high=float(high))


def _quarter(rounds: Sequence[Sequence[float]]) -> float:
    """Return the lower quartile over the blocks of some rounds."""
    return float(np.quantile(np.concatenate(rounds), 0.25))

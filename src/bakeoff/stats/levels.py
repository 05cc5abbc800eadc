"""Whether the machine itself changed its speed: turns in which all contenders took longer, or all shorter, at once.

Contenders of a turn run one behind the other within a fraction of a second, in processes of their own. What slows all
of them at once is none of their doing: other machines on the same host, or a lowered clock, which no counter in a
virtual machine shows.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from bakeoff.stats.dependence import ALLOWED, SHUFFLES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Turn = tuple[int, int]
"""A round's number and a turn in it."""
Floats = NDArray[np.float64]


class LevelRule(msgspec.Struct, frozen=True, kw_only=True):
    """When a machine is said to have changed its speed."""

    factor: float = 1.2
    """By which a block is longer, or shorter, than its contender's usual one. Calm blocks vary by 2 to 8 % (the regimes
    of benchmarks/simulation.py), and at the slower speeds that were seen they took 1.3 to 1.9 times as long."""
    fewest_turns: int = 4
    """Half a round of eight: less moves no median of a round."""
    smallest_share: float = 0.05
    """Of all turns; fewer move no interval."""
    beyond_chance: float = 1.5
    """Times as many such turns as in random orders on average, at least: blocks that vary by 30 % have some in any
    order (tests/stats/test_levels.py)."""


RULE = LevelRule()


class LevelRatio(msgspec.Struct, frozen=True, kw_only=True):
    """A pair's step times, first over second, by medians over turns."""

    first: str
    second: str
    then: float
    """In the turns in which the machine had changed its speed."""
    otherwise: float


class Levels(msgspec.Struct, frozen=True, kw_only=True):
    """How often the machine was at another speed than in most turns."""

    turns: int
    """Turns of all rounds in which two contenders or more ran."""
    changed: list[Turn]
    """Those in which all were longer, or all shorter, by the rule's factor, and beside which others rested."""
    low: float
    high: float
    """The least and the largest time of these turns, over the usual one; the contenders' geometric mean."""
    is_found: bool
    """Whether the machine is said to have changed its speed: these turns are enough to matter, and contenders go
    together more than in 95 % of random orders of each one's rounds."""
    ratios: list[LevelRatio] = []
    """Of each pair that ran in `LevelRule.fewest_turns` of these turns at least, and in as many others; empty where
    nothing is found."""

    @property
    def rounds(self) -> list[int]:
        """The rounds of these turns."""
        return sorted({number for number, _ in self.changed})


def machine_levels(times: Mapping[str, Mapping[Turn, float]], disturbed: Collection[Turn] = ()) -> Levels | None:
    """Return how often all contenders were slower or faster at once; None with less than two in any turn.

    `times` holds each contender's step time by turn, in any unit. `disturbed` are turns in which other processes were
    seen: they have their explanation.
    """
    turns = sorted({turn for mine in times.values() for turn in mine})
    logs = np.array([[math.log(mine[turn]) if turn in mine else math.nan for turn in turns] for mine in times.values()])
    is_shared = (~np.isnan(logs)).sum(axis=0) > 1 if turns else np.zeros(0, dtype=bool)
    if not is_shared.any():
        return None
    ratios = logs - _usual(logs)
    ratios[:, [turn in disturbed for turn in turns]] *= 0.0
    is_changed = np.abs(_common(ratios)) >= math.log(RULE.factor)
    count = int(is_changed.sum())
    enough = count >= max(RULE.fewest_turns, RULE.smallest_share * is_shared.sum())
    is_found = bool(enough) and _is_beyond_chance(ratios, turns, count)
    level = np.exp(np.nanmean(ratios[:, is_changed], axis=0)) if count else np.ones(1)
    return Levels(
        turns=int(is_shared.sum()),
        changed=[turn for turn, found in zip(turns, is_changed, strict=True) if found],
        low=float(level.min()),
        high=float(level.max()),
        is_found=is_found,
        ratios=_ratios(list(times), logs, is_changed) if is_found else [],
    )


def _usual(logs: Floats) -> Floats:
    """Return each contender's usual log time, (contenders, 1): what it takes where the machine is as in most turns.

    Of a contender that rested early the turns may all be slow ones, so that its own median is none of the machine's
    usual speed. What a contender takes and what the machine adds in a turn are found from each other, by medians in
    turn (J. W. Tukey, "Exploratory Data Analysis", 1977: median polish).
    """
    speed = np.zeros((1, logs.shape[1]))
    for _ in range(_POLISHES):
        usual = np.nanmedian(logs - speed, axis=1, keepdims=True)
        speed = np.nanmedian(logs - usual, axis=0, keepdims=True)
        speed -= np.median(speed)
    found: Floats = np.nanmedian(logs - speed, axis=1, keepdims=True)
    return found


_POLISHES = 5
"""Times that both are found from each other; Tukey's own advice is two to four."""


def _ratios(labels: list[str], logs: Floats, is_changed: NDArray[np.bool_]) -> list[LevelRatio]:
    """Return every pair's ratio in the changed turns and in the others, where it ran in enough of both."""
    found = []
    for first, second in combinations(range(len(labels)), 2):
        apart = logs[first] - logs[second]
        then, otherwise = (mine[~np.isnan(mine)] for mine in (apart[is_changed], apart[~is_changed]))
        if min(len(then), len(otherwise)) >= RULE.fewest_turns:
            medians = [math.exp(float(np.median(mine))) for mine in (then, otherwise)]
            found.append(LevelRatio(first=labels[first], second=labels[second], then=medians[0], otherwise=medians[1]))
    return found


def _common(ratios: Floats, axis: int = 0) -> Floats:
    """Return of each turn what all contenders have in common: the least that they are longer, or shorter.

    It is 0 where they do not agree, and where less than two are there. Contenders are along the axis; NaN is absent.
    """
    is_absent = np.isnan(ratios)
    longer = np.where(is_absent, np.inf, ratios).min(axis=axis)
    shorter = np.where(is_absent, -np.inf, ratios).max(axis=axis)
    found: Floats = np.where((~is_absent).sum(axis=axis) > 1, np.maximum(longer, 0.0) + np.minimum(shorter, 0.0), 0.0)
    return found


def _is_beyond_chance(ratios: Floats, turns: list[Turn], changed: int) -> bool:
    """Return whether contenders go together more than they would if each one's rounds had another order.

    A process keeps what it drew when it started, so that whole rounds of a contender may be slow, and those of two may
    coincide; single turns are no independent draws. The orders are drawn from a fixed seed: the same records give the
    same finding.
    """
    generator = np.random.default_rng(0)
    found = np.abs(_common(ratios)).sum()
    as_common = by_chance = 0
    for begin in range(0, SHUFFLES, most := max(1, _AT_ONCE // ratios.size)):
        count = min(most, SHUFFLES - begin)
        shuffled = np.repeat(ratios[None], count, axis=0)
        for row, mine in enumerate(ratios):
            for group in _alike(mine, turns):
                orders = generator.permuted(np.tile(np.arange(len(group)), (count, 1)), axis=1)
                shuffled[:, row, group] = mine[group[orders]]
        common = np.abs(_common(shuffled, axis=1))
        as_common += int((common.sum(axis=1) >= found).sum())
        by_chance += int((common >= math.log(RULE.factor)).sum())
    return as_common <= ALLOWED and changed >= RULE.beyond_chance * by_chance / SHUFFLES


_AT_ONCE = 4_000_000
"""Times of random orders that are held together: 32 MB, and copies; nine contenders in 20 rounds have fewer."""


def _alike(mine: Floats, turns: list[Turn]) -> list[NDArray[np.int64]]:
    """Return the places of one contender's rounds, (rounds, turns), those with the same turns together."""
    rounds: dict[int, list[int]] = {}
    for place, (number, _) in enumerate(turns):
        if not np.isnan(mine[place]):
            rounds.setdefault(number, []).append(place)
    groups: dict[tuple[int, ...], list[list[int]]] = {}
    for places in rounds.values():
        groups.setdefault(tuple(turns[place][1] for place in places), []).append(places)
    return [np.array(group) for group in groups.values()]

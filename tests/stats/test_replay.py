"""The vectorised procedures of benchmarks/deciding_replay.py are the shipped ones, comparison by comparison."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bakeoff.spec.comparison import Goal
from bakeoff.stats.first import sequential as first
from bakeoff.stats.pairs import Pair
from bakeoff.stats.progress import Standing, still_active
from bakeoff.stats.sequential import decide

if TYPE_CHECKING:
    from types import ModuleType

    from bakeoff.spec.verdict import Verdict

CODES = {"undecided": 0, "slower": 1, "faster": -1, "equal": 2}


def shipped(logs: Any, by: Any, goal: Goal, lost: list[int]) -> tuple[list[Verdict], int]:
    """Run one comparison round by round as the conductor does; give its verdicts and the processes it took."""
    contenders, most = logs.shape
    names = [chr(ord("a") + index) for index in range(contenders)]
    active, processes = set(names), 0
    histories: dict[tuple[int, int], list[float | None]] = {pair: [] for pair in combinations(range(contenders), 2)}
    verdicts: list[Verdict] = []
    for done in range(1, most + 1):
        alive = {name for name, gone in zip(names, lost, strict=True) if gone > done}
        active &= alive
        if not active:
            break
        processes += len(active)
        for (a, b), history in histories.items():
            both = names[a] in active and names[b] in active
            history.append(float(logs[a, done - 1] - logs[b, done - 1]) if both else None)
        pairs = [
            Pair(
                first=names[a],
                second=names[b],
                differences=history,
                lost=min(lost[a], lost[b]) - 1 if min(lost[a], lost[b]) <= done else None,
            )
            for (a, b), history in histories.items()
        ]
        verdicts = by(pairs, margin=0.05, max_rounds=most, aim=goal)
        standings = [Standing(label=name, failures=0 if lost[i] > done + 1 else 2) for i, name in enumerate(names)]
        if done >= 3:
            active = set(still_active(standings, verdicts))
    return verdicts, processes


@pytest.mark.parametrize("regime", ["calm", "noisy virtual machine", "1 round in 5 doubles one", "quantised"])
@pytest.mark.parametrize(("rules", "goal"), [("Present", "size"), ("Present", "direction"), ("First", "direction")])
def test_both_say_the_same(replay: ModuleType, noises: ModuleType, regime: str, rules: str, goal: Goal) -> None:
    """Verdicts, rounds, the round of the verdict and intervals agree, of contenders that differ and that do not."""
    trials, contenders = 12, 4
    logs = noises.noise(regime, trials, contenders, seed=3)
    logs += np.log([1.0, 1.0, 1.06, 1.5])[None, :, None]
    raced = replay.race(logs, getattr(replay, rules)(), goal)
    by = decide if rules == "Present" else first.decide
    for trial in range(trials):
        verdicts, _ = shipped(logs[trial], by, goal, [99] * contenders)
        assert [CODES[one.verdict] for one in verdicts] == raced.verdicts[trial].tolist()
        for place, one in enumerate(verdicts):
            if one.low is not None and one.high is not None:
                told = (math.log(one.low), math.log(one.high))
                assert told == pytest.approx((raced.low[trial, place], raced.high[trial, place]), abs=1e-9)
            if rules == "Present":
                assert (one.rounds, one.decided_rounds or 0) == (
                    raced.rounds[trial, place],
                    raced.decided[trial, place],
                )


def test_lost_contenders_leave_both_families(replay: ModuleType, noises: ModuleType) -> None:
    """Also where a contender is lost in the middle both give the same verdicts."""
    trials = 25
    logs = noises.noise("noisy virtual machine", trials, 3, seed=8)
    logs += np.log([1.0, 1.12, 1.0])[None, :, None]
    raced = replay.race(logs, replay.Present(), "direction", np.tile([99, 99, 6], (trials, 1)))
    found = [shipped(logs[trial], decide, "direction", [99, 99, 6])[0] for trial in range(trials)]
    told = [[CODES[one.verdict] for one in verdicts] for verdicts in found]
    assert [row[0] for row in told] == raced.verdicts[:, 0].tolist()


REGIMES = ("calm", "noisy virtual machine", "one five times as noisy", "one has modes 6 % apart")


@pytest.mark.parametrize("contenders", [2, 3])
@pytest.mark.parametrize("regime", REGIMES)
def test_a_false_winner_is_rare(replay: ModuleType, noises: ModuleType, regime: str, contenders: int) -> None:
    """Any winner among equals in at most 5 % of comparisons, but for chance in 3,000 of them."""
    raced = replay.race(noises.noise(regime, 3000, contenders, seed=71), replay.Present())
    assert (np.abs(raced.verdicts) == 1).any(1).mean() <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 3000)


def test_the_error_is_used_where_noise_hides_equality(replay: ModuleType, noises: ModuleType) -> None:
    """On a noisy machine two equals get a false winner in more than 3 %: boundaries are not wider than they must be."""
    raced = replay.race(noises.noise("noisy virtual machine", 3000, 2, seed=72), replay.Present())
    assert (np.abs(raced.verdicts) == 1).any(1).mean() >= 0.03


@pytest.mark.parametrize("ratio", [1.0, 1.1, 1.5])
@pytest.mark.parametrize("regime", ["calm", "noisy virtual machine", "Student's t, 3 degrees"])
def test_the_size_is_covered_after_stopping(replay: ModuleType, noises: ModuleType, regime: str, ratio: float) -> None:
    """From both sides: the interval that is told as 95 % holds the truth in 94 to 98 % when the race has ended."""
    logs = noises.noise(regime, 3000, 3, seed=73) + np.log([1.0, ratio, 3.0])[None, :, None]
    raced = replay.race(logs, replay.Present())
    truth = -math.log(ratio)
    covered = ((raced.low[:, 0] <= truth + 1e-12) & (truth - 1e-12 <= raced.high[:, 0])).mean()
    assert 0.94 <= covered <= 0.985


def test_ten_percent_are_found_on_a_calm_machine(replay: ModuleType, noises: ModuleType) -> None:
    """A ratio of 1.10 is right in at least 98 %, in five or six rounds, with its size known to 5 %."""
    logs = noises.noise("calm", 3000, 3, seed=74) + np.log([1.0, 1.1, 3.0])[None, :, None]
    raced = replay.race(logs, replay.Present())
    assert (raced.verdicts[:, 0] == -1).mean() >= 0.98
    assert raced.rounds[:, 0].mean() <= 6.0
    assert np.quantile((raced.high - raced.low)[:, 0] / 2, 0.98) <= math.log(1.05) + 1e-9


def test_equal_is_hardly_ever_false(replay: ModuleType, noises: ModuleType) -> None:
    """Of pairs that differ by the margin itself at most 2.5 % are called equal."""
    logs = noises.noise("calm", 3000, 2, seed=75) + np.log([1.0, 1.05])[None, :, None]
    raced = replay.race(logs, replay.Present())
    assert (raced.verdicts[:, 0] == 2).mean() <= 0.025


def test_bursts_of_one_side_name_no_winner_by_the_mean(replay: ModuleType, noises: ModuleType) -> None:
    """Where one contender alone is slowed in a fifth of its rounds, the mean is off by 6 % and hardly ever decides."""
    logs = noises.noise("one has bursts in 20 % of rounds", 3000, 2, seed=76)
    raced = replay.race(logs, replay.Present())
    assert (np.abs(raced.verdicts) == 1).any(1).mean() <= 0.06

"""Independence of rounds is looked for, and so is a trend within a round."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bakeoff.stats.dependence import resemblance, turn_trend

if TYPE_CHECKING:
    from types import ModuleType


def found(logs: Any) -> bool:
    """Give whether rounds are said to resemble each other."""
    told = resemblance({str(i): dict(enumerate(np.exp(row).tolist(), start=1)) for i, row in enumerate(logs)})
    return told is not None and told.is_found


def share(logs: Any) -> float:
    """Give in which share of comparisons they are."""
    return float(np.mean([found(one) for one in logs]))


@pytest.mark.parametrize(
    ("regime", "contenders"),
    [("calm", 2), ("calm", 3), ("one five times as noisy", 3), ("one has bursts in 20 % of rounds", 3)],
)
def test_independent_rounds_are_accused_in_five_percent(noises: ModuleType, regime: str, contenders: int) -> None:
    """Whatever the noise and however unevenly noisy contenders are: 5 %, held from both sides."""
    assert 0.03 <= share(noises.noise(regime, 1000, contenders, seed=5)[..., :10]) <= 0.07


@pytest.mark.parametrize(("regime", "rounds", "least"), [("0.5", 10, 0.4), ("0.9", 10, 0.75), ("0.5", 20, 0.75)])
def test_rounds_that_follow_each_other_are_found(noises: ModuleType, regime: str, rounds: int, least: float) -> None:
    """Of comparisons whose rounds resemble their neighbours most are found, more with more rounds."""
    assert share(noises.noise(f"autocorrelated, {regime}", 500, 3, seed=6)[..., :rounds]) >= least


def test_the_ratio_by_hand() -> None:
    """Two contenders whose ratio rises evenly over ten rounds: 9 steps of 1 over a sum of squares of 82.5."""
    told = resemblance({"a": {n: math.exp(n / 100) for n in range(10)}, "b": dict.fromkeys(range(10), 1.0)})
    assert told is not None
    assert told.ratio == pytest.approx(9 / 82.5)
    assert (told.is_found, told.rounds, told.contenders) == (True, 10, 2)


def test_what_all_have_in_common_is_no_resemblance() -> None:
    """A machine that drifts under all contenders alike is cancelled by the ratios, and is not accused."""
    noise = np.random.default_rng(1).normal(0.0, 0.02, (3, 12))
    drift = np.linspace(0.0, 1.0, 12)
    assert found(noise + drift) == found(noise)


def test_fewer_than_ten_common_rounds_tell_nothing() -> None:
    """Nine rounds, one contender, or contenders that share nine rounds are not asked."""
    ten = {n: 1.0 + n % 3 / 100 for n in range(10)}
    assert resemblance({"a": ten}) is None
    assert resemblance({"a": ten, "b": {n: ten[n] for n in range(9)}}) is None
    assert resemblance({"a": ten, "b": {n + 1: one for n, one in ten.items()}}) is None
    assert resemblance({"a": ten, "b": dict.fromkeys(range(10), 1.0), "c": {1: 1.0}}) is not None
    assert resemblance({}) is None


def test_the_same_rounds_are_told_the_same() -> None:
    """The random orders are the same in every judgement of the same records."""
    times = {name: dict(enumerate(row)) for name, row in zip("abc", np.random.default_rng(3).random((3, 11)) + 1)}  # noqa: B905
    assert resemblance(times) == resemblance(times)


def turns(change: float, rounds: int, seed: int = 2, spread: float = 0.03) -> list[dict[int, float]]:
    """Give rounds of eight turns whose step time changes by so much from the first to the last."""
    logs = np.random.default_rng(seed).normal(0.0, spread, (rounds, 8)) + math.log1p(change) * np.arange(8) / 7
    return [dict(enumerate(np.exp(row).tolist())) for row in logs]


def test_a_trend_over_turns_is_told_with_its_size() -> None:
    """Steps that get 40 % longer within every round are found, and by about how much."""
    trend = turn_trend(turns(0.4, 5))
    assert trend is not None
    assert trend.is_found
    assert trend.change == pytest.approx(0.4, abs=0.1)
    assert trend.low < 0.4 < trend.high


def test_a_trend_without_noise_by_hand() -> None:
    """A straight line in logarithms has exactly its own change."""
    trend = turn_trend([{n: math.exp(0.1 * n / 7 + k / 9) for n in range(8)} for k in range(3)])
    assert trend is not None
    assert trend.change == pytest.approx(math.expm1(0.1))
    assert (trend.rounds, trend.low) == (3, pytest.approx(trend.change))


def test_steady_steps_have_no_trend() -> None:
    """Of 400 steady contenders at most 1 % and what chance adds are told one."""
    told = [turn_trend(turns(0.0, 5, seed=100 + seed)) for seed in range(400)]
    assert sum(one is not None and one.is_found for one in told) <= 10


def test_changes_that_do_not_matter_are_not_told() -> None:
    """A change of 1 %, however sure, moves no verdict by a margin of 5 %."""
    trend = turn_trend(turns(0.01, 10, spread=0.0001))
    assert trend is not None
    assert trend.low > 0.0
    assert not trend.is_found


def test_few_rounds_or_turns_tell_no_trend() -> None:
    """Two rounds, and rounds of three turns, are not asked."""
    assert turn_trend(turns(0.4, 2)) is None
    assert turn_trend([{0: 1.0, 1: 1.1, 2: 1.2}] * 5) is None

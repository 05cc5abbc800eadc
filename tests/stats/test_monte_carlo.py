"""The error rates that docs/verdicts.md promises, found through the shipped code on simulated noise."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests import drawn

from bakeoff.stats.first import sequential as first
from bakeoff.stats.pairs import Pair

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

pytestmark = pytest.mark.slow

TRIALS = 2000
FAMILY_TRIALS = 1000


@pytest.fixture(scope="module")
def differences(simulation: ModuleType) -> Floats:
    """Simulate the rounds of two equal contenders on a shared machine, from block times on."""
    noise = simulation.make_noise(simulation.REGIMES["vm2"], TRIALS, 40, seed=2)
    found: Floats = simulation.ping_pong_differences(simulation.ping_pong_blocks(noise, 2, seed=3), 0, 1)
    return found


def race_all(simulation: ModuleType, differences: Floats, ratio: float) -> tuple[Counter[str], float]:
    """Give the share of each verdict, and the mean number of processes."""
    races = [simulation.race([row]) for row in (differences + math.log(ratio)).tolist()]
    verdicts = Counter(verdicts[0].verdict for verdicts, _ in races)
    return verdicts, sum(processes for _, processes in races) / len(races)


def test_the_first_table_spends_what_it_may() -> None:
    """Where only chance speaks and equality cannot be found, 5 % are called different: neither more nor far fewer."""
    values = np.random.default_rng(6).normal(size=(2 * TRIALS, 20)).tolist()
    verdicts = [
        first.decide([Pair(first="a", second="b", differences=row)], margin=0.0, max_rounds=20)[0].verdict
        for row in values
    ]
    assert 0.04 <= 1.0 - verdicts.count("undecided") / len(verdicts) <= 0.055


@pytest.mark.by_turns
def test_a_false_winner_is_rare(simulation: ModuleType, differences: Floats) -> None:
    """Where both are equal a winner is named in at most 5.5 % of comparisons, and mostly equality is found."""
    verdicts, processes = race_all(simulation, differences, 1.0)
    assert verdicts["faster"] + verdicts["slower"] <= 0.055 * TRIALS
    assert verdicts["equal"] >= 0.80 * TRIALS
    assert processes <= 30


def test_ten_percent_are_found(simulation: ModuleType, differences: Floats) -> None:
    """A ratio of 1.10 is called slower in at least 95 % of comparisons, in a handful of rounds."""
    verdicts, processes = race_all(simulation, differences, 1.10)
    assert verdicts["slower"] >= 0.95 * TRIALS
    assert verdicts["faster"] + verdicts["equal"] <= 0.01 * TRIALS
    assert processes <= 16


@pytest.mark.by_turns
def test_three_percent_are_never_called_the_wrong_way(simulation: ModuleType, differences: Floats) -> None:
    """A ratio of 1.03 is slower, equal within 5 % or undecided, but faster next to never."""
    verdicts, _ = race_all(simulation, differences, 1.03)
    assert verdicts["faster"] <= 0.005 * TRIALS


SPEEDS = {"equal": (1.0, 1.0, 1.0), "one slower": (1.0, 1.0, 1.25)}


@pytest.mark.by_turns
@pytest.mark.parametrize(
    "speeds", [SPEEDS[one] for one in sorted(SPEEDS if drawn.is_all() else drawn.first(SPEEDS, 1, drawn.sources()))]
)
def test_three_contenders_share_the_error(simulation: ModuleType, speeds: tuple[float, float, float]) -> None:
    """Among three contenders any false verdict at all is as rare as between two, also when shares are released."""
    noise = simulation.make_noise(simulation.REGIMES["vm2"], FAMILY_TRIALS, 60, seed=4)
    blocks = simulation.ping_pong_blocks(noise, 3, seed=5)
    pairs = list(combinations(range(3), 2))
    effects = [math.log(speeds[first] / speeds[second]) for first, second in pairs]
    rows = [simulation.ping_pong_differences(blocks, first, second) for first, second in pairs]
    false = 0
    for trial in zip(*(row.tolist() for row in rows), strict=True):
        shifted = [[value + effect for value in row] for row, effect in zip(trial, effects, strict=True)]
        verdicts, _ = simulation.race(shifted, contenders=3)
        false += any(
            (verdict.verdict == "slower" and effect <= 0) or (verdict.verdict == "faster" and effect >= 0)
            for verdict, effect in zip(verdicts, effects, strict=True)
        )
    assert false <= 0.055 * FAMILY_TRIALS

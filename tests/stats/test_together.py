"""Intervals that hold together, and claims that rest on them: rarely false, and decided where the truth is clear."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.conftest import script

from bakeoff.judge.claim_quantity import quantity, standing_of
from bakeoff.spec.published import Claim
from bakeoff.spec.verdict import Interval, Verdict
from bakeoff.stats.intervals import fixed_interval, pseudo_median
from bakeoff.stats.together import Estimate, combined, interval_of, of_rounds, of_values, of_verdict

if TYPE_CHECKING:
    from types import ModuleType

    from bakeoff.judge.claim_quantity import Standing
    from bakeoff.spec.published import ClaimKind

STUDIES, CLAIMS = 200, 6
"""The share of studies with a false claim is then known to 0.015 (a standard error), where it is 0.05."""
LARGE = math.log(1.3)


@pytest.fixture(scope="module")
def shares_told() -> ModuleType:
    """Load the simulation of claims on shares."""
    return script("claims_on_shares")


def verdicts(simulation: ModuleType, effects: list[float], *, seed: int) -> list[list[Verdict]]:
    """Race each pair of each study until it is settled, with rounds that scatter by 2 %."""
    drawn = np.random.default_rng(seed).normal(0.0, 0.02, (STUDIES, len(effects), 20))
    rows = drawn + np.asarray(effects)[None, :, None]
    return [[simulation.race([row.tolist()])[0][0] for row in study] for study in rows]


def standings(found: list[Verdict], kind: ClaimKind, percent: float) -> list[Standing]:
    """Judge one claim about each pair, all of them together."""
    claim = Claim(text="", kind=kind, percent=percent)
    estimates = [of_verdict(one) for one in found]
    values = [quantity(claim, [one], len(found)) if one else None for one in estimates]
    return [standing_of(claim, value, 0.05) if value else "inconclusive" for value in values]


@pytest.mark.parametrize(
    ("kind", "percent", "effect", "false"),
    [
        ("more", 0.0, 0.0, "holds"),
        ("within", 5.0, math.log(1.05), "holds"),
        ("at-least", 10.0, math.log(1.1), "does not hold"),
    ],
)
def test_a_false_claim_is_rare(
    simulation: ModuleType, kind: ClaimKind, percent: float, effect: float, false: Standing
) -> None:
    """Where the truth lies on the edge of six claims, at most 5 % of studies tell any of them to be on one side of it.

    The races stop when they are sure, as real ones do.
    """
    wrong = 0
    for found in verdicts(simulation, [effect] * CLAIMS, seed=3):
        wrong += false in standings(found, kind, percent)
    assert wrong / STUDIES <= 0.05 + 0.015


@pytest.mark.parametrize(
    ("kind", "percent", "effect", "expected"),
    [
        ("more", 0.0, LARGE, "holds"),
        ("more", 0.0, -LARGE, "does not hold"),
        ("within", 10.0, 0.0, "holds"),
        ("within", 10.0, LARGE, "does not hold"),
        ("at-least", 5.0, LARGE, "holds"),
        ("most", 10.0, LARGE, "does not hold"),
    ],
)
def test_a_clear_truth_is_found(
    simulation: ModuleType, kind: ClaimKind, percent: float, effect: float, expected: Standing
) -> None:
    """Claims that are clearly right, or wrong, are told so in nine of ten cases, although there are six of them."""
    found = verdicts(simulation, [effect] * CLAIMS, seed=4)[:60]
    told = [one for study in found for one in standings(study, kind, percent)]
    assert told.count(expected) / len(told) >= 0.9


@pytest.mark.parametrize("regime", ["calm", "Student's t, 3 degrees"])
@pytest.mark.parametrize(
    "edge", ["each, both", "most, one on the edge", "about, mean on the edge", "least, one as low"]
)
def test_a_false_claim_on_shares_is_rare(shares_told: ModuleType, regime: str, edge: str) -> None:
    """Of studies whose claims on shares lie on the edge, at most 5 % tell any of them to be on one side of it.

    Each share has five rounds of traces; benchmarks/claims_on_shares.py has more noise, and more studies.
    """
    found = shares_told.standings(regime, shares_told.EDGES[edge], STUDIES)
    for side in ("holds", "does not hold"):
        assert sum(side in study for study in found) / STUDIES <= 0.05 + 0.015


@pytest.mark.parametrize("claim", ["each, clear", "most, clear", "about, clear", "least, clear"])
def test_a_clear_claim_on_shares_is_found(shares_told: ModuleType, claim: str) -> None:
    """On a calm machine five percent points are enough for five rounds, with all claims of a study together."""
    found = shares_told.standings("calm", shares_told.CLEARS[claim], 30)
    told = [one for study in found for one in study]
    assert told.count("holds") / len(told) >= 0.9


def test_an_estimate_is_what_the_interval_was_made_of() -> None:
    """From five rounds' interval follows the standard error that it was computed from, cut at 1 or not."""
    values = [0.10, 0.12, 0.15, 0.2, 0.11]
    error = float(np.std(values, ddof=1)) / math.sqrt(5)
    middle = pseudo_median(values)
    for low in (middle - 3.342 * error, middle - 1e-4):
        verdict = Verdict(
            first="a",
            second="b",
            verdict="slower",
            ratio=math.exp(middle),
            low=math.exp(low),
            high=math.exp(middle + 3.342 * error),
            rounds=5,
        )
        assert of_verdict(verdict) == pytest.approx((middle, error, 4))


def test_rounds_that_contradict_their_direction_estimate_nothing() -> None:
    """Where the direction's edge is all that is left of an interval, how wide it was is not known."""
    known = Verdict(first="a", second="b", verdict="slower", ratio=1.0, low=1.0, high=1.02, rounds=12)
    assert of_verdict(known) is None
    early = Verdict(first="a", second="b", verdict="undecided", ratio=1.1, low=None, high=None, rounds=2)
    assert of_verdict(early) is None


def test_more_intervals_are_wider_ones() -> None:
    """One of a single claim is that of its pair, at 97 %; of ten, each is as wide as a tenth of the error asks for."""
    one = Estimate(0.1, 0.01, 4)
    assert interval_of(one, 1).high == pytest.approx(0.1 + 0.01 * 3.298, abs=1e-4)  # t, 4 degrees, 97 %
    assert interval_of(one, 10).high == pytest.approx(0.1 + 0.01 * 6.510, abs=1e-3)  # 99.7 %


def test_a_mean_of_comparisons_is_surer_than_one() -> None:
    """Four equally sure comparisons give a mean of half the error, with the freedom of all four."""
    mean = combined([Estimate(0.1, 0.02, 4)] * 4, [0.25] * 4)
    assert mean == pytest.approx((0.1, 0.01, 16))
    assert of_values([0.0, 0.1], [0.0, 0.1, 0.2]) is None
    apart = of_values([1.0, 1.1, 1.2], [0.0, 0.1, 0.2])
    assert apart == pytest.approx((1.0, 0.1 * math.sqrt(2 / 3), 4))


def test_an_interval_over_rounds_gives_its_mean_back() -> None:
    """What an interval of 95 % over five rounds was made of is found again: its mean, standard error and freedom."""
    shares = [0.61, 0.64, 0.6, 0.66, 0.63]
    interval = fixed_interval(shares, 0.95)
    assert interval is not None
    found = of_rounds(interval, len(shares))
    assert found == pytest.approx((0.628, float(np.std(shares, ddof=1)) / math.sqrt(5), 4))


def test_the_wider_side_of_an_interval_stands_for_both() -> None:
    """Signed ranks reach further on one side; the error is that of the side that says less, of 95 % on either."""
    for low, high in ((0.1, 0.35), (0.25, 0.5)):
        found = of_rounds(Interval(estimate=0.3, low=low, high=high), 11)
        assert found == pytest.approx((0.3, 0.2 / 2.228, 10), rel=1e-3), "Student's t of 10 degrees is 2.228"


def test_what_is_to_keep_within_a_bound_holds_by_all_of_its_interval() -> None:
    """An estimate within 5 % is no answer by itself, where its interval reaches beyond."""
    claim = Claim(text="", kind="within", percent=5.0)
    for high, standing in ((0.04, "holds"), (0.08, "inconclusive")):
        assert standing_of(claim, Interval(estimate=0.03, low=0.01, high=high), 0.05) == standing
    assert standing_of(claim, Interval(estimate=0.07, low=0.06, high=0.08), 0.05) == "does not hold"

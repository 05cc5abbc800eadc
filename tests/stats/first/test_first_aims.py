"""How-much and until-sure: the same verdicts in other company, narrower or at any time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bakeoff.spec.comparison import Aim
from bakeoff.spec.verdict import Verdict
from bakeoff.stats.anytime import anytime_interval, anytime_multiplier
from bakeoff.stats.first.boundaries import LOOKS
from bakeoff.stats.first.sequential import decide
from bakeoff.stats.pairs import Ended, Pair, is_open
from bakeoff.stats.progress import Standing, still_active

NOISE = [0.010, -0.012, 0.004, -0.007, 0.011, -0.002, 0.006, -0.009, 0.003, -0.004] * 10
logarithms = st.floats(-0.5, 0.5, allow_nan=False).map(lambda value: round(value, 9))
rounds = st.lists(st.one_of(st.none(), logarithms), max_size=30)


def shifted(centre: float, count: int) -> list[float]:
    """Give `count` calm rounds about a centre."""
    return [centre + noise for noise in NOISE[:count]]


def one(differences: list[float] | list[float | None], aim: Aim, limit: int | None = 20, ended: Ended = "") -> Verdict:
    """Decide a single pair."""
    pair = Pair(first="a", second="b", differences=differences)
    (verdict,) = decide([pair], margin=0.05, max_rounds=limit, aim=aim, ended=ended)
    return verdict


def half_width(verdict: Verdict) -> float:
    """Give the half-width of a verdict's interval, as a logarithm."""
    assert verdict.low is not None
    assert verdict.high is not None
    return math.log(verdict.high / verdict.low) / 2


def test_how_much_goes_on_until_the_ratio_is_narrow() -> None:
    """A difference that is decided and wide at three rounds stays decided, and is open until it is known to 5 %."""
    values = shifted(0.3, 20)
    early, late = one(values[:3], "how-much"), one(values, "how-much")
    assert (early.verdict, early.wide, is_open(early)) == ("slower", True, True)
    assert half_width(early) > max(math.log(1.05), 0.25 * 0.3)
    assert (late.verdict, late.wide, late.stopped) == ("slower", False, "")
    assert late.rounds in LOOKS[1:]
    assert half_width(late) <= 0.25 * 0.3
    assert one(values, "verdict").rounds == 3


def test_a_large_difference_need_not_be_known_to_five_percent() -> None:
    """Of a ratio of 3 a quarter of the difference is enough."""
    verdict = one(shifted(math.log(3), 20), "how-much")
    assert (verdict.rounds, verdict.wide) == (3, False)
    assert half_width(verdict) > math.log(1.05)


def test_equal_pairs_need_no_more_rounds() -> None:
    """An interval inside the margin of 5 % is narrow already."""
    plain, narrow = (one(shifted(0.0, 20), aim) for aim in ("verdict", "how-much"))
    assert plain.verdict == "equal"
    assert plain == narrow


@pytest.mark.parametrize(
    ("rounds_done", "ended", "stopped"), [(20, "", "rounds"), (4, "budget", "budget"), (4, "", "")]
)
def test_a_wide_verdict_is_told_with_its_reason(rounds_done: int, ended: Ended, stopped: str) -> None:
    """A difference that stays wide keeps its verdict, and says what ended its rounds."""
    wide = one([0.28, 0.33, 0.30, *([0.30 + 0.5, 0.30 - 0.5] * 9)][:rounds_done], "how-much", ended=ended)
    assert (wide.verdict, wide.wide, wide.stopped) == ("slower", True, stopped)
    assert still_active([Standing(label="a"), Standing(label="b")], [wide]) == ([] if stopped else ["a", "b"])


@given(rounds)
def test_how_much_changes_no_verdict_and_widens_none(differences: list[float | None]) -> None:
    """Whatever a comparison says at its verdict, how-much says too, with an interval within it."""
    plain, narrow = one(differences, "verdict"), one(differences, "how-much")
    assert plain.verdict == narrow.verdict
    if plain.verdict != "undecided":
        assert plain.low is not None
        assert plain.high is not None
        assert narrow.low is not None
        assert narrow.high is not None
        assert narrow.ratio is not None
        assert plain.low <= narrow.low <= narrow.ratio <= narrow.high <= plain.high


def test_the_closed_form_solves_the_likelihood_ratio() -> None:
    """At the multiplier the mixture's likelihood ratio of t is exactly the number of pairs over the level."""
    for count, pairs in ((4, 1), (10, 1), (10, 6), (200, 28)):
        multiplier = anytime_multiplier(count, pairs)
        assert multiplier is not None
        growth, freedom, square = 1 + 4.0 * count, count - 1, multiplier**2
        ratio = growth**-0.5 * ((1 + square / freedom) / (1 + square / (growth * freedom))) ** (count / 2)
        assert ratio == pytest.approx(pairs / 0.05)


def test_few_rounds_exclude_nothing() -> None:
    """There is no interval before the fourth round, and for 28 pairs none before the sixth."""
    assert [anytime_multiplier(count, 1) is not None for count in (2, 3, 4)] == [False, False, True]
    assert [anytime_multiplier(count, 28) is not None for count in (4, 5, 6)] == [False, False, True]
    assert anytime_interval([0.1], 1) is None
    assert anytime_interval([], 1) is None


def test_until_sure_looks_after_every_round() -> None:
    """A verdict comes at a round that is no fixed look."""
    verdict = one([6 * noise + 0.04 for noise in NOISE], "until-sure", None)
    assert (verdict.verdict, verdict.rounds) == ("slower", 17)
    assert 17 not in LOOKS


def test_until_sure_has_no_last_round() -> None:
    """Where 20 rounds leave a pair undecided it is open, and settled by rounds beyond."""
    wild = [10 * noise + 0.03 for noise in NOISE]
    assert one(wild[:20], "verdict").verdict == "undecided"
    open_ = one(wild[:20], "until-sure", None)
    assert (open_.verdict, open_.stopped, is_open(open_)) == ("undecided", "", True)
    assert open_.more_rounds is not None
    settled = one(wild, "until-sure", None)
    assert settled.verdict != "undecided"
    assert settled.rounds > 20


def test_until_sure_ends_by_rounds_or_budget_if_told_to() -> None:
    """A limit of rounds or time leaves a pair undecided, with its reason."""
    wild = [10 * noise + 0.03 for noise in NOISE[:25]]
    assert one(wild, "until-sure", 25).stopped == "rounds"
    assert one(wild, "until-sure", None, "budget").stopped == "budget"
    assert one(wild, "until-sure", 26).stopped == ""


@given(st.lists(rounds, min_size=3, max_size=3))
def test_verdicts_of_until_sure_are_final(histories: list[list[float | None]]) -> None:
    """Replaying a longer history gives every verdict that a shorter one gave."""
    before: list[Verdict] = []
    for done in range(0, 31, 3):
        pairs = [Pair(first="a", second=str(i), differences=history[:done]) for i, history in enumerate(histories)]
        now = decide(pairs, margin=0.05, max_rounds=None, aim="until-sure")
        for earlier, later in zip(before, now, strict=bool(before)):
            assert earlier.verdict == "undecided" or later == earlier
        before = now


NOISES = {
    "normal": lambda generator, size: generator.normal(size=size),
    "Student's t, 2 degrees of freedom": lambda generator, size: generator.standard_t(2, size=size),
    "10 % of rounds 20 times wider": lambda generator, size: (
        generator.normal(size=size) * np.where(generator.random(size) < 0.1, 20.0, 1.0)
    ),
}


@pytest.mark.parametrize("noise", NOISES)
def test_who_looks_after_each_of_300_rounds_is_hardly_ever_wrong(noise: str) -> None:
    """Where both are equal, at most 5 % of comparisons ever exclude 1, however long they go on."""
    trials, most = 4000, 300
    values = NOISES[noise](np.random.default_rng(11), (trials, most))
    sums, squares = np.cumsum(values, axis=1), np.cumsum(values**2, axis=1)
    wrong = np.zeros(trials, dtype=bool)
    for count in range(4, most + 1):
        mean = sums[:, count - 1] / count
        variance = (squares[:, count - 1] - count * mean**2) / (count - 1)
        wrong |= np.abs(mean) > (anytime_multiplier(count, 1) or math.inf) * np.sqrt(variance / count)
    assert wrong.mean() <= 0.05

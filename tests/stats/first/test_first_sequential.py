"""The first procedure, by which old comparisons were decided, goes on to give their verdicts."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bakeoff.spec.verdict import Interval, Verdict
from bakeoff.stats.first.boundaries import LOOKS
from bakeoff.stats.first.sequential import decide
from bakeoff.stats.pairs import Ended, Pair, judge_interval, ratio_of_means, ratio_unflagged
from bakeoff.stats.progress import Standing, still_active

MIRRORED = {"faster": "slower", "slower": "faster"}
RHO = math.log(1.05)
NOISE = [0.010, -0.012, 0.004, -0.007, 0.011, -0.002, 0.006, -0.009, 0.003, -0.004] * 2
WILD = [0.5, -0.5, 0.4, -0.4, 0.0, 0.45, -0.45, 0.3, -0.35, 0.05] * 2

# Rounded: a ratio of exp(1e-300) is exactly 1, and no clock tells them apart.
logarithms = st.floats(-0.5, 0.5, allow_nan=False).map(lambda value: round(value, 9))
rounds = st.lists(st.one_of(st.none(), logarithms), max_size=22)


def shifted(centre: float, count: int) -> list[float]:
    """Give `count` calm rounds about a centre."""
    return [centre + noise for noise in NOISE[:count]]


def standings(labels: str) -> list[Standing]:
    """Return contenders that have failed in nothing."""
    return [Standing(label=label) for label in labels]


def one(
    differences: list[float | None] | list[float], margin: float = 0.05, max_rounds: int = 20, ended: Ended = ""
) -> Verdict:
    """Decide a single pair."""
    (verdict,) = decide(
        [Pair(first="a", second="b", differences=differences)], margin=margin, max_rounds=max_rounds, ended=ended
    )
    return verdict


def test_a_large_difference_is_settled_at_the_first_look() -> None:
    """Twice as long in three calm rounds: slower, with the t-interval of the look as ratios."""
    verdict = one(shifted(math.log(2), 3))
    half = 15.87 * np.std(NOISE[:3], ddof=1) / math.sqrt(3)
    centre = math.log(2) + np.mean(NOISE[:3])
    assert (verdict.verdict, verdict.rounds, verdict.stopped) == ("slower", 3, "")
    assert verdict.ratio == pytest.approx(math.exp(centre))
    assert verdict.low == pytest.approx(math.exp(centre - half))
    assert verdict.high == pytest.approx(math.exp(centre + half))
    assert verdict.under_margin is False
    assert verdict.more_rounds is None


def test_calm_equality_is_found() -> None:
    """Rounds of 1 % about zero end as equal within the margin of 5 %."""
    verdict = one(shifted(0.0, 20))
    assert verdict.verdict == "equal"
    assert verdict.rounds in LOOKS
    assert verdict.low is not None
    assert verdict.high is not None
    assert 1 / 1.05 < verdict.low < 1 < verdict.high < 1.05


def test_a_difference_that_reaches_into_the_margin_says_so() -> None:
    """An interval clear of 1 but not of 1.05 is decided and marked."""
    assert one(shifted(0.055, 20)).verdict == "slower"
    assert one(shifted(0.055, 20)).under_margin is True
    assert one(shifted(-0.055, 20)).verdict == "faster"
    assert one(shifted(-0.055, 20)).under_margin is True


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [
        (-0.01, 0.02, "equal"),
        (0.01, 0.03, "equal"),
        (0.01, 0.09, "slower"),
        (-0.09, -0.01, "faster"),
        (-0.01, 0.09, "undecided"),
        (0.0, 0.09, "undecided"),
        (-RHO, 0.0, "undecided"),
        (-0.09, 0.09, "undecided"),
    ],
)
def test_how_an_interval_is_read(low: float, high: float, kind: str) -> None:
    """Inside the margin is equal first; clear of zero is a difference; touching either is nothing."""
    assert judge_interval(Interval(estimate=0.0, low=low, high=high), RHO) == kind


@pytest.mark.parametrize("count", [0, 1, 2])
def test_fewer_than_three_rounds_decide_nothing(count: int) -> None:
    """A budget that ends before the first look leaves numbers without a verdict, however clear they seem."""
    verdict = one([math.log(3)] * count, ended="budget")
    assert (verdict.verdict, verdict.stopped, verdict.rounds) == ("undecided", "budget", count)
    assert (verdict.low, verdict.high, verdict.more_rounds) == (None, None, None)
    assert verdict.ratio == (pytest.approx(3.0) if count else None)


def test_between_looks_the_last_interval_stands() -> None:
    """After six rounds an undecided pair still has the numbers of the look at five."""
    five, six = one(WILD[:5]), one(WILD[:6])
    assert (six.ratio, six.low, six.high) == (five.ratio, five.low, five.high)
    assert (five.rounds, six.rounds) == (5, 6)


def test_a_verdict_is_final() -> None:
    """Rounds after the deciding look change nothing, not even when they point the other way."""
    early = shifted(math.log(2), 3)
    assert one(early + [-1.0] * 17) == one(early)


def test_rounds_that_one_missed_do_not_count() -> None:
    """Looks count the rounds in which both ran, and hold the same verdict."""
    values = shifted(0.3, 5)
    verdict = one([None, values[0], None, values[1], values[2], None])
    assert verdict == one(values[:3])


def test_looks_beyond_the_last_round_are_not_made() -> None:
    """With at most four rounds, a fifth that would decide is not seen."""
    values = [0.05, 0.11, 0.08, 0.10, 0.09]
    assert one(values, max_rounds=20).verdict == "slower"
    verdict = one(values, max_rounds=4)
    assert (verdict.verdict, verdict.rounds, verdict.stopped) == ("undecided", 4, "rounds")


def test_a_pair_is_given_up_when_no_further_look_can_come() -> None:
    """With at most six rounds nothing can be decided after the fifth."""
    values = [0.06, -0.02, 0.05, 0.03, -0.01]
    assert one(values, max_rounds=6).stopped == "rounds"
    assert one(values, max_rounds=7).stopped != "rounds"
    assert one(values[:2], max_rounds=2).stopped == "rounds"
    assert one(values[:1], max_rounds=2).stopped == ""


def test_hopeless_noise_is_given_up() -> None:
    """Equality that this noise can never show stops for futility, though not before the fifth round."""
    assert one(WILD[:4]).stopped == ""
    verdict = one(WILD[:7])
    assert (verdict.verdict, verdict.stopped) == ("undecided", "futility")
    assert still_active(standings("ab"), [verdict]) == []


def test_a_pair_that_was_given_up_can_still_be_settled() -> None:
    """Futility is advice: where rounds are run for other pairs, a later look counts."""
    values = WILD[:7] + shifted(0.6, 13)
    assert one(values[:7]).stopped == "futility"
    assert one(values).verdict == "slower"


def test_more_rounds_follow_the_width() -> None:
    """An interval 2.1 times as wide as the margin after 20 rounds asks for 4.41 times as many in all."""
    values = [2.1 * RHO, -2.1 * RHO] * 10
    verdict = one(values)
    assert verdict.low is not None
    assert verdict.high is not None
    assert math.log(verdict.high / verdict.low) / 2 == pytest.approx(2.1 * RHO)
    assert verdict.more_rounds == 89 - 20


def test_more_rounds_reach_at_least_the_next_look() -> None:
    """Nothing is decided between looks, so no smaller number is promised."""
    values = [0.055, 0.02, 0.04, -0.002, 0.05, 0.03, 0.06]
    verdict = one([value - 0.010 for value in values])
    assert verdict.verdict == "undecided"
    assert verdict.more_rounds == 3


def test_without_a_margin_no_number_of_rounds_is_promised() -> None:
    """Equality within nothing cannot be reached."""
    assert one([0.0] * 20, margin=0.0).more_rounds is None


def test_an_ended_budget_is_the_reason_of_open_pairs_only() -> None:
    """A decided pair keeps its verdict, an open one is told why it stays open."""
    pairs = [
        Pair(first="a", second="b", differences=shifted(1.0, 4)),
        Pair(first="a", second="c", differences=[0.1, -0.02, 0.08, 0.03]),
    ]
    decided, undecided = decide(pairs, margin=0.05, max_rounds=20, ended="budget")
    assert (decided.verdict, decided.stopped) == ("slower", "")
    assert (undecided.verdict, undecided.stopped) == ("undecided", "budget")


def test_a_found_difference_releases_its_share() -> None:
    """A pair that two open pairs keep from its verdict gets it when the other is known to differ."""
    narrow = [0.060 + noise for noise in NOISE[:3]]
    assert one(narrow).verdict == "undecided"
    values = [0.10, 0.115, 0.105]  # t = 24.2: over 15.87, and over 23.05, but under the 28.94 of three
    released = [
        Pair(first="a", second="b", differences=values),
        Pair(first="a", second="c", differences=shifted(3.0, 3)),
        Pair(first="b", second="c", differences=shifted(3.0, 3)),
    ]
    held = [*released[:1], *(Pair(first=p.first, second=p.second, differences=WILD[:3]) for p in released[1:])]
    assert decide(released, margin=0.05, max_rounds=20)[0].verdict == "slower"
    assert decide(held, margin=0.05, max_rounds=20)[0].verdict == "undecided"


def test_settled_as_equal_releases_nothing() -> None:
    """Two equal pairs still count: the third is held to the boundaries of three."""
    equal = [0.0001, -0.0001, 0.0]
    pairs = [
        Pair(first="a", second="b", differences=[0.10, 0.115, 0.105]),
        Pair(first="a", second="c", differences=equal),
        Pair(first="b", second="c", differences=equal),
    ]
    verdicts = decide(pairs, margin=0.05, max_rounds=20)
    assert [verdict.verdict for verdict in verdicts] == ["undecided", "equal", "equal"]


def test_contenders_with_open_pairs_stay_active() -> None:
    """Who has an open pair runs on, who is settled with everybody rests."""
    pairs = [
        Pair(first="a", second="b", differences=[0.1, -0.02, 0.08]),
        Pair(first="a", second="c", differences=shifted(2.0, 3)),
        Pair(first="b", second="c", differences=shifted(2.0, 3)),
    ]
    assert still_active(standings("abc"), decide(pairs, margin=0.05, max_rounds=20)) == ["a", "b"]
    assert still_active(standings("abc"), decide(pairs, margin=0.05, max_rounds=20, ended="budget")) == []


def test_who_was_lost_twice_has_no_open_pair() -> None:
    """A contender that failed too often is waited for by nobody; the only one that is left has three rounds."""
    (verdict,) = decide([Pair(first="a", second="b", differences=[0.1, -0.02])], margin=0.05, max_rounds=20)
    once, twice = (Standing(label="b", rounds=2, failures=failures) for failures in (1, 2))
    assert still_active([Standing(label="a", rounds=2), once], [verdict]) == ["a", "b"]
    assert still_active([Standing(label="a", rounds=2), twice], [verdict]) == ["a"]
    assert still_active([Standing(label="a", rounds=3), twice], [verdict]) == []


def test_a_pair_without_a_verdict_is_open() -> None:
    """Before the first round, and where a contender has no time yet, nothing is settled."""
    assert still_active(standings("ab"), []) == ["a", "b"]


def test_no_pairs_no_verdicts() -> None:
    """A contender alone has nothing to be compared with."""
    assert decide([], margin=0.05, max_rounds=20) == []


def test_more_pairs_than_boundaries_are_refused() -> None:
    """Ten contenders are told the limit instead of getting a wrong error rate."""
    pairs = [Pair(first="a", second=str(index), differences=[]) for index in range(45)]
    with pytest.raises(ValueError, match="2 to 9 contenders"):
        decide(pairs, margin=0.05, max_rounds=20)


def test_disturbed_rounds_are_told_and_kept() -> None:
    """Flags leave the verdict as it is and add the ratio without them."""
    values = [0.30, 0.31, 0.29, 0.90, 0.30]
    plain = Pair(first="a", second="b", differences=values)
    blocks = [(0, 24), (0, 24), (0, 24), (24, 24), (0, 24)]
    calm = [0.30, 0.31, 0.29, None, 0.30]
    flagged = Pair(first="a", second="b", differences=values, calm=calm, blocks=blocks)
    (without,), (verdict,) = (decide([pair], margin=0.05, max_rounds=20) for pair in (plain, flagged))
    assert (verdict.flagged_blocks, verdict.blocks) == (0, 72)  # decided at three rounds, before the disturbed one
    assert (verdict.ratio, verdict.low, verdict.high) == (without.ratio, without.low, without.high)
    assert without.ratio_unflagged is None
    assert ratio_unflagged(flagged, range(5)) == pytest.approx(math.exp(0.30))
    assert ratio_unflagged(flagged, [3]) is None
    assert ratio_unflagged(flagged, [0, 1]) is None


def test_flagged_blocks_are_counted_up_to_the_verdict() -> None:
    """Only rounds that the verdict rests on are counted, and only their disturbed turns are left out."""
    pair = Pair(
        first="a",
        second="b",
        differences=[0.3, 0.31, 0.29, 0.3],
        calm=[0.27, 0.31, 0.29, 0.1],
        blocks=[(2, 24), (0, 24), (0, 24), (5, 24)],
    )
    (verdict,) = decide([pair], margin=0.05, max_rounds=20)
    assert (verdict.rounds, verdict.flagged_rounds, verdict.flagged_blocks, verdict.blocks) == (3, 1, 2, 72)
    assert verdict.ratio == pytest.approx(math.exp(0.30))
    assert verdict.ratio_unflagged == pytest.approx(math.exp(0.29))


def test_ratio_of_means_weighs_the_slow_rounds() -> None:
    """Means of 2 and 4 over means of 1 and 2 give 2; rounds without means do not count."""
    pair = Pair(first="a", second="b", differences=[0.0] * 3, means=[(2.0, 1.0), None, (4.0, 2.0)])
    assert ratio_of_means(pair, range(3)) == 2.0
    assert ratio_of_means(pair, [1]) is None
    assert ratio_of_means(Pair(first="a", second="b", differences=[0.0]), [0]) is None


@given(rounds)
def test_exchanging_the_sides_mirrors_everything(differences: list[float | None]) -> None:
    """What is faster from one side is slower from the other, with inverse numbers."""
    forward = one(differences)
    backward = one([None if value is None else -value for value in differences])
    assert backward.verdict == MIRRORED.get(forward.verdict, forward.verdict)
    assert (backward.rounds, backward.stopped, backward.more_rounds) == (
        forward.rounds,
        forward.stopped,
        forward.more_rounds,
    )
    for mine, other in ((forward.ratio, backward.ratio), (forward.low, backward.high), (forward.high, backward.low)):
        assert (mine is None) == (other is None)
        if mine is not None and other is not None:
            assert mine * other == pytest.approx(1.0)


@given(st.lists(rounds, min_size=3, max_size=3), st.permutations(range(3)))
def test_the_order_of_pairs_does_not_matter(histories: list[list[float | None]], order: list[int]) -> None:
    """Pairs share their error, not their places."""
    pairs = [Pair(first="a", second=str(index), differences=history) for index, history in enumerate(histories)]
    verdicts = decide(pairs, margin=0.05, max_rounds=20)
    assert decide([pairs[index] for index in order], margin=0.05, max_rounds=20) == [verdicts[i] for i in order]


@given(st.lists(rounds, min_size=3, max_size=3))
def test_verdicts_never_change_as_rounds_come_in(histories: list[list[float | None]]) -> None:
    """Replaying a longer history gives every verdict that a shorter one gave."""
    pairs = [
        [Pair(first="a", second=str(index), differences=history[:done]) for index, history in enumerate(histories)]
        for done in range(23)
    ]
    told = [decide(sofar, margin=0.05, max_rounds=20) for sofar in pairs]
    for before, after in pairwise(told):
        for earlier, later in zip(before, after, strict=True):
            assert earlier.verdict == "undecided" or later == earlier


@given(rounds, st.floats(0.0, 0.2), st.floats(0.0, 0.2))
def test_a_wider_margin_keeps_what_is_equal_and_decides_no_less(
    differences: list[float | None], one_margin: float, other_margin: float
) -> None:
    """With a wider margin equal pairs stay equal, and decided pairs stay decided."""
    narrow, wide = (one(differences, margin=margin) for margin in sorted((one_margin, other_margin)))
    if narrow.verdict == "equal":
        assert wide.verdict == "equal"
    if narrow.verdict != "undecided":
        assert wide.verdict in (narrow.verdict, "equal")


@given(rounds)
def test_a_decided_verdict_is_borne_out_by_its_interval(differences: list[float | None]) -> None:
    """No verdict without an interval that says the same."""
    verdict = one(differences)
    assume(verdict.low is not None)
    assert verdict.low is not None
    assert verdict.high is not None
    assert verdict.verdict == judge_interval(
        Interval(estimate=0.0, low=math.log(verdict.low), high=math.log(verdict.high)), RHO
    )

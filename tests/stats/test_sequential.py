"""The replay of the present procedure: decision and size apart, the family, what is told of rounds to come."""

from __future__ import annotations

import math
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bakeoff.spec.comparison import Aim
from bakeoff.spec.verdict import Verdict
from bakeoff.stats.boundaries import LOOKS
from bakeoff.stats.pairs import Ended, Pair, is_open
from bakeoff.stats.progress import Standing, still_active
from bakeoff.stats.sequential import decide
from bakeoff.stats.size import size_interval

MIRRORED = {"faster": "slower", "slower": "faster"}
NOISE = [0.010, -0.012, 0.004, -0.007, 0.011, -0.002, 0.006, -0.009, 0.003, -0.004] * 4
WILD = [0.5, -0.5, 0.4, -0.4, 0.0, 0.45, -0.45, 0.3, -0.35, 0.05] * 2

# Rounded: a ratio of exp(1e-300) is exactly 1, and no clock tells them apart.
logarithms = st.floats(-0.5, 0.5, allow_nan=False).map(lambda value: round(value, 9))
rounds = st.lists(st.one_of(st.none(), logarithms), max_size=22)


def shifted(centre: float, count: int, times: float = 1.0) -> list[float]:
    """Give `count` calm rounds about a centre."""
    return [centre + times * noise for noise in NOISE[:count]]


def one(
    differences: list[float | None] | list[float],
    margin: float = 0.05,
    max_rounds: int | None = 20,
    ended: Ended = "",
    aim: Aim = "size",
) -> Verdict:
    """Decide a single pair."""
    pair = Pair(first="a", second="b", differences=differences)
    (verdict,) = decide([pair], margin=margin, max_rounds=max_rounds, ended=ended, aim=aim)
    return verdict


def test_nothing_is_decided_before_five_rounds() -> None:
    """Four rounds that agree to a millionth decide nothing, and tell a size all the same."""
    verdict = one([0.7, 0.700001, 0.700002, 0.7])
    assert (verdict.verdict, verdict.fewest, verdict.decided_rounds) == ("undecided", 5, None)
    assert verdict.low is not None
    assert verdict.low > 2.0
    assert one([0.7, 0.700001, 0.700002, 0.7, 0.7]).verdict == "slower"


def test_decision_and_size_are_told_apart() -> None:
    """At five rounds the size's interval is narrower than what decided, and is told at its own level."""
    verdict = one(shifted(math.log(2), 5))
    size = size_interval(shifted(math.log(2), 5))
    assert size is not None
    assert verdict.decided_low is not None
    assert verdict.decided_high is not None
    assert (verdict.verdict, verdict.decided_rounds, verdict.level) == ("slower", 5, 0.95)
    assert (verdict.low, verdict.high) == pytest.approx((math.exp(size.low), math.exp(size.high)))
    assert verdict.low > verdict.decided_low
    assert verdict.high < verdict.decided_high


def test_the_size_is_told_from_all_rounds_on_disk() -> None:
    """Rounds after the decision narrow the size and leave direction and decision as they were."""
    early, late = one(shifted(0.5, 5)), one(shifted(0.5, 20))
    assert (late.verdict, late.decided_rounds, late.rounds) == ("slower", 5, 20)
    assert (late.decided_low, late.decided_high) == (early.decided_low, early.decided_high)
    assert late.high is not None
    assert late.low is not None
    assert early.high is not None
    assert early.low is not None
    assert late.high / late.low < early.high / early.low


def test_a_direction_is_final() -> None:
    """Rounds that point the other way do not turn a verdict; the interval is cut at 1."""
    verdict = one(shifted(0.3, 5) + [-0.05] * 15)
    assert (verdict.verdict, verdict.low) == ("slower", 1.0)


def test_one_estimate_whatever_is_aimed_at() -> None:
    """All aims tell the pseudo-median: bursts of one side move neither the estimate nor the verdict apart."""
    values = shifted(0.0, 20)
    for index in (2, 9, 12, 17):
        values[index] += 0.4
    told = {aim: one(values, aim=aim) for aim in ("size", "direction", "until-sure")}  # type: ignore[misc, arg-type]
    assert len({verdict.ratio for verdict in told.values()}) == 1
    assert {verdict.verdict for verdict in told.values()} <= {"equal", "undecided"}
    assert told["size"].ratio == pytest.approx(1.0, abs=0.02)


def test_the_race_goes_on_until_the_size_is_known() -> None:
    """A decided pair with a wide size is open, by default; for the direction alone it is settled."""
    values = shifted(0.3, 20, 8.0)
    early = one(values[:5])
    assert (early.verdict, early.wide, is_open(early)) == ("slower", True, True)
    assert early.more_rounds is not None
    assert early.chance is None
    known = next(one(values[:count]) for count in range(5, 21) if not one(values[:count]).wide)
    assert 5 < known.rounds <= 20
    assert known.high is not None
    assert known.low is not None
    assert math.log(known.high / known.low) / 2 <= max(math.log(1.05), 0.25 * 0.35)
    direction = one(values[:5], aim="direction")
    assert (direction.verdict, direction.wide, is_open(direction)) == ("slower", False, False)


@pytest.mark.parametrize(("earlier", "now"), [("verdict", "direction"), ("how-much", "size")])
def test_aims_are_read_by_their_earlier_names(earlier: Aim, now: Aim) -> None:
    """What an older request asked for is still what it gets."""
    values = shifted(0.3, 5, 8.0)
    assert one(values, aim=earlier) == one(values, aim=now)
    assert one(values, aim="direction").wide != one(values, aim="size").wide


def test_equal_needs_no_size() -> None:
    """An equal pair is settled as soon as it is found equal."""
    verdict = one(shifted(0.0, 7))
    assert (verdict.verdict, verdict.wide, is_open(verdict)) == ("equal", False, False)


@pytest.mark.parametrize(("done", "ended", "stopped"), [(20, "", "rounds"), (6, "budget", "budget"), (6, "", "")])
def test_a_size_that_stays_wide_says_why(done: int, ended: Ended, stopped: str) -> None:
    """The direction stands, and the reason why the size is not known is told."""
    wide = [0.9, 0.5, 0.7, 0.8, 0.6, *([1.4, 0.1] * 8)]
    verdict = one(wide[:done], max_rounds=20, ended=ended)
    assert (verdict.verdict, verdict.wide, verdict.stopped) == ("slower", True, stopped)
    assert still_active([Standing(label="a"), Standing(label="b")], [verdict]) == ([] if stopped else ["a", "b"])


def test_who_has_no_pair_runs_for_its_own_step_time() -> None:
    """A pair that is never formed keeps nobody running, and whoever has no other has the rounds of one alone."""
    fresh, timed = ([Standing(label=label, rounds=rounds) for label in "abc"] for rounds in (2, 3))
    never = {("a", "c"), ("b", "c")}
    assert still_active(fresh, [], never) == ["a", "b", "c"]
    assert still_active(timed, [], never) == ["a", "b"]


def test_under_the_margin_is_told_of_the_size() -> None:
    """A size that reaches below 1.05 is marked, on either side."""
    assert one(shifted(0.055, 10)).under_margin
    assert one(shifted(-0.055, 10)).under_margin
    assert not one(shifted(0.3, 10)).under_margin


# --- The family ---------------------------------------------------------------------------------------------------


def trio(ab: list[float], ac: list[float], bc: list[float], lost: int | None = None) -> list[Pair]:
    """Give the pairs of three contenders; `lost` is c's."""
    return [
        Pair(first="a", second="b", differences=ab),
        Pair(first="a", second="c", differences=ac, lost=lost),
        Pair(first="b", second="c", differences=bc, lost=lost),
    ]


# 4.2 standard errors: over the 3.83 of one open pair and under the 4.40 of two and the 4.76 of three.
BETWEEN = [0.0245 + 0.016 * value for value in (1.0, -1.0, 0.7, -0.7, 0.0)]


def third(ab: list[float], gap: float, spread: float = 1.0) -> list[Pair]:
    """Give a third contender `gap` away from both, whose own noise is like the pair's."""
    other = [spread * value for value in (0.004, 0.012, -0.013, 0.002, 0.001)]
    half = [value / 2.0 for value in ab]
    return trio(
        ab,
        [a - gap + c for a, c in zip(half, other, strict=True)],
        [c - a - gap for a, c in zip(half, other, strict=True)],
    )


def test_a_found_difference_releases_its_share() -> None:
    """A pair that two open pairs keep from its verdict gets it at the same look when these are known to differ."""
    released, held = third(BETWEEN, 1.0), third(BETWEEN, 0.0)
    assert decide(released, margin=0.0, max_rounds=20)[0].verdict == "slower"
    assert decide(held, margin=0.0, max_rounds=20)[0].verdict == "undecided"


def test_equal_releases_nothing() -> None:
    """A third contender that is equal to both still counts, unlike one that differs."""
    verdicts = decide(third(BETWEEN, 0.0), margin=0.045, max_rounds=20)
    assert [verdict.verdict for verdict in verdicts] == ["undecided", "equal", "equal"]
    assert decide(third(BETWEEN, 1.0), margin=0.045, max_rounds=20)[0].verdict == "slower"


def test_a_lost_contender_leaves_the_family() -> None:
    """Pairs of a contender that was given up are no longer looked at, and share nothing any more."""
    ab = [*BETWEEN]
    kept, lost = (decide(trio(ab, ab[:2], ab[:2], gone), margin=0.0, max_rounds=20)[0] for gone in (None, 2))
    # Without a third contender beside it the pair has no prior; t = 4.2 is under 5.33.
    assert (kept.verdict, lost.verdict) == ("undecided", "undecided")
    assert kept.decided_high is not None
    assert lost.decided_high is not None
    assert lost.decided_high < kept.decided_high


def test_a_contender_counts_until_it_is_lost() -> None:
    """Who is given up after the first look was a member of the family at that look, and not at the next."""
    other = third(BETWEEN, 0.0)
    before, after = (
        decide([other[0], *(msgspec.structs.replace(pair, lost=lost) for pair in other[1:])], margin=0.0, max_rounds=20)
        for lost in (5, 4)
    )
    assert [before[0].verdict, after[0].verdict] == ["undecided", "slower"]


def test_more_pairs_than_boundaries_are_refused() -> None:
    """Ten contenders are told the limit instead of getting a wrong error rate."""
    pairs = [Pair(first="a", second=str(index), differences=[]) for index in range(45)]
    with pytest.raises(ValueError, match="2 to 9 contenders"):
        decide(pairs, margin=0.05, max_rounds=20)


# --- Rounds to come -----------------------------------------------------------------------------------------------


def test_more_rounds_are_those_of_a_coming_look() -> None:
    """What is promised is a look, with the chance that it decides if rounds go on as they did."""
    verdict = one([0.05, 0.01, 0.06, -0.01, 0.04, 0.02, 0.03])
    assert verdict.verdict == "undecided"
    assert verdict.more_rounds in (3, 7, 13)
    assert verdict.chance is not None
    assert 0.5 <= verdict.chance <= 1.0


def test_no_look_is_promised_where_none_can_decide() -> None:
    """At the last look, and where noise is hopeless, there is no number of rounds to tell."""
    assert one(shifted(0.03, 20, 8.0)).more_rounds is None
    hopeless = one(WILD[:10])
    assert (hopeless.stopped, hopeless.more_rounds, hopeless.chance) == ("futility", None, None)


def test_before_the_spread_is_known_the_first_look_is_told() -> None:
    """One round: four more reach the first look, and nothing is promised of it."""
    verdict = one([0.3])
    assert (verdict.more_rounds, verdict.chance) == (4, None)


def test_nothing_is_given_up_before_ten_rounds() -> None:
    """After seven wild rounds a pair goes on; after ten it is given up."""
    assert one(WILD[:7]).stopped == ""
    assert one(WILD[:10]).stopped == "futility"


def test_a_pair_that_was_given_up_can_still_be_settled() -> None:
    """Futility is advice: where rounds are run for other pairs, a later look counts."""
    assert one(WILD[:10]).stopped == "futility"
    assert one(WILD[:10] + shifted(0.9, 10)).verdict == "slower"


def test_looks_beyond_the_last_round_are_not_made() -> None:
    """With at most six rounds, a seventh that would decide is not seen, and nothing is waited for."""
    values = [0.05, 0.11, 0.02, 0.13, 0.06, 0.09, 0.08]
    assert one(values).verdict == "slower"
    verdict = one(values, max_rounds=6)
    assert (verdict.verdict, verdict.rounds, verdict.stopped) == ("undecided", 6, "rounds")
    assert one(values[:5], max_rounds=6).stopped == "rounds"
    assert one(values[:1], max_rounds=2).stopped == ""


def test_until_sure_looks_after_every_round_from_five_on() -> None:
    """A verdict comes at a round that is no fixed look, with no last one."""
    verdict = one(shifted(0.04, 40, 6.0), max_rounds=None, aim="until-sure")
    assert verdict.decided_rounds is not None
    assert verdict.decided_rounds > 5
    assert verdict.decided_rounds not in LOOKS
    wild = shifted(0.03, 20, 10.0)
    open_ = one(wild, max_rounds=None, aim="until-sure")
    assert (open_.verdict, open_.stopped, is_open(open_)) == ("undecided", "", True)
    assert open_.more_rounds is not None
    assert one(wild, max_rounds=20, aim="until-sure").stopped == "rounds"


def test_until_sure_holds_all_pairs_to_the_end() -> None:
    """Its boundaries release nothing: neither what differs nor what is lost makes the others' easier."""
    near = [0.0245 + 0.016 * value for value in (1.0, -1.0, 0.7, -0.7, 0.0)]
    alone, among = (
        decide(pairs, margin=0.05, max_rounds=None, aim="until-sure")[0]
        for pairs in (third(near, 1.0)[:1], third(near, 1.0))
    )
    assert among.decided_high is not None
    assert alone.decided_high is not None
    assert among.decided_high > alone.decided_high


# --- What always holds --------------------------------------------------------------------------------------------


def test_rounds_that_one_missed_do_not_count() -> None:
    """Looks count the rounds in which both ran."""
    values = shifted(0.3, 6)
    assert one([None, *values[:2], None, *values[2:5], None]) == one(values[:5])


@given(rounds, st.sampled_from(["size", "direction", "until-sure"]))
def test_exchanging_the_sides_mirrors_everything(differences: list[float | None], aim: Aim) -> None:
    """What is faster from one side is slower from the other, with inverse numbers."""
    forward = one(differences, aim=aim)
    backward = one([None if value is None else -value for value in differences], aim=aim)
    assert backward.verdict == MIRRORED.get(forward.verdict, forward.verdict)
    same = ("rounds", "stopped", "more_rounds", "wide", "decided_rounds", "under_margin")
    assert [getattr(backward, name) for name in same] == [getattr(forward, name) for name in same]
    inverse = (("ratio", "ratio"), ("low", "high"), ("decided_low", "decided_high"))
    for mine, other in ((getattr(forward, a), getattr(backward, b)) for a, b in inverse):
        assert (mine is None) == (other is None)
        if mine is not None and other is not None:
            assert mine * other == pytest.approx(1.0)


@given(st.lists(rounds, min_size=3, max_size=3), st.permutations(range(3)))
def test_the_order_of_pairs_does_not_matter(histories: list[list[float | None]], order: list[int]) -> None:
    """Pairs share their error, not their places."""
    pairs = trio(*histories)  # type: ignore[arg-type]
    verdicts = decide(pairs, margin=0.05, max_rounds=20)
    assert decide([pairs[index] for index in order], margin=0.05, max_rounds=20) == [verdicts[i] for i in order]


@given(st.lists(rounds, min_size=3, max_size=3))
def test_directions_never_change_as_rounds_come_in(histories: list[list[float | None]]) -> None:
    """Replaying a longer history gives every verdict that a shorter one gave, decided at the same round."""
    told = [
        decide(trio(*(history[:done] for history in histories)), margin=0.05, max_rounds=20)  # type: ignore[arg-type]
        for done in range(23)
    ]
    for before, after in pairwise(told):
        for earlier, later in zip(before, after, strict=True):
            if earlier.verdict != "undecided":
                assert (later.verdict, later.decided_rounds) == (earlier.verdict, earlier.decided_rounds)


@given(rounds)
def test_a_verdict_is_borne_out_by_both_intervals(differences: list[float | None]) -> None:
    """What decided lies on the verdict's side, and the size's interval is cut to it."""
    verdict = one(differences)
    if verdict.verdict == "slower":
        assert verdict.decided_low is not None
        assert verdict.low is not None
        assert verdict.decided_low > 1.0 <= verdict.low
    if verdict.verdict == "equal":
        assert verdict.decided_low is not None
        assert verdict.decided_high is not None
        assert verdict.decided_low > 1 / 1.05
        assert verdict.decided_high < 1.05


def test_no_pairs_no_verdicts() -> None:
    """A contender alone has nothing to be compared with."""
    assert decide([], margin=0.05, max_rounds=20) == []


def test_disturbed_rounds_are_told_and_kept() -> None:
    """Flags leave the verdict as it is and add the ratio without them, over all rounds of the pair."""
    values = [0.30, 0.31, 0.29, 0.90, 0.30]
    blocks = [(0, 24), (0, 24), (0, 24), (24, 24), (0, 24)]
    flagged = Pair(first="a", second="b", differences=values, calm=[0.3, 0.31, 0.29, None, 0.3], blocks=blocks)
    (verdict,) = decide([flagged], margin=0.05, max_rounds=20)
    assert (verdict.flagged_rounds, verdict.flagged_blocks, verdict.blocks) == (1, 24, 120)
    assert verdict.ratio == one(values).ratio
    assert verdict.ratio_unflagged == pytest.approx(math.exp(0.30))


def test_chances_come_true() -> None:
    """Of pairs that are told a look with its chance, about that share is decided by it: held from both sides."""
    random = np.random.default_rng(9)
    told, came = [], []
    for ratio in random.uniform(0.0, 0.08, 1500):
        values = (ratio + random.normal(0.0, 0.05, 20)).tolist()
        now = one(values[:10])
        if now.verdict == "undecided" and now.chance is not None and now.more_rounds is not None:
            told.append(now.chance)
            came.append(one(values[: 10 + now.more_rounds]).verdict != "undecided")
    assert len(told) > 300
    assert abs(float(np.mean(told)) - float(np.mean(came))) < 0.08

"""The one quantity that decides a claim, its ends and its limits, and what it is made of: by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.report.conftest import ranked, verdict
from tests.report.reproduced.test_stated import standing

from bakeoff.judge import claims
from bakeoff.judge.claim_quantity import quantity, standing_of
from bakeoff.judge.epochs import WholeRun, WholeRuns
from bakeoff.spec.published import Claim
from bakeoff.spec.verdict import Interval
from bakeoff.stats.together import Estimate, interval_of
from bakeoff.study.published import load

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome
    from bakeoff.judge.study import StudyOutcome
    from bakeoff.spec.published import ClaimKind


def of_width(centre: float, half: float) -> Estimate:
    """Make an estimate whose interval among one is so wide to either side."""
    unit = interval_of(Estimate(0.0, 1.0, 4), 1).high
    return Estimate(centre, half / unit, 4)


@pytest.mark.parametrize(
    ("told", "estimates", "expected"),
    [
        # A share lies between none of a step and all of it.
        ({"kind": "most", "of": "compute"}, [(0.05, 0.1), (0.95, 0.1)], (0.95, 0.85, 1.0)),
        ({"kind": "each", "of": "compute"}, [(0.05, 0.1), (0.95, 0.1)], (0.05, 0.0, 0.15)),
        # By how much the first is less than the least of the others, at worst and at best.
        ({"kind": "least", "of": "compute"}, [(0.2, 0.1), (0.9, 0.02), (0.5, 0.05), (0.6, 0.3)], (0.3, 0.0, 0.45)),
        # A distance is none where an interval holds 0, on whichever side it reaches farther.
        ({"kind": "within"}, [(0.02, 0.05)], (0.02, 0.0, 0.07)),
        ({"kind": "within"}, [(-0.02, 0.05)], (0.02, 0.0, 0.07)),
        ({"kind": "within"}, [(-0.2, 0.05), (0.1, 0.02)], (0.2, 0.15, 0.25)),
        ({"kind": "mean-difference"}, [(-0.2, 0.05), (0.1, 0.03)], (0.15, 0.11, 0.19)),
        ({"kind": "mostly-within"}, [(0.3, 0.1), (-0.1, 0.0), (0.2, 0.0)], (0.2, 0.2, 0.2)),
        ({"kind": "mostly-within"}, [(0.1, 0.0), (-0.3, 0.1), (0.2, 0.0), (0.4, 0.0)], (0.3, 0.2, 0.4)),
        ({"kind": "more"}, [(0.3, 0.1), (0.2, 0.05)], (0.2, 0.15, 0.25)),
        ({"kind": "most"}, [(0.3, 0.1), (0.2, 0.05)], (0.3, 0.2, 0.4)),
        ({"kind": "at-least"}, [(0.3, 0.1), (0.2, 0.05)], (0.3, 0.2, 0.4)),
        ({"kind": "about"}, [(0.3, 0.1), (0.2, 0.05)], (0.25, 0.175, 0.325)),
    ],
)
def test_a_quantity_has_the_interval_that_those_of_its_comparisons_leave(
    told: dict[str, str], estimates: list[tuple[float, float]], expected: tuple[float, float, float]
) -> None:
    """Estimate, lower and upper end each follow from those of the comparisons."""
    value = quantity(msgspec.convert({"text": ""} | told, Claim), [of_width(*one) for one in estimates], 1)
    assert (value.estimate, value.low, value.high) == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["mean", "less-time"])
def test_a_mean_is_surer_than_each_of_its_comparisons(kind: str) -> None:
    """Its interval is that of the sum of independent ones: by the root of their number narrower."""
    value = quantity(msgspec.convert({"text": "", "kind": kind}, Claim), [of_width(one, 0.1) for one in (0.1, 0.3)], 1)
    assert value.estimate == pytest.approx(0.2)
    assert value.high - value.low < 0.2 / math.sqrt(2.0)


@pytest.mark.parametrize(
    ("told", "shares", "expected"),
    [
        ({"kind": "most", "percent": 25.0}, (0.25,), "holds"),
        ({"kind": "each", "percent": 25.0}, (0.25,), "holds"),
        ({"kind": "about", "percent": 25.0, "taken_percent": 12.5}, (0.125,), "holds"),
        ({"kind": "about", "percent": 25.0, "taken_percent": 12.5}, (0.375,), "holds"),
        ({"kind": "least"}, (0.25, 0.25), "does not hold"),
    ],
)
def test_counts_that_are_just_what_is_claimed_are_within_it(
    told: dict[str, Any], shares: tuple[float, ...], expected: str
) -> None:
    """Counts of a graph are exact: at most, at least and about hold at their ends, and less than others does not."""
    claim = msgspec.convert({"text": "", "of": "constant folding"} | told, Claim)
    value = quantity(claim, [Estimate(share, 0.0, 1.0) for share in shares], 1)
    assert standing_of(claim, value, 0.05) == expected


def test_an_interval_on_one_side_of_a_limit_alone_tells() -> None:
    """Where it reaches beyond the other end of what is claimed, nothing is sure."""
    about = Claim(text="", of="compute", kind="about", percent=50.0, taken_percent=10.0)
    for centre in (0.42, 0.58):
        assert standing_of(about, quantity(about, [of_width(centre, 0.05)], 1), 0.05) == "inconclusive"
    for kind in ("most", "within", "at-least"):
        limited = msgspec.convert({"text": "", "kind": kind, "percent": 10.0}, Claim)
        for centre in (0.09, 0.1):
            assert standing_of(limited, quantity(limited, [of_width(centre, 0.05)], 1), 0.05) == "inconclusive"
    mean = Claim(text="", kind="mean-difference", percent=6.0)
    assert [standing(mean, one) for one in (0.05, -0.05, 0.07, -0.07)] == ["holds"] * 2 + ["does not hold"] * 2
    slight = Claim(text="", percent=5.0)
    assert standing(slight, 0.01) == "holds", "the margin itself is as small as the margin"


def rows_of(**measured: tuple[ContenderOutcome, ...]) -> Any:
    """Make a point of a study in which rows stand for contenders of the same names."""
    (contenders,) = measured.values()
    point = SimpleNamespace(title="one", rows={one.label: one.label for one in contenders}, left_out={})
    return SimpleNamespace(point=point, outcome=SimpleNamespace(contenders=contenders, scalings=[], verdicts=[]))


def ran(label: str, factor: float) -> ContenderOutcome:
    """Make a contender that was run three times in full, and took so many times 10 s, most of that in epoch 1."""
    runs = [
        WholeRun(
            total_s=10.0 * factor * share,
            without_first_s=1.0,
            epochs_s=[8.0 * share, 2.0 * factor * share],
            loss=None,
            accuracy=None,
            flagged_epochs=0,
        )
        for share in (0.99, 1.0, 1.01)
    ]
    one = ranked(label, Interval(estimate=0.001, low=0.0009, high=0.0011), 0.1, 100)
    peaks = [round(factor * share) for share in (999_000, 1_000_000, 1_001_000)]
    return msgspec.structs.replace(one, whole=WholeRuns(steps=9, test_samples=0, runs=runs), memory_peaks_bytes=peaks)


@pytest.mark.parametrize(
    ("told", "size"), [({"of": "run"}, 2.0), ({"epoch": 2}, 2.0), ({"epoch": 1}, 1.0), ({"of": "memory"}, 0.5)]
)
def test_the_first_row_has_more_where_it_takes_less_time_or_more_memory(told: dict[str, Any], size: float) -> None:
    """Of whole runs and of an epoch the speed counts, of memory the size: the first takes half of the second's here."""
    claim = msgspec.convert({"text": "", "first": "quick", "second": "slow"} | told, Claim)
    point = rows_of(both=(ran("quick", 1.0), ran("slow", 2.0)))
    estimate = claims._estimate(claim, claims._Term(point, "quick", "slow"))
    assert estimate is not None
    assert estimate.centre == pytest.approx(math.log(size), abs=1e-4)
    assert claims._estimate(claim, claims._Term(point, "quick", "nobody")) is None


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"of": "run"}, "too few whole runs came to their end"),
        ({"epoch": 2}, "too few whole runs came to their end"),
        ({"of": "memory"}, "too few peaks of memory were read"),
        ({"of": "overhead"}, "too few rounds"),
        ({}, "too few rounds"),
    ],
)
def test_what_has_no_interval_says_what_was_too_little(told: dict[str, Any], reason: str) -> None:
    """Runs, peaks or rounds."""
    claim = msgspec.convert({"text": ""} | told, Claim)
    term = claims._Term(rows_of(both=(ran("quick", 1.0), ran("slow", 2.0))), "quick", "slow")
    assert claims._unknown(claim, [term]) == reason


@pytest.mark.parametrize(("of", "reason"), [("speed", claims._CONTRADICTED), ("overhead", "too few rounds")])
def test_a_verdict_without_an_interval_contradicts_claims_on_speed_alone(
    monkeypatch: pytest.MonkeyPatch, of: str, reason: str
) -> None:
    """A verdict is on speed: of another quantity it says nothing about why there is no interval."""
    monkeypatch.setattr(claims, "_verdict", lambda term: verdict("quick", "slow", "faster", 0.5, 0.4, 0.6))
    term = claims._Term(rows_of(both=(ran("quick", 1.0), ran("slow", 2.0))), "quick", "slow")
    assert claims._unknown(msgspec.convert({"text": "", "of": of}, Claim), [term]) == reason


def test_intervals_that_several_claims_read_are_counted_once() -> None:
    """Whichever row comes first; another quantity, epoch or comparison is another one, and so is a sum of several."""
    here, there = rows_of(both=()), rows_of(both=())
    there.point.title = "another"

    def keys(*points: Any, first: str = "a", second: str = "b", **told: Any) -> set[Any]:
        claim = msgspec.convert({"text": "", "first": first, "second": second} | told, Claim)
        return {*claims._keys(claim, [claims._Term(point, first, second) for point in points])}

    assert keys(here) == keys(here, first="b", second="a") == keys(here, kind="most") == keys(here, kind="mean")
    others = [
        keys(here, of="memory"),
        keys(here, epoch=2),
        keys(there),
        keys(here, there, kind="mean"),
        keys(here, there, kind="grows"),
    ]
    assert len(keys(here).union(*others)) == 1 + len(others)
    assert keys(here, there, kind="mean") == keys(here, there, kind="less-time")


@pytest.mark.parametrize(
    ("kind", "first", "second", "expected"),
    [
        ("within", "pytorch", "tensorflow", "does not hold"),
        ("most", "tensorflow", "pytorch", "does not hold"),
        ("more", "pytorch", "tensorflow", "does not hold"),
        ("more", "tensorflow", "pytorch", "not measured"),
        ("mean", "pytorch", "tensorflow", "not measured"),
        ("at-least", "pytorch", "tensorflow", "not measured"),
        ("mean-difference", "pytorch", "tensorflow", "not measured"),
    ],
)
def test_rows_that_are_there_refute_what_is_said_of_every_pair(
    scaled: StudyOutcome, kind: ClaimKind, first: str, second: str, expected: str
) -> None:
    """TensorFlow is faster than PyTorch here, and Jittor is missing: nothing holds by the others alone."""
    published = load("shootout-table3")
    claim = msgspec.structs.replace(
        published.claims[0], kind=kind, first=first, second=second, then=("jittor",), taken_percent=0.0
    )
    (one,) = claims.judged(scaled, msgspec.structs.replace(published, claims=(claim,)))
    assert (one.standing, one.reason) == (expected, "bakeoff has no framework 'jittor'")


def test_what_nothing_decides_says_why_whatever_was_run(scaled: StudyOutcome) -> None:
    """Its own reason counts before any other, and nothing that was measured stands beside it."""
    published = load("shootout-table3")
    for of in ("speed", "ticks"):
        claim = msgspec.structs.replace(published.claims[0], of=of, unmeasured="it is a matter of taste")
        (one,) = claims.judged(scaled, msgspec.structs.replace(published, claims=(claim,)))
        assert (one.standing, one.percent, one.reason) == ("not measured", None, "it is a matter of taste")


def test_ticks_of_comparisons_that_are_not_there_are_not_measured(scaled: StudyOutcome) -> None:
    """As any other claim of which nothing was asked for here."""
    published = load("shootout-table3")
    claim = msgspec.structs.replace(published.claims[0], of="ticks")
    nothing = msgspec.structs.replace(scaled, points=[])
    (one,) = claims.judged(nothing, msgspec.structs.replace(published, claims=(claim,)))
    assert (one.standing, one.reason) == ("not measured", "none of the rows can race here")


def test_one_comparison_that_is_scaled_is_enough_for_the_scaled_variant(figure: StudyOutcome) -> None:
    """Where a claim has one, it is not the variant that has left all of them out."""
    published = load("dai2022-figure1")
    small, whole = (
        next(one for one in published.comparisons if bool(one.scaled) == is_scaled) for is_scaled in (True, False)
    )
    claim = Claim(text="", comparisons=(small.name, whole.name))
    assert claims._left_out(figure, published, claim) == "none of the rows can race here"
    alone = Claim(text="", comparisons=(whole.name,))
    assert claims._left_out(figure, published, alone) == "not in the scaled variant"


def test_a_share_that_is_least_needs_its_own_comparison_and_another() -> None:
    """Without the one that it is about, or with that alone, nothing is told."""
    claim = Claim(text="", of="compute", kind="least", first="a", comparisons=("one", "another"))
    here, there = rows_of(both=()), rows_of(both=())
    there.point.title = "another"
    for points in ([here], [there]):
        read = claims._read_shares(claim, points, {})
        assert read.reason == "a comparison that it needs is not in what was asked for here"
    both = claims._read_shares(claim, [here, there], {})
    assert both.reason != "a comparison that it needs is not in what was asked for here"


def test_what_has_more_is_held_against_its_neighbour_alone() -> None:
    """Each row against the next; of what is alike each two of all; of what is about rows each by itself."""
    told = {"text": "", "first": "a", "second": "b", "then": ("c",)}
    pairs = {
        (kind, of): claims._pairs(msgspec.convert(told | {"kind": kind, "of": of}, Claim))
        for kind, of in (("more", "speed"), ("within", "speed"), ("most", "overhead"))
    }
    assert pairs["more", "speed"] == [("a", "b"), ("b", "c")]
    assert pairs["within", "speed"] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert pairs["most", "overhead"] == [("a", ""), ("b", ""), ("c", "")]


def test_a_pair_that_is_early_is_no_estimate_yet() -> None:
    """Neither of two rows nor of one on several devices, of whichever the scalings are."""
    sure = verdict("slow", "quick", "slower", 2.0, 1.9, 2.1)
    early = msgspec.structs.replace(sure, rounds=2, fewest=3)
    for pair, is_known in ((sure, True), (early, False)):
        point = rows_of(both=(ran("quick", 1.0), ran("slow", 2.0)))
        point.outcome.verdicts = [pair]
        point.outcome.scalings = [
            SimpleNamespace(label="slow", verdict=msgspec.structs.replace(pair, ratio=0.5, low=0.4, high=0.6)),
            SimpleNamespace(label="quick", verdict=msgspec.structs.replace(pair, ratio=0.8, low=0.7, high=0.9)),
        ]
        estimate = claims._estimate(Claim(text=""), claims._Term(point, "quick", "slow"))
        overhead = claims._estimate(Claim(text="", of="overhead", kind="most"), claims._Term(point, "quick", ""))
        assert (estimate is not None, overhead is not None) == (is_known, is_known)
        if estimate and overhead:
            assert (estimate.centre, overhead.centre) == pytest.approx((math.log(2.0), -math.log(0.8)))


@pytest.mark.parametrize(("there", "is_read"), [("abc", True), ("ab", True), ("a", False), ("bc", False)])
def test_the_least_of_several_comparisons_needs_the_one_that_it_is_said_of(there: str, *, is_read: bool) -> None:
    """The first that a claim names is said to have the least: the least of the others answers nothing."""
    claim = SimpleNamespace(kind="least", comparisons=("a", "b", "c"), rows=(), of="shares")
    points = [SimpleNamespace(point=SimpleNamespace(title=title)) for title in there]
    reason = claims._read_shares(claim, points, {}).reason  # type: ignore[arg-type]
    assert reason == ("" if is_read else "a comparison that it needs is not in what was asked for here")

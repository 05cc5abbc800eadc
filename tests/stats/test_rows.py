"""Which parts of a gap are told apart: nothing where nothing differs, and what does differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bakeoff.judge import gap
from bakeoff.judge.gap import Side, gap_of
from bakeoff.spec.explained import OperationKind, Share, Traced
from bakeoff.stats.rows import DRAWS, LEVEL, Raced, Shares, raced, told_apart

if TYPE_CHECKING:
    from bakeoff.judge.explanation import Gap

RUNS = 400
"""The share of runs with a false row is then known to 0.011 (a standard error), where it is 0.05."""

SHARES = {"convolution": 0.4, "normalisation": 0.2, "element-wise": 0.1, "optimiser": 0.1, "idle": 0.1, "other": 0.1}
LOUD = np.exp(np.random.default_rng(5).normal(0, 0.2, 11))
"""The machine in each round, the same for both of a pair: other processes slow it by a fifth."""
LAYERS = ("stem", "body", "head")


def side(
    label: str, drawn: np.random.Generator, *, step_s: float = 0.01, extra: float = 0.0, levels: Any = LOUD
) -> Side:
    """Give a contender whose processes differ by 3 % in each part and by 2 % in each round's step.

    `extra` is a part of the step that only this one has, in the head.
    """
    traced = {}
    for number in range(1, 6):
        parts: list[tuple[OperationKind, str, float]] = [
            (kind, layer, share / len(LAYERS) * float(np.exp(drawn.normal(0, 0.03))))  # type: ignore[misc]
            for kind, share in SHARES.items()
            for layer in LAYERS
        ]
        parts += (
            [("data movement", "head", extra / (1 - extra) * float(np.exp(drawn.normal(0, 0.03))))] if extra else []
        )
        whole = sum(share for *_, share in parts)
        shares = [Share(kind=kind, phase="forward", layer=layer, share=one / whole) for kind, layer, one in parts]
        traced[number] = Traced(level="layers", shares=shares)
    rounds_s = {number: levels[number] * step_s * float(np.exp(drawn.normal(0, 0.02))) for number in range(1, 11)}
    return Side(label, float(np.median(list(rounds_s.values()))), rounds_s, traced)


def told(found: Gap) -> list[str]:
    """Give the rows that are told apart."""
    return [row.kind or row.layer for row in (*found.by_kind, *found.by_layer) if row.told_apart]


def test_a_against_a_names_nothing_in_nineteen_of_twenty_runs() -> None:
    """All rows of both tables together, whichever of the two happens to be ahead in the race."""
    drawn = np.random.default_rng(11)
    wrong = sum(bool(told(gap_of(side("a", drawn), side("a (2)", drawn)))) for _ in range(RUNS))
    assert wrong / RUNS <= LEVEL + 0.011


def test_what_differs_is_told_apart_and_rows_have_the_gap_as_their_sum() -> None:
    """A tenth of the step that only one has: first by kind, and by its layer; other rows stay what they are."""
    drawn = np.random.default_rng(12)
    found = [gap_of(side("a", drawn), side("b", drawn, step_s=0.011, extra=0.1)) for _ in range(20)]
    assert sum("data movement" in told(one) and "head" in told(one) for one in found) >= 19
    for one in found:
        for rows in (one.by_kind, one.by_layer):
            assert sum(row.second_s - row.first_s for row in rows) == pytest.approx(one.gap_s)
        (row,) = [row for row in one.by_kind if row.kind == "data movement"]
        assert row.difference_s is not None
        assert row.difference_s.estimate == pytest.approx(row.second_s - row.first_s)
        assert row.told_apart == (row.difference_s.low > 0)


CALM = Raced(1.0, 1.0, ratio_error=0.0, scale_error=0.0, freedom=9)
"""A race that knows both steps: a second each."""


def row(mean: float, *, error: float = 1.0, rounds: int = 400) -> Shares:
    """Give shares whose difference has this mean and this standard error; so many that they are as good as normal."""
    spread = error * rounds**0.5 * ((rounds - 1) / rounds) ** 0.5
    return Shares([0.0] * rounds, [mean + spread * sign for sign in (-1, 1) for _ in range(rounds // 2)])


def test_the_level_falls_with_each_row_that_is_told_apart() -> None:
    """Holm: the smallest chance is held to the level over all rows, and the first that fails ends it."""
    # Of 4 % over three rows a third is 2.49 errors, of the other two a half is 2.33; with 400 values a hundredth more.
    rows = [row(2.0), row(2.6), row(2.2)]
    assert [one.told_apart for one in told_apart(rows, CALM, tested=[True] * 3)] == [False, True, False]
    found = told_apart(rows, CALM, tested=[False, True, True])
    assert [one.told_apart for one in found] == [False, True, True]
    # Of two tables each has half.
    assert [one.told_apart for one in told_apart(rows, CALM, tested=[True] * 3, tables=2)] == [False] * 3
    for one in found[1:]:
        assert one.interval is not None
        assert one.interval.low > 0


def test_rounding_is_no_difference_and_few_rounds_have_no_interval() -> None:
    """Parts that are equal but for the last digit of a sum are equal, however little they vary."""
    (same, other) = told_apart([row(1e-16, error=0.0), row(0.5, error=0.0)], CALM, tested=[True] * 2)
    assert (same.told_apart, other.told_apart) == (False, True)
    assert raced([(1.0, 2.0)] * 2, (1.0, 2.0)) is None
    nothing = (None, False)
    assert told_apart([Shares([0.1] * 2, [0.5] * 2)], CALM, tested=[True]) == [nothing]
    assert told_apart([row(0.5)], None, tested=[True]) == [nothing]
    assert told_apart([], CALM, tested=[]) == []


def test_both_sources_of_variation_count() -> None:
    """Distances of shares and of the step's ratio are at right angles; the level of both widens what is left."""
    shares, still = Shares([0.0] * 400, row(0.5, error=0.02).second), Shares([0.2] * 400, [0.5] * 400)
    (alone,), (none,) = (told_apart([one], CALM, tested=[True]) for one in (shares, still))
    assert alone.interval is not None
    assert none.interval is not None
    width = alone.interval.high - 0.5
    # 4 % are 2.06 errors.
    assert width == pytest.approx(2.06 * 0.02, rel=0.01)
    assert (none.interval.low, none.interval.high) == pytest.approx((0.3, 0.3))
    (raced_alone,) = told_apart([still], CALM._replace(ratio_error=0.1, freedom=10**6), tested=[True])
    assert raced_alone.interval is not None
    assert raced_alone.interval.low == pytest.approx(0.3 - 0.5 * (1 - np.exp(-0.2054)), rel=1e-3)
    assert raced_alone.interval.high == pytest.approx(0.3 + 0.5 * (np.exp(0.2054) - 1), rel=1e-3)
    (scaled,) = told_apart([still], CALM._replace(scale_error=0.1, freedom=10**6), tested=[True])
    assert scaled.interval is not None
    assert (scaled.interval.low, scaled.interval.high) == pytest.approx((0.3 / 1.294, 0.3 * 1.294), rel=1e-3)


def test_the_first_is_as_good_as_the_second() -> None:
    """Contenders that change places have the same interval with its sign turned."""
    shares = Shares([0.2, 0.21, 0.19, 0.2, 0.22], [0.5, 0.52, 0.49, 0.5, 0.53])
    known = Raced(1.0, 1.3, ratio_error=0.05, scale_error=0.0, freedom=4)
    (one,) = told_apart([shares], known, tested=[True])
    (other,) = told_apart(
        [Shares(shares.second, shares.first)], known._replace(first_s=1.3, second_s=1.0), tested=[True]
    )
    assert one.interval is not None
    assert other.interval is not None
    assert (one.told_apart, other.told_apart) == (True, True)
    assert (other.interval.low, other.interval.high) == pytest.approx((-one.interval.high, -one.interval.low))


def test_all_intervals_hold_together_as_often_as_they_say() -> None:
    """Of equals whose rounds are calm, every row of both tables has no difference in its interval, in 95 % of pairs."""
    drawn = np.random.default_rng(8)
    calm = np.ones(11)
    found = [gap_of(side("a", drawn, levels=calm), side("b", drawn, levels=calm)) for _ in range(RUNS)]
    intervals = [[row.difference_s for row in (*one.by_kind, *one.by_layer)] for one in found]
    missed = sum(any(one is None or not one.low <= 0 <= one.high for one in of_a_pair) for of_a_pair in intervals)
    assert missed / RUNS <= LEVEL + 0.011


def test_a_part_that_is_far_larger_is_told_apart_on_a_loud_machine() -> None:
    """Few rounds that differ by a half, for each by itself, hide no part that takes a third and that one alone has."""
    drawn = np.random.default_rng(9)
    found = []
    for _ in range(20):
        levels = [np.exp(drawn.normal(0, 0.5, 11)) for _ in range(2)]
        pair = side("a", drawn, levels=levels[0]), side("b", drawn, step_s=0.03, extra=0.3, levels=levels[1])
        found.append(gap_of(*pair))
    assert sum("data movement" in told(one) for one in found) == 20


def test_a_loud_machine_that_slows_both_alike_is_no_difference() -> None:
    """Equal rounds at any level: medians of both move together, so that their ratio is known, and no level is."""
    known = raced([(level, level) for level in (1.0, 1.3, 0.9, 2.0, 1.1)], (1.1, 1.1))
    assert known is not None
    assert known.ratio_error == 0
    assert known.scale_error > 0.1


def test_a_small_number_of_rounds_is_not_taken_for_many() -> None:
    """The medians of rounds that are drawn again vary by (n - 1) / n of what those of new rounds do; n - 1 are free."""
    pairs = [(1.0, 2.0), (1.2, 2.1), (0.9, 1.8), (1.1, 2.3)]
    known = raced(pairs, (1.05, 2.05))
    assert known is not None
    drawn = np.random.default_rng(0).integers(4, size=(DRAWS, 4))
    error = np.std(np.log(np.median(np.asarray(pairs)[drawn, 0], axis=1))) * (4 / 3) ** 0.5
    assert known.scale_error == pytest.approx(error)
    assert known.freedom == 3


def test_small_rows_are_shown_and_each_table_has_half_of_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row below 0.5 % of both steps is never tested, however sure its difference is."""
    asked = []

    def noted(*args: Any, **given: Any) -> Any:
        asked.append(given)
        return told_apart(*args, **given)

    monkeypatch.setattr(gap, "told_apart", noted)
    drawn = np.random.default_rng(4)
    found = gap_of(side("a", drawn), side("b", drawn, extra=0.009))
    assert [given["tables"] for given in asked] == [2] * 2
    (small,) = [one for one in found.by_kind if one.kind == "data movement"]
    assert 0.0 < small.second_s < 2 * gap.LEAST_SHARE * found.second_s
    assert not small.told_apart
    assert [sum(given["tested"]) for given in asked] == [len(SHARES), len(LAYERS)]


def test_shares_of_a_round_are_parts_of_one_step_and_what_was_inferred_is_a_share() -> None:
    """A trace whose shares do not have the sum 1 counts as any other; half of a row by a rule is 0.5 of it."""
    drawn = np.random.default_rng(6)
    first, second = side("a", drawn), side("b", drawn)
    halved = {
        number: Traced(
            level="layers",
            shares=[
                Share(kind=one.kind, phase=one.phase, layer=one.layer, share=one.share / 2, inferred=one.share / 4)
                for one in traced.shares
            ],
        )
        for number, traced in first.traced.items()
    }
    found = gap_of(first._replace(traced=halved), second)
    whole = gap_of(first, second)
    assert [row.first_s for row in found.by_kind] == pytest.approx([row.first_s for row in whole.by_kind])
    assert sum(row.first_s for row in found.by_kind) == pytest.approx(found.first_s)
    assert all(0.0 < row.inferred_share < 0.5 for row in found.by_kind)

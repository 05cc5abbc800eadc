"""Which parts of a gap are told apart: nothing where nothing differs, and what does differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bakeoff.judge import gap
from bakeoff.judge.gap import Side, gap_of
from bakeoff.spec.explained import OperationKind, Share, Traced
from bakeoff.stats.rows import LEVEL, Spread, raced, spread_of, told_apart

if TYPE_CHECKING:
    from bakeoff.judge.explanation import Gap

RUNS = 400
"""The share of runs with a false row is then known to 0.011 (a standard error), where it is 0.05."""

SHARES = {"convolution": 0.4, "normalisation": 0.2, "element-wise": 0.1, "optimiser": 0.1, "idle": 0.1, "other": 0.1}
LOUD = np.exp(np.random.default_rng(5).normal(0, 0.2, 11))
"""The machine in each round, the same for both of a pair: other processes slow it by a fifth."""
LAYERS = ("stem", "body", "head")


def side(label: str, drawn: np.random.Generator, *, step_s: float = 0.01, extra: float = 0.0) -> Side:
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
    rounds_s = {number: LOUD[number] * step_s * float(np.exp(drawn.normal(0, 0.02))) for number in range(1, 11)}
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
        assert row.difference_s.estimate == row.second_s - row.first_s
        assert row.told_apart == (row.difference_s.low > 0)


def test_the_level_falls_with_each_row_that_is_told_apart() -> None:
    """Holm: the smallest chance is held to the level over all rows, and the first that fails ends it."""
    # With many degrees of freedom the chances are those of the normal distribution: 2.81, 2.5 and 2.0 errors.
    spreads = [Spread(1.0, 1e6)] * 3
    found = told_apart([2.0, 2.81, 2.5], spreads, scale=1.0, tested=[True] * 3, level=0.015)
    assert [one.told_apart for one in found] == [False, True, False]
    found = told_apart([2.0, 2.81, 2.5], spreads, scale=1.0, tested=[False, True, True], level=0.03)
    assert [one.told_apart for one in found] == [False, True, True]
    for one in found[1:]:
        assert one.interval is not None
        assert one.interval.low > 0


def test_rounding_is_no_difference_and_few_rounds_have_no_interval() -> None:
    """Parts that are equal but for the last digit of a sum are equal, however little they vary."""
    (same, other) = told_apart([1e-16, 0.5], [Spread(0.0, 4.0)] * 2, scale=1.0, tested=[True] * 2, level=0.05)
    assert (same.told_apart, other.told_apart) == (False, True)
    assert raced([(1.0, 2.0)] * 2) is None
    assert spread_of([1.0, 2.0], (1.0, 1.0), raced([(1.0, 2.0)] * 3)) is None
    (unknown,) = told_apart([0.5], [None], scale=1.0, tested=[True], level=0.05)
    assert unknown == (None, False)


def test_both_sources_of_variation_count() -> None:
    """Variances add up; degrees of freedom are those of the less known one, or more."""
    calm, noisy = [10.0] * 4, [1.0, 2.0, 3.0]
    still = raced([(1.0, 2.0)] * 4)
    shares = spread_of(noisy, (1.0, 1.0), still)
    assert shares is not None
    assert (shares.error, shares.freedom) == pytest.approx(((1 / 3) ** 0.5, 2))
    drawn = np.random.default_rng(3).normal(10, 1, (40, 2))
    steps = spread_of(calm, (0.0, 1.0), raced([(a, b) for a, b in drawn]))
    assert steps is not None
    assert steps.freedom == pytest.approx(39)
    # Of many normal values a median varies by pi / 2 more than a mean.
    assert steps.error == pytest.approx((np.pi / 2 / 40) ** 0.5, rel=0.3)


def test_a_loud_machine_that_slows_both_alike_is_no_difference() -> None:
    """Equal rounds at any level: medians of both move together, so that equal shares of them differ by nothing."""
    pairs = [(level, level) for level in (1.0, 1.3, 0.9, 2.0, 1.1)]
    found = spread_of([0.0] * 5, (-0.5, 0.5), raced(pairs))
    assert found is not None
    assert found.error == 0


def test_a_small_number_of_rounds_is_not_taken_for_many() -> None:
    """The medians of rounds that are drawn again vary by (n - 1) / n of what those of new rounds do."""
    known = raced([(1.0, 2.0), (1.2, 2.1), (0.9, 1.8), (1.1, 2.3)])
    assert known is not None
    found = spread_of([0.1] * 4, (0.0, 1.0), known)
    assert found is not None
    assert found.error**2 == pytest.approx(float(np.var(known.medians[:, 1])) * 4 / 3)


def test_small_rows_are_shown_and_each_table_has_half_of_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row below 0.5 % of both steps is never tested, however sure its difference is."""
    asked = []

    def noted(*args: Any, **given: Any) -> Any:
        asked.append(given)
        return told_apart(*args, **given)

    monkeypatch.setattr(gap, "told_apart", noted)
    drawn = np.random.default_rng(4)
    found = gap_of(side("a", drawn), side("b", drawn, extra=0.009))
    assert [given["level"] for given in asked] == [LEVEL / 2] * 2
    (row,) = [row for row in found.by_kind if row.kind == "data movement"]
    assert 0.0 < row.second_s < 2 * gap.LEAST_SHARE * found.second_s
    assert not row.told_apart
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

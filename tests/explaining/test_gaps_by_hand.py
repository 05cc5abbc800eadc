"""What a gap consists of, by hand: shares of traced steps, and the rows that they become."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.explaining.conftest import planned, timed
from tests.report.conftest import outcome

from bakeoff.judge import gap
from bakeoff.judge.gap import Side, by_kind, by_layer, gap_of
from bakeoff.spec.explained import OperationKind, Share, Traced

if TYPE_CHECKING:
    from bakeoff.judge.explanation import Row
    from bakeoff.judge.outcome import Outcome

ROUNDS = range(1, 6)


def share(kind: OperationKind, part: float, phase: Any = "forward", layer: str = "", **more: float) -> Share:
    """Make a share of a step."""
    return Share(kind=kind, phase=phase, layer=layer, share=part, **more)


def side(label: str, step_s: float, *shares: Share, level: Any = "layers", noise: float = 0.001) -> Side:
    """Make a contender whose traces are the same in each round, and whose rounds differ by a little."""
    traced = {number: Traced(level=level, shares=list(shares)) for number in ROUNDS}
    rounds_s = {number: step_s * (1.0 + noise * (number % 3 - 1)) for number in range(1, 11)}
    return Side(label, step_s, rounds_s, traced)


def row_of(rows: list[Row], **wanted: str) -> Row:
    """Give the only row of a kind, phase or layer."""
    (found,) = (row for row in rows if all(getattr(row, name) == value for name, value in wanted.items()))
    return found


QUICK = side(
    "quick",
    0.010,
    share("convolution", 0.30, layer="stem", launches=3.0, inferred=0.03),
    share("convolution", 0.10, "backward", layer="stem"),
    share("idle", 0.12),
    share("optimiser", 0.28, "optimiser"),
)
SLOW = side(
    "slow",
    0.020,
    share("convolution", 0.20, layer="stem", launches=5.0, inferred=0.10),
    share("convolution", 0.15, "backward", layer="stem"),
    share("data movement", 0.25, layer="head"),
    share("idle", 0.04),
    share("optimiser", 0.16, "optimiser"),
)
"""Shares have 0.8 as their sum: what traces leave out is in no row, and rows are parts of all the same."""


def test_rows_are_parts_of_the_raced_step_of_each_side() -> None:
    """Each kind in each phase by itself, on both sides, also what only one has; the largest difference first."""
    found = gap_of(QUICK, SLOW)
    assert (found.first, found.first_s, found.second, found.second_s) == ("quick", 0.010, "slow", 0.020)
    told = [(row.kind, row.phase, round(1e3 * row.first_s, 3), round(1e3 * row.second_s, 3)) for row in found.by_kind]
    assert told == [
        ("data movement", "forward", 0.0, 6.25),
        ("convolution", "backward", 1.25, 3.75),
        ("convolution", "forward", 3.75, 5.0),
        ("idle", "forward", 1.5, 1.0),
        ("optimiser", "optimiser", 3.5, 4.0),
    ]
    mirrored = gap_of(SLOW, QUICK)
    assert row_of(mirrored.by_kind, kind="data movement").gap_s == pytest.approx(-0.00625)
    assert mirrored.by_kind[0].kind == "data movement", "the largest is first, whichever side has it"


def test_a_layers_row_has_its_phase_and_what_is_in_none_its_kind() -> None:
    """Kinds of one layer in one phase are one row."""
    rows = gap_of(QUICK, SLOW).by_layer
    assert {(row.kind, row.phase, row.layer) for row in rows} == {
        (None, "forward", "head"),
        (None, "backward", "stem"),
        (None, "forward", "stem"),
        ("idle", "forward", ""),
        ("optimiser", "optimiser", ""),
    }
    assert by_kind(share("idle", 0.1, layer="stem")).layer == ""
    assert by_layer(share("idle", 0.1, layer="stem")).kind is None


@pytest.mark.parametrize("levels", [("layers", "kinds"), ("kinds", "layers"), ("kinds", "kinds")])
def test_layers_are_told_where_both_sides_tell_them(levels: tuple[str, str]) -> None:
    """One that tells kinds alone leaves the table of kinds."""
    first, second = (
        side(one.label, one.step_s, *one.traced[1].shares, level=level)
        for one, level in zip((QUICK, SLOW), levels, strict=True)
    )
    found = gap_of(first, second)
    assert found.by_kind
    assert found.by_layer == []


def test_launches_and_what_was_placed_by_a_rule_are_each_sides_own() -> None:
    """Launches are the mean of rounds; what a rule has placed is a share of the time of both together."""
    row = row_of(gap_of(QUICK, SLOW).by_kind, kind="convolution", phase="forward")
    assert (row.first_launches, row.second_launches) == (3.0, 5.0)
    assert row.inferred_share == pytest.approx((0.03 * 0.010 + 0.10 * 0.020) / (0.00375 + 0.005))
    nothing = side("nothing", 0.010, share("idle", 1.0), share("convolution", 0.0))
    assert row_of(gap_of(nothing, nothing).by_kind, kind="convolution").inferred_share == 0.0


def test_a_difference_is_between_the_second_and_the_first() -> None:
    """Its interval holds what the rows say, and a row that differs for certain is told apart."""
    row = row_of(gap_of(QUICK, SLOW).by_kind, kind="data movement")
    assert row.told_apart
    assert row.difference_s is not None
    assert row.difference_s.low < 0.00625 < row.difference_s.high
    assert row.difference_s.low > 0.0


@pytest.mark.parametrize(("part", "is_told"), [(0.0040, False), (0.0060, True)])
def test_rows_of_less_than_half_a_percent_of_a_step_are_never_told_apart(part: float, is_told: bool) -> None:  # noqa: FBT001
    """On the mean of both sides, of the mean of their steps: a row that one side alone has counts by half of it."""
    whole = side("whole", 0.010, share("idle", 1.0), noise=1e-6)
    more = side("more", 0.010, share("idle", 1.0 - 2.0 * part), share("other", 2.0 * part), noise=1e-6)
    assert row_of(gap_of(whole, more).by_kind, kind="other").told_apart == is_told


def test_a_row_is_held_against_the_mean_of_both_steps() -> None:
    """A quarter of a percent of the longer step is more than that of the shorter one, and less than that of both."""
    short = side("short", 0.010, share("idle", 1.0), noise=1e-6)
    long = side("long", 0.030, share("idle", 0.995), share("other", 0.005), noise=1e-6)
    assert not row_of(gap_of(short, long).by_kind, kind="other").told_apart


def test_a_rows_time_is_by_the_mean_of_its_rounds() -> None:
    """So that rows have the step as their sum, also where one round is unlike the others; raced are common rounds."""
    parts = {number: 0.6 if number == 5 else 0.1 for number in ROUNDS}
    traced = {
        number: Traced(level="kinds", shares=[share("idle", part), share("other", 1.0 - part)])
        for number, part in parts.items()
    }
    uneven = Side("uneven", 0.010, dict.fromkeys(range(3, 13), 0.01), traced)
    rows = gap_of(uneven, SLOW).by_kind
    assert row_of(rows, kind="idle").first_s == pytest.approx(0.002)
    assert sum(row.first_s for row in rows) == pytest.approx(0.010)


@pytest.fixture
def raced_sides(monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """Give a race of four, of which one was not traced and one is on two devices."""
    untraced = Side("untraced", 0.015, QUICK.rounds_s, {})
    double = side("double", 0.005, share("idle", 1.0))
    monkeypatch.setattr(gap, "_sides", lambda outcome, records: [SLOW, double, untraced, QUICK])
    on_two = planned("double", devices="2")
    contenders = [timed(one.label, 1e3 * one.step_s) for one in (SLOW, untraced, QUICK)]
    return outcome([*contenders, timed("double", 5.0, plan=on_two)], [])


def test_a_gap_is_of_two_that_were_traced_on_as_many_devices(
    raced_sides: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The faster one first, whatever the order of contenders."""
    assert [(one.first, one.second) for one in gap.gaps(raced_sides, [])] == [("quick", "slow")]
    monkeypatch.setattr(gap, "_sides", lambda outcome, records: [QUICK, SLOW._replace(step_s=0.001)])
    assert [(one.first, one.second) for one in gap.gaps(raced_sides, [])] == [("slow", "quick")]


def test_who_is_not_ranked_or_has_no_step_time_is_in_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Traced as all are: one without a certificate, and one whose rounds told no step time."""
    monkeypatch.setattr(gap, "traced_rounds", lambda records, label: QUICK.traced)
    refused = msgspec.structs.replace(timed("refused", 3.0), status="uncertified")
    unknown = msgspec.structs.replace(timed("unknown", 2.0), median_step_s=None)
    raced = outcome([timed("slow", 20.0), refused, timed("quick", 10.0), unknown], [])
    assert [(one.first, one.second) for one in gap.gaps(raced, [])] == [("quick", "slow")]


def test_what_one_spends_less_on_is_of_some_kinds_all_together(raced_sides: Outcome) -> None:
    """Of two that were traced in the same rounds, and of no one else."""
    kinds: set[OperationKind] = {"convolution", "idle"}

    def less(before: str, after: str) -> Any:
        return gap.less_in(kinds, raced_sides, [], before=before, after=after)

    assert less("slow", "quick").estimate == pytest.approx(0.00975 - 0.0065)
    assert less("quick", "slow").estimate == pytest.approx(0.0065 - 0.00975)
    for before, after in (("slow", "nobody"), ("nobody", "quick"), ("slow", "untraced")):
        assert less(before, after) is None


def test_how_sure_a_step_time_is_is_told_of_the_side_that_has_it() -> None:
    """Of a calm contender beside one whose rounds scatter, the first's time is sure, and the other way round not."""
    calm, wild = side("calm", 0.010, noise=0.0), side("wild", 0.020, noise=0.05)
    first, second = gap._raced(calm, wild), gap._raced(wild, calm)
    assert first is not None
    assert second is not None
    assert (first.first_s, first.second_s, first.scale_error) == (0.010, 0.020, pytest.approx(0.0, abs=1e-9))
    assert second.scale_error > 0.01

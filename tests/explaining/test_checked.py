"""What a race with switches turned says of a suspect: each status by its own rule."""

from __future__ import annotations

import msgspec
import pytest
from tests.explaining.conftest import MS, TURNED, gap, row, suspect_race, suspects, timed

from bakeoff.judge.checked import judged
from bakeoff.judge.explanation import Cause, Row, Suspect, Unjudged
from bakeoff.spec.verdict import Interval

BEFORE = gap(row("optimiser", 1.0, 3.0, "optimiser"), row("matrix product", 7.0, 7.0))
"""Ten milliseconds, of which two are the optimiser's."""


def test_a_row_is_confirmed_that_saves_what_was_named_and_shrinks() -> None:
    """The saving, the ratio that is left, the row in the second profile and the race stand in the suspect."""
    one, control = judged(suspects(), BEFORE, suspect_race(8.1, 1.1))
    assert one.status == "confirmed"
    assert one.saved_s is not None
    assert one.saved_s.estimate == pytest.approx(1.9 * MS)
    assert one.ratio is not None
    assert one.ratio.estimate == pytest.approx(8.1 / 8.0)
    assert one.row_after_s == pytest.approx(1.1 * MS)
    assert one.comparison == "checks/mlp-1"
    assert "saves 1.9 ms (1.82 ms to 1.98 ms) of a step" in one.reason
    assert control.status == "hypothesis"
    assert control.reason.startswith("it has not moved")


@pytest.mark.parametrize(
    ("turned_ms", "row_after_ms", "status", "said"),
    [
        (10.0, 3.0, "refuted", "saves 0 ms"),
        (10.4, 3.0, "refuted", "saves -0.4 ms"),
        (8.1, 3.05, "refuted", "the row is not smaller"),
        (6.0, 1.0, "hypothesis", "changes something else, too"),
    ],
)
def test_what_is_not_as_predicted_is_not_confirmed(
    turned_ms: float, row_after_ms: float, status: str, said: str
) -> None:
    """A switch that saves nothing, a row that stays, and a saving beyond the named row each have their own reason."""
    one, _ = judged(suspects(), BEFORE, suspect_race(turned_ms, row_after_ms))
    assert one.status == status
    assert said in one.reason


def test_a_row_has_to_shrink_by_its_own_difference_and_not_by_all_that_its_switch_saves() -> None:
    """Of 2 ms that a switch saves in several rows, a row with 0.15 of them cannot lose more than these."""
    small, control = suspects(0.15)
    one, _ = judged([msgspec.structs.replace(small, at_most_s=2.0 * MS), control], BEFORE, suspect_race(8.1, 2.95))
    assert (one.status, "does not tell" in one.reason) == ("hypothesis", True)


def test_an_interval_that_holds_nothing_and_everything_says_nothing() -> None:
    """A race too short to tell refutes no suspect."""
    one, _ = judged(suspects(), BEFORE, suspect_race(9.0, 1.0, half=0.3))
    assert one.status == "hypothesis"
    assert "too wide" in one.reason


def test_nothing_is_confirmed_where_the_control_has_moved() -> None:
    """The reason names the control with what it has saved; what is refuted stays so."""
    one, control = judged(suspects(), BEFORE, suspect_race(8.1, 1.1, control_ms=9.5))
    assert one.status == "hypothesis"
    assert "the control denormals=flush has moved: it saves 0.5 ms" in one.reason
    assert control.reason.startswith("it has moved")
    refuted, _ = judged(suspects(), BEFORE, suspect_race(10.0, 3.0, control_ms=9.5))
    assert refuted.status == "refuted"


def test_a_control_that_has_become_slower_has_moved_too() -> None:
    """It is no witness whichever way it went."""
    one, control = judged(suspects(), BEFORE, suspect_race(8.1, 1.1, control_ms=10.5))
    assert one.status == "hypothesis"
    assert "the control denormals=flush has moved: it saves -0.5 ms" in one.reason
    assert control.reason.startswith("it has moved")


def test_a_control_that_has_moved_a_tenth_of_what_is_saved_takes_nothing_away() -> None:
    """By 0.12 ms at most of 1.9: chance moves one control in twenty. Of 1.2 ms it would be too much."""
    one, control = judged(suspects(), BEFORE, suspect_race(8.1, 1.1, control_ms=9.9, half=0.002))
    assert (control.reason.startswith("it has moved"), one.status) == (True, "confirmed")
    less, _ = judged(suspects(), BEFORE, suspect_race(8.9, 1.9, control_ms=9.9, half=0.002))
    assert (less.status, "has moved" in less.reason) == ("hypothesis", True)


def test_nothing_is_confirmed_without_a_control() -> None:
    """A race without one says nothing of how far chance moves a contender."""
    (one,) = judged(suspects()[:1], BEFORE, suspect_race(8.1, 1.1))
    assert (one.status, one.reason.endswith("no control was measured")) == ("hypothesis", True)


def test_a_saving_that_the_control_has_too_is_none() -> None:
    """What is saved has to be more than the interval of a switch that should not matter allows."""
    one, _ = judged(suspects(), BEFORE, suspect_race(9.85, 1.1, control_ms=10.1, half=0.012))
    assert one.status == "hypothesis"


def test_a_switch_that_did_not_race_leaves_a_hypothesis_with_its_reason() -> None:
    """A contender that is not ranked, or not there, says why."""
    known = suspect_race(8.1, 1.1)
    turned = timed(TURNED, 8.1, status="uncertified", reason="its gradients differ")
    others = [one for one in known.outcome.contenders if one.label != TURNED]
    failed = msgspec.structs.replace(known.outcome, contenders=[*others, turned])
    one, _ = judged(suspects(), BEFORE, msgspec.structs.replace(known, outcome=failed))
    assert (one.status, "its gradients differ" in one.reason) == ("hypothesis", True)
    gone = msgspec.structs.replace(known.outcome, contenders=others)
    one, _ = judged(suspects(), BEFORE, msgspec.structs.replace(known, outcome=gone))
    assert "could not be raced" in one.reason


def test_a_second_profile_is_needed() -> None:
    """Without it a saving is a hypothesis still, whichever side of its gap the turned one is."""
    known = suspect_race(8.1, 1.1)
    one, _ = judged(suspects(), BEFORE, msgspec.structs.replace(known, gaps=[]))
    assert (one.status, "no second profile" in one.reason) == ("hypothesis", True)
    other_way = gap(row("optimiser", 3.0, 1.1, "optimiser"), first="slow", second=TURNED)
    one, _ = judged(suspects(), BEFORE, msgspec.structs.replace(known, gaps=[other_way]))
    assert (one.status, one.row_after_s) == ("confirmed", pytest.approx(1.1 * MS))


def test_predictions_follow_the_level_of_the_second_race() -> None:
    """On a machine twice as slow by then, a row may save twice as much."""
    half = gap(row("optimiser", 0.5, 1.5, "optimiser"), row("matrix product", 3.5, 3.5))
    one, _ = judged(suspects(1.0), half, suspect_race(8.1, 1.1))
    assert one.status == "confirmed"


def test_what_is_too_wide_to_tell_follows_it_as_well() -> None:
    """What may save 0.7 ms, of 2 predicted at this race's level, is refuted: of 1 ms, as before, that were half."""
    half = gap(row("optimiser", 0.5, 1.5, "optimiser"), row("matrix product", 3.5, 3.5))
    one, _ = judged(suspects(1.0), half, suspect_race(9.9, 1.1, half=0.06))
    assert one.saved_s is not None
    assert 0.5 * MS < one.saved_s.high < 1.0 * MS
    assert one.status == "refuted", one.reason


def test_a_saving_that_may_be_within_the_prediction_is_not_beyond_it() -> None:
    """Of 2.15 ms (2.07 to 2.23) the rows explain 2.1."""
    one, _ = judged(suspects(), BEFORE, suspect_race(7.85, 1.1))
    assert one.status == "confirmed", one.reason


def test_the_second_profile_is_read_at_the_row_and_the_pair_that_are_meant() -> None:
    """Neither the same kind in another phase, nor a gap to another contender, says what the row takes now."""
    known = suspect_race(8.1, 1.1)
    other_pair = gap(row("optimiser", 1.0, 5.0, "optimiser"), first="quick", second=TURNED)
    meant = gap(row("optimiser", 3.0, 3.0, "forward"), row("optimiser", 1.1, 3.0, "optimiser"), first=TURNED)
    one, _ = judged(suspects(), BEFORE, msgspec.structs.replace(known, gaps=[other_pair, meant]))
    assert (one.status, one.row_after_s) == ("confirmed", pytest.approx(1.1 * MS))


def test_the_second_profile_is_read_at_the_layer_that_is_meant() -> None:
    """A suspect that is a layer shrinks by what the tables by layer say, whatever its kinds do."""

    def placed(layer: str, first_ms: float, second_ms: float) -> Row:
        return msgspec.structs.replace(row("other", first_ms, second_ms), kind=None, layer=layer)

    suspect, control = suspects()
    again = msgspec.structs.replace(
        gap(first=TURNED), by_layer=[placed("layers.1", 3.0, 3.0), placed("layers.0", 1.1, 3.0)]
    )
    known = msgspec.structs.replace(suspect_race(8.1, 1.1), gaps=[again], less_s={suspect.switch: interval(1.5, 2.0)})
    one, _ = judged([msgspec.structs.replace(suspect, row=placed("layers.0", 1.0, 3.0)), control], BEFORE, known)
    assert (one.status, one.row_after_s) == ("confirmed", pytest.approx(1.1 * MS)), one.reason


def interval(low_ms: float, high_ms: float) -> Interval:
    """Make the interval of a difference."""
    return Interval(estimate=(low_ms + high_ms) / 2.0 * MS, low=low_ms * MS, high=high_ms * MS)


def cause(label: str) -> Cause:
    """Make a cause that is no operation."""
    return Cause(label=label, name="page faults", said="")


@pytest.mark.parametrize(
    ("shown", "status"),
    [(["slow"], "confirmed"), (["slow", TURNED], "refuted"), ([], "hypothesis")],
)
def test_a_cause_in_counters_has_to_be_gone_with_the_switch(shown: list[str], status: str) -> None:
    """It is to be seen without the switch, and not with it, in the very race that shows the saving."""
    row_suspect, control = suspects()
    one = msgspec.structs.replace(row_suspect, row=None, cause="page faults", at_most_s=0.0)
    known = msgspec.structs.replace(suspect_race(7.0, 1.0), causes=[cause(label) for label in shown])
    found, _ = judged([one, control], BEFORE, known)
    assert found.status == status


@pytest.mark.parametrize("label", ["slow", TURNED])
def test_a_cause_that_was_not_looked_for_is_not_gone(label: str) -> None:
    """Counters of a busy machine show nothing, with the switch or without it: that confirms nothing."""
    row_suspect, control = suspects()
    one = msgspec.structs.replace(row_suspect, row=None, cause="page faults", at_most_s=0.0)
    hidden = Unjudged(label=label, names=["page faults"], reason="the machine was busy")
    known = msgspec.structs.replace(suspect_race(7.0, 1.0), causes=[cause("slow")], unjudged=[hidden])
    found, _ = judged([one, control], BEFORE, known)
    assert (found.status, "look for page faults: the machine was busy" in found.reason) == ("hypothesis", True)


def test_a_cause_is_not_refuted_by_a_race_that_may_hide_the_whole_gap() -> None:
    """Without a row the prediction is the gap: an interval with nothing and half of it says nothing."""
    row_suspect, control = suspects()
    one = msgspec.structs.replace(row_suspect, row=None, cause="page faults", at_most_s=0.0)
    wide, _ = judged([one, control], BEFORE, suspect_race(9.5, 3.0, half=0.2))
    assert (wide.status, "too wide" in wide.reason) == ("hypothesis", True)
    narrow, _ = judged([one, control], BEFORE, suspect_race(10.0, 3.0))
    assert narrow.status == "refuted"


def test_a_row_that_a_second_profile_sees_badly_refutes_nothing() -> None:
    """An interval that holds both no change and all that was saved leaves a hypothesis."""
    known = suspect_race(8.1, 1.1)
    loud = msgspec.structs.replace(row("optimiser", 1.1, 3.0, "optimiser"), difference_s=interval(-0.5, 4.3))
    blurred = gap(loud, first=TURNED, second="slow")
    one, _ = judged(suspects(), BEFORE, msgspec.structs.replace(known, gaps=[blurred]))
    assert (one.status, "does not tell" in one.reason) == ("hypothesis", True)


@pytest.mark.parametrize(("most_ms", "status"), [(0.8, "refuted"), (1.2, "hypothesis")])
def test_a_row_is_refuted_only_where_it_surely_shrinks_by_less_than_half_of_its_difference(
    most_ms: float, status: str
) -> None:
    """Of a row with 1.8 ms to lose, 0.8 at most are too few, and 1.2 at most may be enough."""
    seen = msgspec.structs.replace(row("optimiser", 2.7, 3.0, "optimiser"), difference_s=interval(-0.2, most_ms))
    known = msgspec.structs.replace(suspect_race(8.1, 1.1), gaps=[gap(seen, first=TURNED)])
    one, _ = judged(suspects(), BEFORE, known)
    assert one.status == status, one.reason


def test_what_was_before_is_told_of_the_same_race() -> None:
    """Levels of two races differ: the ratio and the row without the switch are those beside it."""
    one, _ = judged(suspects(), BEFORE, suspect_race(8.1, 1.1))
    assert one.ratio_before == pytest.approx(10.0 / 8.0)
    assert one.row_before_s == pytest.approx(3.0 * MS)


def test_suspects_without_a_switch_stay_what_they_are() -> None:
    """No race is asked about them."""
    one = Suspect(first="quick", second="slow", label="slow", row=suspects()[0].row, reason="no option acts on it")
    (found,) = judged([one], BEFORE, suspect_race(8.0, 1.0))
    assert found == one


def test_a_saving_that_is_surely_less_than_half_is_not_the_whole_cause() -> None:
    """A tenth of what was predicted, however sure, closes no gap as predicted."""
    one, _ = judged(suspects(), BEFORE, suspect_race(9.8, 1.1, half=0.005))
    assert one.saved_s is not None
    assert one.saved_s.low > 0.0
    assert one.status == "hypothesis"
    assert "less than half of what was predicted" in one.reason


PRODUCTS = "convolution=products"
CONVOLVED = gap(row("convolution", 1.0, 4.0), row("element-wise", 6.0, 6.0))


@pytest.mark.parametrize(
    ("together", "status", "said"),
    [
        (interval(1.8, 2.2), "confirmed", "the row takes 0 ms in a second profile"),
        (interval(-0.1, 0.1), "refuted", "its work may have moved among them"),
        (interval(-0.5, 2.5), "hypothesis", "its work may have moved among them"),
        (None, "hypothesis", "too few rounds tell whether all that convolution=products acts on takes less together"),
    ],
)
def test_a_row_that_a_switch_calls_otherwise_is_not_smaller(together: Interval | None, status: str, said: str) -> None:
    """Convolutions that have become products are confirmed only where both together, and their copies, take less."""
    one, control = suspects()
    one = msgspec.structs.replace(one, row=CONVOLVED.by_kind[0], switch=PRODUCTS, at_most_s=3.0 * MS)
    known = suspect_race(8.0, 1.0)
    turned = gap(row("convolution", 0.0, 4.0), row("matrix product", 2.0, 0.0), first=TURNED)
    known = msgspec.structs.replace(
        known,
        labels={PRODUCTS: TURNED, **known.labels},
        gaps=[turned],
        less_s={} if together is None else {PRODUCTS: together},
    )
    found, _ = judged([one, control], CONVOLVED, known)
    assert found.status == status, found.reason
    assert said in found.reason

"""What a report says of steps that become slower, or faster, in training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.conftest import LATE, TORCH, outcome

from bakeoff.report.sections.late import late_table, sentences
from bakeoff.spec.record import DenormalCount
from bakeoff.spec.verdict import Interval

if TYPE_CHECKING:
    from bakeoff.judge.late import Late


def said(late: Late, *, options: dict[str, str], denormals: str = "kept") -> str:
    """Give the sentence on one contender with these options, which read back what becomes of denormal numbers."""
    contender = msgspec.structs.replace(TORCH.plan.contender, options=options)
    one = msgspec.structs.replace(
        TORCH,
        late=late,
        plan=msgspec.structs.replace(TORCH.plan, contender=contender),
        settings=TORCH.settings | {"denormals": denormals},
    )
    (sentence,) = sentences(outcome([one], []))
    return sentence


def test_a_step_that_becomes_faster_is_told_from_the_slow_side() -> None:
    """Half the time late is twice the time early: the ends of the interval change places with the sides."""
    faster = msgspec.structs.replace(LATE, ratio=Interval(estimate=0.5, low=0.4, high=0.8))
    expected = "step 10 takes 2.0x as long as step 1,000 of training (95 % CI 1.2 to 2.5, one process)"
    assert expected in said(faster, options={"device": "cpu", "denormals": "keep"})


def test_no_bound_of_a_change_is_rounded_onto_1() -> None:
    """That the interval leaves 1 out is why the sentence is there: neither it nor the table reads "1.00 to ..."."""
    slower = msgspec.structs.replace(LATE, ratio=Interval(estimate=1.06, low=1.003, high=1.12))
    assert "takes 1.060x as long as step 10 (95 % CI 1.003 to 1.120," in said(slower, options={"device": "cpu"})
    one = msgspec.structs.replace(TORCH, late=slower)
    assert late_table(outcome([one], [])).lines[0].cells[4:6] == ["1.060", "1.003 to 1.120"]


@pytest.mark.parametrize(
    ("options", "denormals", "is_offered"),
    [
        ({"device": "cpu", "denormals": "keep"}, "kept", True),
        ({"device": "cpu", "denormals": "flush"}, "flushed", False),
        ({"device": "cpu"}, "kept", False),
        ({"device": "cuda", "denormals": "keep"}, "kept", False),
    ],
)
def test_a_remedy_is_offered_where_it_would_change_something(
    options: dict[str, str], denormals: str, *, is_offered: bool
) -> None:
    """Not where denormal numbers are flushed already, nor to who does not have the option."""
    sentence = said(LATE, options=options, denormals=denormals)
    assert "step 1,000 of training takes 1.52x as long as step 10 (95 % CI 1.49 to 1.56" in sentence
    assert ("denormals=flush" in sentence) == is_offered


@pytest.mark.parametrize(
    ("estimate", "low", "high", "differs"),
    [
        (1.2, 1.1, 1.3, True),
        (0.8, 0.7, 0.9, True),
        (1.2, 0.9, 1.5, False),
        (1.03, 1.02, 1.04, False),
        (0.97, 0.96, 0.98, False),
    ],
)
def test_a_cost_that_changes_is_told_in_either_direction(
    estimate: float, low: float, high: float, *, differs: bool
) -> None:
    """Where it is beyond the margin, and the interval leaves out that nothing has changed."""
    late = msgspec.structs.replace(LATE, ratio=Interval(estimate=estimate, low=low, high=high))
    assert late.differs(0.05) == differs


def test_numbers_that_have_become_denormal_are_named() -> None:
    """Not those that were as many before, nor fewer than a hundredth of an array."""
    many, few = DenormalCount(elements=100, denormal=50), DenormalCount(elements=1000, denormal=9)
    late = msgspec.structs.replace(LATE, early={"a": many, "b": few}, late={"a": many, "b": many, "c": many, "d": few})
    assert late.denormal() == {"b": 0.5, "c": 0.5}


def test_no_remedy_is_offered_for_what_the_option_does_not_touch() -> None:
    """Denormal parameters are told; flushing, which acts on what the optimiser holds, is not said to mend them."""
    grown = {"parameters": DenormalCount(elements=100, denormal=50)}
    late = msgspec.structs.replace(LATE, late=grown)
    sentence = said(late, options={"device": "cpu", "denormals": "keep"})
    assert "by then 50 % of" in sentence
    assert "denormals=flush" not in sentence

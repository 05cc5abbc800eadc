"""What is told of suspects: which one speaks for a part, and which line of their table is marked."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.report.explained.conftest import SUSPECTS, gap

from bakeoff.report.gaps import suspect_of
from bakeoff.report.sections.suspects import suspects
from bakeoff.spec.verdict import Interval

if TYPE_CHECKING:
    from bakeoff.judge.explanation import Explanation, Status

PAIR = gap("torch", "jax")
MOVED = Interval(estimate=1e-3, low=0.5e-3, high=1.5e-3)


@pytest.mark.parametrize(
    ("statuses", "told"),
    [
        (("hypothesis", "refuted", "confirmed"), "confirmed"),
        (("hypothesis", "refuted"), "refuted"),
        (("refuted", "confirmed"), "confirmed"),
    ],
)
def test_for_a_part_speaks_the_suspect_of_which_a_race_has_said_most(
    explained: Explanation, statuses: tuple[Status, ...], told: str
) -> None:
    """Several switches may act on one part: what one of them has confirmed is not refuted by another."""
    for order in permutations(statuses):
        several = [msgspec.structs.replace(SUSPECTS[0], status=status, switch=f"a={status}") for status in order]
        found = suspect_of(msgspec.structs.replace(explained, suspects=several), PAIR, PAIR.by_kind[8])
        assert found is not None
        assert found.status == told


def test_of_two_hypotheses_the_one_with_a_switch_speaks(explained: Explanation) -> None:
    """It has been raced, or could be."""
    mute = msgspec.structs.replace(SUSPECTS[0], status="hypothesis", switch="")
    raced = msgspec.structs.replace(mute, switch="convolution=products")
    for order in permutations([mute, raced]):
        assert suspect_of(msgspec.structs.replace(explained, suspects=list(order)), PAIR, PAIR.by_kind[8]) == raced


@pytest.mark.parametrize(
    ("changes", "status", "is_marked"),
    [
        ({"status": "confirmed"}, "confirmed", True),
        ({"status": "refuted"}, "refuted", False),
        ({"status": "hypothesis"}, "hypothesis", False),
        ({"is_control": True, "saved_s": MOVED}, "control: moved", False),
        ({"is_control": True, "saved_s": msgspec.structs.replace(MOVED, low=0.0)}, "control: unmoved", False),
        ({"is_control": True, "saved_s": None}, "control", False),
    ],
)
def test_what_a_race_has_confirmed_is_marked_and_nothing_else(
    explained: Explanation, changes: dict[str, Any], status: str, *, is_marked: bool
) -> None:
    """Each has its status in its line; a control is no suspect, and has moved where its interval leaves out 0."""
    one = msgspec.structs.replace(SUSPECTS[0], **changes)
    (table,) = suspects(msgspec.structs.replace(explained, suspects=[one]))[0].tables
    (line,) = table.lines
    assert (line.cells[2], line.marked) == (status, is_marked)

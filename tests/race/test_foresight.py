"""What a time budget cannot buy is said before anything starts."""

from __future__ import annotations

from typing import Any

import pytest

from bakeoff.race.progress import Event, Prepared

PAIR = ("fake:step_ms=50", "fake:step_ms=60")


def foreseen(race: Any, *contenders: str, **asked: Any) -> str:
    """Give what is said at the start of a race."""
    events: list[Event] = []
    race(*contenders, observe=events.append, **asked)
    (prepared,) = (event for event in events if isinstance(event, Prepared))
    return prepared.foreseen


def test_a_budget_that_buys_no_verdict_says_so_with_what_would(race: Any) -> None:
    """It names the rounds that fit, those that a verdict needs, and a budget that may do."""
    said = foreseen(race, *PAIR, budget_s=15.0)
    assert said.startswith("a budget of 15 s buys about 2 of the 5 rounds that a verdict needs")
    assert said.endswith("give --budget 30s or more")


def test_a_budget_is_told_in_digits_that_it_is_kept_to(race: Any) -> None:
    """A share of a budget is a long number, of which two digits are read."""
    assert foreseen(race, *PAIR, budget_s=2.94612).startswith("a budget of 2.9 s buys about 1 of the 5 rounds")


@pytest.mark.parametrize(("contenders", "budget_s"), [(PAIR, 40.0), (PAIR, None), (PAIR[:1], 1.0)])
def test_nothing_is_foreseen_where_a_verdict_can_be_had(
    race: Any, contenders: tuple[str, ...], budget_s: float | None
) -> None:
    """A budget that may do, none at all, and a contender without a rival."""
    assert foreseen(race, *contenders, budget_s=budget_s) == ""


def test_nothing_is_foreseen_where_fewer_rounds_are_asked_for(race: Any) -> None:
    """Who asks for three rounds knows that they decide nothing."""
    assert foreseen(race, *PAIR, budget_s=15.0, max_rounds=3) == ""


def test_contenders_that_are_the_same_make_an_a_a_test(race: Any) -> None:
    """Twice the same code in the same settings is said to be an A/A test; other settings, or one alone, are none."""
    said = foreseen(race, "fake", "fake", "fake:step_ms=2", max_rounds=1)
    assert said.startswith("an A/A test: fake and fake ")
    assert "step_ms=2" not in said
    assert foreseen(race, "fake", "fake:step_ms=2", max_rounds=1) == ""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.report.conftest import JAX, TORCH, outcome
from tests.report.conftest import verdict as verdict_of

from bakeoff.judge.regression import Regression, regressions, worst


def test_slower_is_said_where_all_of_the_interval_is_above_the_limit(race: Any) -> None:
    """Twice as long is slower than 5 % and not slower than 150 %; the first contender is the baseline."""
    outcome = race("fake", "fake:step_ms=2", "fake:step_ms=0.5")
    found = {one.contender: one for one in regressions(outcome, 0.05)}
    assert {name: one.answer for name, one in found.items()} == {
        "fake:step_ms=2": "slower",
        "fake:step_ms=0.5": "not slower",
    }
    ratio = found["fake:step_ms=2"].ratio
    assert ratio is not None
    assert 1.9 < ratio < 2.1
    assert worst(list(found.values())) == "slower"
    assert worst(regressions(outcome, 1.5)) == "not slower"


def test_what_cannot_be_told_is_neither(race: Any) -> None:
    """An interval over the limit, a contender that failed and one that is not there have a reason each."""
    outcome = race("fake", "fake:step_ms=2")
    wide = msgspec.structs.replace(outcome.verdicts[0], ratio=1.0, low=0.5, high=2.0)
    (one,) = regressions(msgspec.structs.replace(outcome, verdicts=[wide]), 0.05)
    assert (one.answer, one.reason[:12]) == ("inconclusive", "the interval")
    first, second = outcome.contenders
    lost = msgspec.structs.replace(second, status="failed", reason="it crashed")
    (one,) = regressions(msgspec.structs.replace(outcome, contenders=[first, lost]), 0.05)
    assert (one.answer, one.reason) == ("inconclusive", "fake:step_ms=2: it crashed")
    asked = msgspec.structs.replace(outcome.comparison, excluded={"other": "not installed here"})
    (one,) = regressions(msgspec.structs.replace(outcome, comparison=asked), 0.05)
    assert (one.contender, one.answer, one.reason) == ("other", "inconclusive", "not installed here")
    assert worst([]) == "inconclusive"


@pytest.mark.parametrize(
    ("verdict", "low", "high", "answer"),
    [
        ("slower", 1.06, 1.3, "slower"),
        ("slower", 1.01, 1.4, "inconclusive"),
        ("undecided", 1.06, 1.3, "inconclusive"),
        ("equal", 0.98, 1.04, "not slower"),
        ("faster", 0.7, 0.8, "not slower"),
    ],
)
def test_the_interval_answers_where_a_direction_is_decided(verdict: Any, low: float, high: float, answer: str) -> None:
    """All of it above 5 % or none of it: a ratio beyond the limit is no answer by itself, nor is a size."""
    pair = verdict_of("jax", "torch", verdict, (low * high) ** 0.5, low, high, level=0.95)
    (one,) = regressions(outcome([TORCH, JAX], [pair]), 0.05)
    assert (one.contender, one.baseline, one.answer) == ("jax", "torch", answer)


def test_the_worst_of_all_answers_is_the_answer() -> None:
    """One that is slower is enough, and one that is not known leaves the others' answers open."""
    told: dict[str, Any] = {
        answer: Regression(contender="a", baseline="b", answer=answer, reason="")  # type: ignore[arg-type]
        for answer in ("slower", "inconclusive", "not slower")
    }
    assert worst([told["not slower"], told["inconclusive"]]) == "inconclusive"
    assert worst([told["inconclusive"], told["not slower"], told["slower"]]) == "slower"

from __future__ import annotations

from typing import Any

import msgspec

from bakeoff.judge.regression import regressions, worst


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

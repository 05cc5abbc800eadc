"""The explanation of a race that was not run to its end."""

from __future__ import annotations

import msgspec
from tests.report.shown import data_of

from bakeoff.judge.explanation import Explanation


def test_a_race_that_was_interrupted_is_warned_of(explained: Explanation) -> None:
    """Its numbers are interim, and the command that goes on with it is told; one that is over is not warned of."""
    outcome = msgspec.structs.replace(explained.outcome, ended="unfinished")
    open_race = msgspec.structs.replace(explained, outcome=outcome)
    (said,) = [one for one in data_of(open_race)["warnings"] if one.startswith("The race is not finished")]
    assert said.endswith(f"{outcome.comparison.command} --resume")
    assert not [one for one in data_of(explained)["warnings"] if "not finished" in one]

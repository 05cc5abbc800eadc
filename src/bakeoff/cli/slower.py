"""`bakeoff run --fail-if-slower`: the answer as an exit code, and in a sentence for each contender."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bakeoff.cli import FAILED

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.judge.regression import Regression

UNTOLD = 125
"""What `git bisect run` takes for a revision that cannot be tested, and skips (git-bisect(1))."""


def tell(outcome: Outcome, share: float) -> int:
    """Write to stderr how each contender compares with the first; return the exit code."""
    from bakeoff.judge.regression import regressions, worst

    found = regressions(outcome, share)
    for one in found:
        sys.stderr.write(f"{_sentence(one, share)}\n")
    return {"slower": FAILED, "not slower": 0, "inconclusive": UNTOLD}[worst(found)]


def _sentence(one: Regression, share: float) -> str:
    """Return how one contender stands to the first."""
    from bakeoff.report.units import percent

    known = "" if one.ratio is None else f" (ratio {one.ratio:.3f}{_between(one)})"
    if one.answer == "inconclusive":
        return f"--fail-if-slower: {one.contender} is inconclusive: {one.reason}{known}"
    return f"--fail-if-slower: {one.contender} is {one.answer} than {one.baseline} by more than {percent(share)}{known}"


def _between(one: Regression) -> str:
    """Return a ratio's interval, with its level if it has one; one round or two have none."""
    from bakeoff.report.units import percent

    level = f"{percent(one.level)} CI " if one.level is not None else ""
    return "" if one.low is None or one.high is None else f", {level}{one.low:.3f} to {one.high:.3f}"

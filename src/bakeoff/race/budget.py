"""A time budget that several undertakings share, one after another."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from bakeoff.spec.request import Request

HALF = 0.5
"""Of a time budget for the race: it alone says who is faster."""

TRACES = 1.0 / 3.0
"""Of what is left behind a race, for its traces: these are five trials of each contender, and the race that checks
suspects is ten rounds of more contenders, with five traces of each."""

CHECKS = 2.0 / 3.0
"""Of the time for suspects, for their race: ten rounds, and then five traces."""

SPENT_S = 1e-9
"""What stands for a budget of which nothing is left."""


class Stopwatch:
    """A time budget that runs."""

    def __init__(self, budget_s: float | None) -> None:
        """Start; None: there is no limit."""
        self._budget_s = budget_s
        self._began_s = time.monotonic()

    def left_s(self, share: float = 1.0) -> float | None:
        """Return this share of what is left, never below 0; None where there is no limit."""
        if self._budget_s is None:
            return None
        return share * max(0.0, self._budget_s - (time.monotonic() - self._began_s))


def with_budget(request: Request, budget_s: float | None) -> Request:
    """Return a request with another time budget."""
    return msgspec.structs.replace(request, budget_s=None if budget_s is None else max(budget_s, SPENT_S))

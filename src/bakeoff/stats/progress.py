"""Who runs on, and when a contender or a pair gets no more rounds: the same whatever decides a pair."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import msgspec

from bakeoff.stats.pairs import is_open

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bakeoff.spec.verdict import Verdict


class Stopping(msgspec.Struct, frozen=True, kw_only=True):
    """When a contender runs no more rounds, whatever its pairs are."""

    failures: int = 2
    """Failed timed trials after which it is given up: a third would fail, too."""
    rounds_alone: int = 3
    """Rounds where no other is left: they give its step time an interval, and there is no pair to settle."""


STOPPING = Stopping()


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How far a contender has come."""

    label: str
    rounds: int = 0
    """With a time of its own."""
    failures: int = 0
    """Of timed trials."""


def still_active(standings: Sequence[Standing], verdicts: Iterable[Verdict]) -> list[str]:
    """Return the labels of the contenders that run in the next round, in the order of `standings`.

    A contender runs on while it has a pair, with one that is not given up, that is neither settled nor stopped; a pair
    without a verdict is open. `standings` name a pair's contenders in the order in which its verdict does. The only
    contender that is left runs for the rounds that its step time's interval needs.
    """
    labels = [one.label for one in standings if one.failures < STOPPING.failures]
    if len(labels) == 1:
        return [one.label for one in standings if one.label in labels and one.rounds < STOPPING.rounds_alone]
    closed = {(verdict.first, verdict.second) for verdict in verdicts if not is_open(verdict)}
    needed = {label for pair in combinations(labels, 2) if pair not in closed for label in pair}
    return [label for label in labels if label in needed]

"""Who runs on, and when a contender or a pair gets no more rounds: the same whatever decides a pair."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import msgspec

from bakeoff.stats.pairs import is_open

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from bakeoff.spec.verdict import Verdict


class Stopping(msgspec.Struct, frozen=True, kw_only=True):
    """When a contender runs no more rounds, whatever its pairs are."""

    failures: int = 2
    """Failed timed trials after which it is given up: a third would fail, too."""
    rounds_alone: int = 3
    """Rounds where it has no pair, as where no other is left: they give its step time an interval."""


STOPPING = Stopping()


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How far a contender has come."""

    label: str
    rounds: int = 0
    """With a time of its own."""
    failures: int = 0
    """Of timed trials."""


def still_active(
    standings: Sequence[Standing], verdicts: Iterable[Verdict], never: Container[tuple[str, str]] = ()
) -> list[str]:
    """Return the labels of the contenders that run in the next round, in the order of `standings`.

    A contender runs on while it has a pair, with one that is not given up, that is neither settled nor stopped; a pair
    without a verdict is open, unless it is `never` formed. `standings` name a pair's contenders in the order in which
    its verdict and `never` do. A contender that has no pair runs for the rounds that its step time's interval needs.
    """
    running = [one for one in standings if one.failures < STOPPING.failures]
    formed = [pair for pair in combinations([one.label for one in running], 2) if pair not in never]
    closed = {(verdict.first, verdict.second) for verdict in verdicts if not is_open(verdict)}
    paired = {label for pair in formed for label in pair}
    needed = {label for pair in formed if pair not in closed for label in pair}
    needed |= {one.label for one in running if one.label not in paired and one.rounds < STOPPING.rounds_alone}
    return [one.label for one in running if one.label in needed]

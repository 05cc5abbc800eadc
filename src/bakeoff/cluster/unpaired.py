"""Contenders that ran in jobs of their own: what can be said across them, and where nothing can; pure."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.change import step_change
from bakeoff.judge.likeness import HARDWARE, work_of
from bakeoff.spec.verdict import Interval, VerdictKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.outcome import ContenderOutcome, Outcome

MUST_AGREE = (*HARDWARE, "gpu_driver", "kernel")
"""Facts of a machine by which device, driver and node type are the same."""


class Unpaired(msgspec.Struct, frozen=True, kw_only=True):
    """Two contenders of two jobs."""

    first: str
    second: str
    ratio: Interval | None
    """Step time of the first over that of the second, with its 99 % interval, which is wider than a paired one's: two
    jobs differ by more than their rounds show. None where they are not compared."""
    verdict: VerdictKind | None
    """None: none is given."""
    reason: str
    """Why none is given; empty where one is."""


def pairs(outcomes: Sequence[Outcome]) -> list[Unpaired]:
    """Return every pair of contenders of different jobs, with a verdict where device, driver and node type agree."""
    return [
        _pair(one, first, other, second)
        for one, other in combinations(outcomes, 2)
        for first in one.contenders
        for second in other.contenders
        if first.plan.devices == second.plan.devices
    ]


def _pair(one: Outcome, first: ContenderOutcome, other: Outcome, second: ContenderOutcome) -> Unpaired:
    """Return what can be said of two contenders."""
    reason = _why_not(one, first, other, second)
    # The later over the earlier size: with the second one before, its factor is first / second.
    change = step_change(second, first) if not reason else None
    if change is None:
        reason = reason or "one of them has too few rounds for an interval"
        return Unpaired(first=first.label, second=second.label, ratio=None, verdict=None, reason=reason)
    verdict = verdict_of(change.factor, one.comparison.procedure.margin)
    return Unpaired(first=first.label, second=second.label, ratio=change.factor, verdict=verdict, reason="")


def verdict_of(ratio: Interval, margin: float) -> VerdictKind:
    """Return the verdict that an interval supports by itself."""
    if 1 / (1 + margin) <= ratio.low and ratio.high <= 1 + margin:
        return "equal"
    return "faster" if ratio.high < 1 else "slower" if ratio.low > 1 else "undecided"


def _why_not(one: Outcome, first: ContenderOutcome, other: Outcome, second: ContenderOutcome) -> str:
    """Return why no verdict can be given; "" where one can."""
    for contender in (first, second):
        if contender.status != "ranked":
            return f"{contender.label} is not ranked: {contender.reason}"
    if work_of(one.comparison) != work_of(other.comparison):
        return "they did not do the same work"
    mine, theirs = one.comparison.machine, other.comparison.machine
    differs = [name for name in MUST_AGREE if mine.get(name) != theirs.get(name)]
    if differs:
        told = "; ".join(f"{name} {mine.get(name)} and {theirs.get(name)}" for name in differs)
        return f"device, driver and node type have to agree: {told}"
    return ""

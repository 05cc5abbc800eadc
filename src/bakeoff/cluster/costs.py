"""How long a comparison may take: by what the same workload took before, on whatever machine; pure but for reading."""

from __future__ import annotations

import math
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.judge.rounds import own_ns
from bakeoff.spec.errors import BakeoffError
from bakeoff.spec.record import NS
from bakeoff.store.everywhere import every_comparison
from bakeoff.store.files import read_comparison
from bakeoff.store.results import finished, of_purpose, read_records
from bakeoff.study.estimate import JOB_START_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from bakeoff.cluster.plans import Element
    from bakeoff.spec.comparison import Comparison

MOST_READ = 8
"""Comparisons whose records are read, the latest: each takes some tenths of a second."""

SAFETY = 2.0
"""A node may be slower than the one that was measured, and a pair may need twice the rounds. An element that reaches
its limit is begun again and goes on, so that a limit that is too short costs a start, and no records."""

UNKNOWN_S = 3600.0
"""Where nothing of the kind was measured: short enough for a queue of short jobs, and an element that needs more goes
on in the next job."""

_STEP_S = 300.0
"""Limits are told in steps of 5 minutes."""


class Limit(NamedTuple):
    """A time limit, and what it is from."""

    seconds: float
    why: str


class ComparisonCost(NamedTuple):
    """What an earlier comparison took."""

    name: str
    seconds: float
    contenders: int
    workload: str
    frameworks: frozenset[str]


def limit_of(elements: Sequence[Element], costs: Iterable[ComparisonCost]) -> Limit:
    """Return the time limit of an array: what its longest element took before, with room; an hour for unknown ones."""
    known = list(costs)
    found = [_longest(element, known) for element in elements]
    measured = [cost for cost in found if cost is not None]
    if not measured or None in found:
        return Limit(UNKNOWN_S, "nothing like all of it was measured here before; an element that needs more goes on")
    seconds, cost = max(measured)
    allowed_s = math.ceil((SAFETY * seconds + JOB_START_S) / _STEP_S) * _STEP_S
    return Limit(
        allowed_s, f"{SAFETY:g} times the {seconds:.0f} s by what {cost.name} took, and {JOB_START_S:.0f} s to start"
    )


def _longest(element: Element, costs: Iterable[ComparisonCost]) -> tuple[float, ComparisonCost] | None:
    """Return the longest that comparisons of an element's workload took, in its number of contenders; None: unknown."""
    named = frozenset(text.partition(":")[0].partition("@")[0] for text in element.contenders)
    alike = [one for one in costs if one.workload == element.workload and named <= one.frameworks]
    if not alike:
        return None
    return max((one.seconds / one.contenders * (len(element.contenders) or one.contenders), one) for one in alike)


def measured(results: Path) -> list[ComparisonCost]:
    """Return what the latest comparisons below a results directory took; those that cannot be read tell nothing."""
    dated: list[tuple[str, Path, Comparison]] = []
    for folder in every_comparison([results]):
        try:
            comparison = read_comparison(folder)
        except BakeoffError:
            continue
        dated.append((comparison.created_at, folder, comparison))
    latest = sorted(dated, key=lambda one: one[0], reverse=True)[:MOST_READ]
    return [cost for _, folder, comparison in latest if (cost := _cost(folder, comparison)) is not None]


def _cost(folder: Path, comparison: Comparison) -> ComparisonCost | None:
    """Return what a comparison took, without the time in which nothing ran; None where no round was finished."""
    records = [one for one in read_records(folder).records.values() if one.trial.comparison == comparison.id]
    timed = finished(of_purpose(records, "time"))
    if not timed:
        return None
    starts = sorted({comparison.created_at, *(one.started_at for one in records)})
    moments = [datetime.fromisoformat(start) for start in starts]
    longest_s = comparison.procedure.trial_limit_s
    gaps = [min((after - before).total_seconds(), longest_s) for before, after in pairwise(moments)]
    last_s = max(own_ns(one) for one in timed) * NS
    frameworks = frozenset(plan.contender.framework for plan in comparison.contenders)
    return ComparisonCost(
        comparison.id, sum(gaps) + last_s, len(comparison.contenders), comparison.workload.name, frameworks
    )

"""What the gap between two contenders consists of: shares of traced steps, as parts of raced step times.

Shares come from traces and levels from the race, because shares vary little between processes and levels do. The rows
of a table are all parts of a step, so that they have the raced gap as their sum.
"""

from __future__ import annotations

import statistics
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.judge.explanation import Gap, Row, RowKey
from bakeoff.judge.profile import traced_rounds
from bakeoff.judge.rounds import kept_blocks, steps_by_round
from bakeoff.judge.scaling import are_comparable
from bakeoff.stats.rows import Shares, raced, told_apart
from bakeoff.store.results import of_purpose

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.explained import OperationKind, Share, Traced
    from bakeoff.spec.record import Record
    from bakeoff.spec.verdict import Interval
    from bakeoff.stats.rows import Raced

LEAST_SHARE = 0.005
"""Of a step, on the mean of both sides: smaller rows are shown and not held to be told apart, since no switch that
saves less could be seen in a race. The mean says nothing of a difference, so that choosing by it moves no error rate
(R. Bourgon, R. Gentleman and W. Huber, "Independent filtering increases detection power for high-throughput
experiments", PNAS 107, 2010)."""

TABLES = 2
"""By kind and by layer: each has half of the error that the race leaves."""


class Side(NamedTuple):
    """One contender of a pair."""

    label: str
    step_s: float
    """Raced."""
    rounds_s: Mapping[int, float]
    """Step time of each raced round."""
    traced: Mapping[int, Traced]
    """By round of traced trials."""


class StepShares(NamedTuple):
    """One contender's part in a row: shares of its step, in each round."""

    shares: list[float]
    inferred: float
    launches: float


def by_kind(share: Share) -> RowKey:
    """Return the row of a share in the table of kinds."""
    return RowKey(share.kind, share.phase, "")


def by_layer(share: Share) -> RowKey:
    """Return the row of a share in the table of layers: what is in none stays apart by kind."""
    return RowKey(None, share.phase, share.layer) if share.layer else RowKey(share.kind, share.phase, "")


def gaps(outcome: Outcome, records: Sequence[Record]) -> list[Gap]:
    """Return every pair of ranked contenders that were traced in the same rounds, the faster one first.

    Both are on as many devices, or one contender on a single device and on several.
    """
    plans = {one.label: one.plan for one in outcome.contenders}
    ordered = sorted(_sides(outcome, records), key=lambda side: side.step_s)
    return [
        gap_of(first, second)
        for first, second in combinations(ordered, 2)
        if first.traced.keys() & second.traced.keys() and are_comparable(plans[first.label], plans[second.label])
    ]


def less_in(
    kinds: Collection[OperationKind], outcome: Outcome, records: Sequence[Record], *, before: str, after: str
) -> Interval | None:
    """Return how much less one contender than another spends on kinds of operations, all together, in seconds a step.

    A part that is called otherwise with a switch turned is in the same sum. None where too few rounds of the two were
    traced. `before` and `after` are labels.
    """
    known = {side.label: side for side in _sides(outcome, records)}
    if before not in known or after not in known:
        return None
    first, second = known[after], known[before]
    rounds = sorted(first.traced.keys() & second.traced.keys())
    rows = _rows(first, second, rounds, lambda share: RowKey(None, "", _TOGETHER if share.kind in kinds else ""))
    return next((row.difference_s for row in rows if row.layer == _TOGETHER), None)


_TOGETHER = "together"


def _sides(outcome: Outcome, records: Sequence[Record]) -> list[Side]:
    """Return every ranked contender with its raced rounds and its traces."""
    ranked = [one for one in outcome.contenders if one.status == "ranked" and one.median_step_s is not None]
    timed = of_purpose(records, "time")
    rounds_s = steps_by_round([one.label for one in ranked], timed, kept_blocks(timed))
    return [
        Side(one.label, one.median_step_s or 0.0, rounds_s[one.label], traced_rounds(records, one.label))
        for one in ranked
    ]


def gap_of(first: Side, second: Side) -> Gap:
    """Return what the second's step takes more, by kind and, where both tell them, by layer."""
    rounds = sorted(first.traced.keys() & second.traced.keys())
    is_layered = all(side.traced[number].level == "layers" for side in (first, second) for number in rounds)
    return Gap(
        first=first.label,
        second=second.label,
        first_s=first.step_s,
        second_s=second.step_s,
        by_kind=_rows(first, second, rounds, by_kind),
        by_layer=_rows(first, second, rounds, by_layer) if is_layered else [],
    )


def _rows(first: Side, second: Side, rounds: Sequence[int], place_of: Callable[[Share], RowKey]) -> list[Row]:
    """Return the rows of one table, the largest difference first."""
    parts = [_parts([side.traced[number] for number in rounds], place_of) for side in (first, second)]
    nothing = StepShares([0.0] * len(rounds), 0.0, 0.0)
    places = list(dict.fromkeys((*parts[0], *parts[1])))
    both = [(parts[0].get(place, nothing), parts[1].get(place, nothing)) for place in places]
    times = [tuple(_time(part, side) for part, side in zip(pair, (first, second), strict=True)) for pair in both]
    step_s = (first.step_s + second.step_s) / 2.0
    found = told_apart(
        [Shares(before.shares, after.shares) for before, after in both],
        _raced(first, second),
        tested=[sum(pair) / 2.0 >= LEAST_SHARE * step_s for pair in times],
        tables=TABLES,
    )
    rows = [
        Row(
            **place._asdict(),
            first_s=before,
            second_s=after,
            difference_s=one.interval,
            told_apart=one.told_apart,
            first_launches=pair[0].launches,
            second_launches=pair[1].launches,
            inferred_share=_inferred(pair, (first, second), before + after),
        )
        for place, pair, (before, after), one in zip(places, both, times, found, strict=True)
    ]
    return sorted(rows, key=lambda row: -abs(row.gap_s))


def _parts(traced: Sequence[Traced], place_of: Callable[[Share], RowKey]) -> dict[RowKey, StepShares]:
    """Return a contender's part in each row, with shares that have the sum 1 in each round."""
    found: dict[RowKey, list[list[Share]]] = {}
    for index, one in enumerate(traced):
        for share in one.shares:
            found.setdefault(place_of(share), [[] for _ in traced])[index].append(share)
    wholes = [sum(share.share for share in one.shares) for one in traced]
    return {
        place: StepShares(
            [sum(one.share for one in shares) / whole for shares, whole in zip(by_round, wholes, strict=True)],
            statistics.fmean(sum(one.inferred for one in shares) for shares in by_round),
            statistics.fmean(sum(one.launches for one in shares) for shares in by_round),
        )
        for place, by_round in found.items()
    }


def _time(part: StepShares, side: Side) -> float:
    """Return how much of its raced step a contender spends in a row."""
    return statistics.fmean(part.shares) * side.step_s


def _raced(first: Side, second: Side) -> Raced | None:
    """Return how sure both step times are, by the rounds that both ran."""
    numbers = sorted(first.rounds_s.keys() & second.rounds_s.keys())
    pairs = [(first.rounds_s[number], second.rounds_s[number]) for number in numbers]
    return raced(pairs, (first.step_s, second.step_s))


def _inferred(pair: tuple[StepShares, StepShares], sides: tuple[Side, Side], whole_s: float) -> float:
    """Return the share of both contenders' time in a row that was placed by a rule."""
    inferred_s = sum(part.inferred * side.step_s for part, side in zip(pair, sides, strict=True))
    return inferred_s / whole_s if whole_s else 0.0

"""Gaps between two contenders: which comes first, its times in one unit with as many digits, and its parts in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from bakeoff.judge.suspects import top_rows
from bakeoff.report.standings import ranked
from bakeoff.report.units import Unit, rounded, unit_for
from bakeoff.spec.verdict import between
from bakeoff.stats.digits import MAX_SIGNIFICANT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.judge.explanation import Explanation, Gap, Row, Suspect
    from bakeoff.spec.explained import OperationKind
    from bakeoff.spec.verdict import Verdict

_SPENT: dict[OperationKind, str] = {
    "convolution": "on convolutions",
    "matrix product": "on matrix products",
    "recurrent": "on recurrent layers",
    "attention": "on attention",
    "normalisation": "on normalisation",
    "element-wise": "on element-wise operations",
    "reduction": "on reductions and pooling",
    "data movement": "on data movement",
    "optimiser": "on the optimiser's update",
    "communication": "on communication",
    "device copy": "on copies between host and device",
    "input wait": "waiting for the next batch",
    "host dispatch": "in the framework's own code while no operation runs",
    "idle": "idle",
    "other": "on operations that no rule knows",
}
"""How a contender spends its time, after "spends 4.6 ms"."""

NO_LAYER = "outside of any layer"


class TimeFormat(NamedTuple):
    """One unit, and as many decimals, for all times that are held against each other."""

    unit: Unit
    decimals: int

    def text(self, seconds: float) -> str:
        """Return a time without its unit: "4.6"."""
        return f"{self._value(seconds):,.{self.decimals}f}"

    def signed(self, seconds: float) -> str:
        """Return a difference without its unit: "+4.4", "-0.2", "0.0"."""
        value = self._value(seconds)
        return f"{value:+,.{self.decimals}f}" if value else self.text(0.0)

    def difference(self, seconds: float) -> str:
        """Return a difference with its unit: "+4.4 ms"."""
        return f"{self.signed(seconds)} {self.unit.name}"

    def _value(self, seconds: float) -> float:
        """Return a time in the unit, rounded, without a negative zero."""
        return round(seconds * self.unit.per_base, self.decimals) + 0.0


def scale_of(gaps: Sequence[Gap]) -> TimeFormat:
    """Return the unit of the steps, and decimals that give the largest gap and every step two digits, and none five."""
    times = [time for gap in gaps for time in (gap.first_s, gap.second_s)]
    # The longest step is at least 1 of it: parts of a step of 0.7 s are read in ms.
    unit = unit_for([max(times)], least=1.0)
    finest = MAX_SIGNIFICANT - 1 - _place(max(times) * unit.per_base)
    widest = max(abs(gap.gap_s) for gap in gaps) * unit.per_base
    wanted = max(1 - _place(widest), 1 - _place(min(times) * unit.per_base)) if widest else finest
    return TimeFormat(unit, max(0, min(finest, wanted)))


def _place(value: float) -> int:
    """Return the power of ten of a number's first digit; 0 for zero."""
    return math.floor(math.log10(value)) if value > 0 else 0


# --- Gaps, the most important first -------------------------------------------------------------------------------


def main_gap(explanation: Explanation) -> Gap | None:
    """Return the gap that the answer is about: the widest of which a kind, else a layer, else nothing is known."""

    def importance(gap: Gap) -> tuple[bool, bool, float]:
        return bool(known_parts(gap)), bool(leading_parts(gap)), gap.gap_s

    return max(explanation.gaps, key=importance, default=None)


def other_gaps(explanation: Explanation) -> list[Gap]:
    """Return all gaps but the main one, the widest first."""
    main = main_gap(explanation)
    return sorted((gap for gap in explanation.gaps if gap is not main), key=lambda gap: -gap.gap_s)


def pictured(explanation: Explanation) -> list[Gap]:
    """Return the gaps that are drawn: the main one first, then those to the fastest contender."""
    main = main_gap(explanation)
    if main is None:
        return []
    fastest = min(explanation.gaps, key=lambda gap: gap.first_s).first
    return [main, *(gap for gap in other_gaps(explanation) if gap.first == fastest)]


def labels_of(explanation: Explanation) -> list[str]:
    """Return the labels of everybody in a gap, the shortest step first."""
    there = {label for gap in explanation.gaps for label in (gap.first, gap.second)}
    known = [one.label for one in ranked(explanation.outcome) if one.label in there]
    return [*known, *sorted(there - set(known))]


def paired(explanation: Explanation) -> str:
    """Return what makes two contenders a pair: traces of the same round and, where these differ, as many devices."""
    several = len({one.plan.devices for one in explanation.outcome.contenders}) > 1
    return f"traced in the same round{' on as many devices' if several else ''}"


def verdict_of(explanation: Explanation, gap: Gap) -> Verdict | None:
    """Return what the race says of a pair, from the side of the slower one."""
    return between(explanation.outcome.pairs, gap.second, gap.first)


def raced_ratio(explanation: Explanation, gap: Gap) -> str:
    """Return how many times as long the slower one's step takes: "1.31x"."""
    verdict = verdict_of(explanation, gap)
    ratio = verdict.ratio if verdict and verdict.ratio else gap.second_s / gap.first_s
    return f"{rounded(ratio, 3)}x"


# --- Parts of a gap -----------------------------------------------------------------------------------------------


def by_size(rows: Sequence[Row]) -> list[Row]:
    """Return the parts of a gap, the largest difference first, whatever its sign."""
    return sorted(rows, key=lambda row: -abs(row.gap_s))


def known_parts(gap: Gap) -> list[Row]:
    """Return the kinds of which `told_apart` is true: before all others what the slower one spends more on."""
    rows = [row for row in by_size(gap.by_kind) if row.told_apart]
    return sorted(rows, key=lambda row: row.gap_s <= 0)


def leading_parts(gap: Gap) -> list[Row]:
    """Return what an answer begins with: a layer where no kinds say as much, then the known kinds."""
    return [*(row for row in top_rows(gap)[:1] if row.kind is None), *known_parts(gap)]


def named(row: Row) -> str:
    """Return what a part is about, as a table names it: "data movement, backward"."""
    what = row.layer or NO_LAYER if row.kind is None else row.kind
    return what if row.phase in ("", what) else f"{what}, {row.phase}"


def in_words(row: Row, scale: TimeFormat) -> str:
    """Return a part with its difference in a sentence: "backward data movement (+4.4 ms)"."""
    apart = scale.difference(row.gap_s)
    if row.kind is None:
        return f"{row.layer or NO_LAYER} ({', '.join(filter(None, [row.phase, apart]))})"
    return f"{adjective(row)} ({apart})"


def adjective(row: Row) -> str:
    """Return a part in a sentence: "backward data movement", "host dispatch"."""
    if row.kind is None:
        return named(row)
    return row.kind if row.phase in ("", row.kind) else f"{row.phase} {row.kind}"


def spent(row: Row) -> str:
    """Return how time is spent in a sentence: "on convolutions in the backward pass"."""
    words = _SPENT[row.kind] if row.kind else f"in {row.layer}" if row.layer else NO_LAYER
    return words if row.phase in ("", "optimiser") else f"{words} in the {row.phase} pass"


def suspect_of(explanation: Explanation, gap: Gap, row: Row) -> Suspect | None:
    """Return the suspect that is this part, the one of which a race has said most; None where there is none."""
    found = [one for one in suspects_of(explanation, gap) if one.row and one.row.place == row.place]
    rank = {"confirmed": 0, "refuted": 1, "hypothesis": 2}
    return min(found, key=lambda one: (rank[one.status], not one.switch), default=None)


def suspects_of(explanation: Explanation, gap: Gap) -> list[Suspect]:
    """Return the suspects of a pair, without its controls."""
    pair = {gap.first, gap.second}
    return [one for one in explanation.suspects if {one.first, one.second} == pair and not one.is_control]


def before_s(suspect: Suspect) -> float | None:
    """Return what the suspect's part took before its switch was turned; None where it is no part.

    In the profile that has the turned one, too, where there is one: levels of two races differ.
    """
    row = suspect.row
    if suspect.row_before_s is not None:
        return suspect.row_before_s
    return None if row is None else row.second_s if suspect.label == suspect.second else row.first_s

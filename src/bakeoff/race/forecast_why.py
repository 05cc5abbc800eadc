"""What an explanation would run, and how long about: traces, and races that check suspects; nothing is started."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.checks import read_checks
from bakeoff.judge.explained import explain
from bakeoff.judge.profile import traced_rounds
from bakeoff.judge.rounds import own_ns
from bakeoff.judge.suspects import MOST_ROWS
from bakeoff.race import counterfactual
from bakeoff.race.again import request_again
from bakeoff.race.planned import Planned
from bakeoff.race.stages.explain import ROUNDS, is_traceable
from bakeoff.spec.record import NS
from bakeoff.store.results import finished, of_contender, of_purpose, read_records

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.judge.explanation import Explanation
    from bakeoff.race.forecast import Forecast
    from bakeoff.spec.record import Record

SIDES = 2
"""Of a gap: both race again, beside the slower one with switches turned."""

MOST_TURNED = MOST_ROWS + 2
"""About how many contenders are turned: a switch for each row that is looked into, of which one may be a layer, and the
control; causes in counters may add some."""


class SuspectRaceForecast(msgspec.Struct, frozen=True, kw_only=True):
    """A race of suspects that would be run."""

    first: str
    second: str
    """Labels of the gap."""
    switches: list[str]
    """As OPTION=VALUE; empty text: the same contender once more."""
    seconds: float | None
    """None is not known."""


class WhyForecast(msgspec.Struct, frozen=True, kw_only=True):
    """What an explanation of a comparison lacks."""

    ranked: int
    """Contenders that an explanation is about."""
    traces: int
    """Trials."""
    traces_s: float | None
    checks: list[SuspectRaceForecast] | None
    """None: the traces tell what is suspected."""
    most_checks_s: float | None
    """Of races that nothing is known of yet."""


def _trials() -> int:
    """Return how many trials a contender has in the race of suspects: rounds, and traces, which take about as long."""
    return counterfactual.ROUNDS + ROUNDS


def stages_of_why(count: int) -> list[Planned]:
    """Return the stages that an explanation adds to a race of so many contenders."""
    most = max(0, count - 1) * (SIDES + MOST_TURNED) * _trials()
    return [
        Planned(
            stage="traces",
            fewest=0,
            most=ROUNDS * count,
            about=f"what steps spend their time on: {ROUNDS} rounds, each contender once",
        ),
        Planned(
            stage="checks",
            fewest=0,
            most=most,
            about="race suspects with switches turned, beside the fastest; none where nothing is suspected",
        ),
    ]


def seconds_of_why(told: Forecast) -> tuple[float, float] | None:
    """Return about how long traces take, and races of suspects at most; None where no round was timed here before."""
    if told.round_s is None:
        return None
    count = len(told.comparison.contenders)
    return ROUNDS * told.round_s, max(0, count - 1) * (SIDES + MOST_TURNED) * _trials() * told.round_s / count


def forecast_why(folder: Path) -> WhyForecast:
    """Return what an explanation of the comparison in a folder lacks.

    Raises StoreError for records that cannot be read, UsageError where it cannot be gone on with.
    """
    found = explain(folder)
    records = list(read_records(folder).records.values())
    state = counterfactual.going_on(folder)
    ranked = [one.plan for one in found.outcome.contenders if one.status == "ranked"]
    plans = [plan for plan in ranked if is_traceable(state, plan)]
    lacking = {plan.contender.label: ROUNDS - len(traced_rounds(records, plan.contender.label)) for plan in plans}
    took_s = {label: _trial_s(records, label) for label in lacking}
    traces = sum(lacking.values())
    parts = [None if (one := took_s[label]) is None else count * one for label, count in lacking.items()]
    checks = None if traces and not counterfactual.is_checked(folder) else _checks(found, folder, took_s)
    known = [one for one in took_s.values() if one is not None]
    most_s = max(0, len(plans) - 1) * (SIDES + MOST_TURNED) * _trials() * max(known) if known else None
    return WhyForecast(
        ranked=len(ranked),
        traces=traces,
        traces_s=_sum(parts),
        checks=checks,
        most_checks_s=most_s if checks is None else None,
    )


def _checks(found: Explanation, folder: Path, took_s: dict[str, float | None]) -> list[SuspectRaceForecast]:
    """Return the races of suspects that are not done."""
    if counterfactual.is_checked(folder):
        return []
    request = request_again(folder, found.outcome.comparison, budget_s=None)
    known = {(link.first, link.second): link for link in read_checks(folder).links if link.comparison}
    links = [
        known.get((gap.first, gap.second)) or counterfactual.link_of(found, gap, request)
        for gap in counterfactual.gaps_to_fastest(found)
    ]
    return [
        SuspectRaceForecast(
            first=link.first,
            second=link.second,
            switches=list(link.labels),
            seconds=_sum([_times(took_s.get(link.first), 1), _times(took_s.get(link.second), 1 + len(link.labels))]),
        )
        for link in links
        if link.labels and counterfactual.lacks(link, folder)
    ]


def _times(seconds: float | None, contenders: int) -> float | None:
    """Return how long all trials of so many contenders of this kind take."""
    return None if seconds is None else seconds * contenders * _trials()


def _sum(parts: list[float | None]) -> float | None:
    """Return a sum; None where a part is not known."""
    return None if any(one is None for one in parts) else sum(one or 0.0 for one in parts)


def _trial_s(records: list[Record], label: str) -> float | None:
    """Return about how long a trial of a contender takes: as its timed ones did; None without any."""
    timed = finished(of_purpose(of_contender(records, label), "time"))
    return statistics.median(own_ns(one) for one in timed) * NS if timed else None

"""What a comparison would run, and how long that takes by what was measured on this machine before; nothing is started.

Times come from records alone: what a contender took in the latest comparison of the same work on the same machine.
"""

from __future__ import annotations

import statistics
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.comparison import judge_comparison
from bakeoff.judge.likeness import contender_key, hardware_of, work_of
from bakeoff.judge.rounds import own_ns, round_s, steps_ns
from bakeoff.race.foresight import CERTIFICATE_S, ROUND_S
from bakeoff.race.least import Least, least
from bakeoff.race.planned import Planned, planned
from bakeoff.race.stages.stage import PROCESS_S
from bakeoff.spec.comparison import Comparison
from bakeoff.spec.errors import StoreError
from bakeoff.spec.record import NS
from bakeoff.stats.boundaries import LOOKS
from bakeoff.store.absurd import told_if_absurd
from bakeoff.store.everywhere import every_comparison
from bakeoff.store.files import read_comparison
from bakeoff.store.results import finished, last, of_contender, of_purpose, read_records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.record import Record

MOST_READ = 8
"""Comparisons whose records are read: the latest tell best, and each takes some tenths of a second."""

SMALL_CONTENDER_S = 60.0
"""About what a contender of a small workload costs a comparison, as sweeps count it (study/sweep.py)."""

BEHIND = ("late", "selftest", "peak", "memory", "compile", "energy")
"""Purposes of the trials behind the verdict that a race has without being asked for them."""

Earlier = list[tuple[Path, Comparison]]
"""Comparisons that were run before, with their folders, the latest first."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """An earlier comparison that times are taken from."""

    id: str
    path: str
    made_at: str
    contenders: list[str]
    """Whose times were taken, by the labels of what is planned."""
    rounds: int | None = None
    """How many rounds it took to its answer, where it raced the same contenders; None where it did not, or had none."""


class ContenderCost(msgspec.Struct, frozen=True, kw_only=True):
    """What a contender took in an earlier comparison: its share of the times of all that raced there."""

    certificates_s: float
    round_s: float
    steps_s: float
    """Of a round, in steps, those of the warm-up among them; the rest is starting, importing, building, compiling."""
    behind_s: float
    step_s: float
    """A step: the median over rounds."""
    watts: float | None
    """While steps ran, all that the meters saw; None where nothing was counted."""


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """What would run, and how long it takes; None is not known."""

    comparison: Comparison
    stages: list[Planned]
    certificates_s: float | None
    round_s: float | None
    behind_s: float | None
    """What comes behind the verdict: it is run only while a time budget lasts."""
    sources: list[Source]
    costs: dict[str, ContenderCost]
    """What each contender took before, by its label; those that are unknown are missing."""
    unknown: list[str]
    """Contenders nothing like which was run here before."""
    fewest_rounds: int
    most_rounds: int | None
    """None: no limit."""
    budget_rounds: int | None
    """How many rounds the time budget probably buys; None without a budget, or where a round's time is not known."""
    low_s: float
    high_s: float | None
    """The whole; None: no limit. Where nothing is known, a rough range for a small network."""
    least: Least | None = None
    """By operations; None where times are known, and of a small network."""
    resized: bool = False
    """Whether times are those of another size or batch, by the operations counted in each."""

    @property
    def labels(self) -> list[str]:
        """Return the labels of those that would race."""
        return [plan.contender.label for plan in self.comparison.contenders]


def forecast(comparison: Comparison, results: Path, before: Earlier | None = None) -> Forecast:
    """Return what this comparison would run and how long that takes, by what lies below a results directory.

    `before` is what `earlier` has found there, where several are foreseen.
    """
    costs, sources, certified = known_costs(
        comparison, _alike(comparison, earlier(results) if before is None else before)
    )
    plans = comparison.contenders
    unknown = [plan.contender.label for plan in plans if plan.contender.label not in costs]
    fewest, most = _rounds(comparison, sources)
    is_known = not unknown
    told = Forecast(
        comparison=comparison,
        stages=planned(comparison, certified),
        certificates_s=sum(one.certificates_s for one in costs.values()) if is_known else None,
        round_s=sum(one.round_s for one in costs.values()) if is_known else None,
        behind_s=sum(one.behind_s for one in costs.values()) if is_known else None,
        sources=sources,
        costs=costs,
        unknown=unknown,
        fewest_rounds=fewest,
        most_rounds=most,
        budget_rounds=None,
        low_s=len(plans) * (CERTIFICATE_S + fewest * ROUND_S),
        high_s=len(plans) * SMALL_CONTENDER_S,
    )
    return within(told) if is_known else _by_operations(told)


def _by_operations(told: Forecast) -> Forecast:
    """Return a forecast of what nothing is known of, with its least time where its steps are not small."""
    known = least(told.comparison)
    if known is None:
        return told
    low_s = known.reference_s + known.contenders_s + told.fewest_rounds * known.round_s
    return msgspec.structs.replace(told, low_s=max(told.low_s, low_s), high_s=None, least=known)


def within(told: Forecast) -> Forecast:
    """Return the forecast with its time: until the fewest and the most rounds, within the budget if there is one."""
    first_s, round_s, behind_s = told.certificates_s or 0.0, told.round_s or 0.0, told.behind_s or 0.0
    low_s = first_s + told.fewest_rounds * round_s + behind_s
    high_s = None if told.most_rounds is None else first_s + told.most_rounds * round_s + behind_s
    budget_s, bought = told.comparison.procedure.budget_s, None
    if budget_s is not None:
        # A round that has begun is finished, and one is run in any case.
        bought = 1 + max(0, int((budget_s - first_s - NS) / round_s)) if round_s else 1
        bought = bought if told.most_rounds is None else min(bought, told.most_rounds)
        last_s = max(budget_s, first_s + round_s) + round_s
        low_s, high_s = min(low_s, last_s), last_s if high_s is None else min(high_s, last_s)
    return msgspec.structs.replace(told, budget_rounds=bought, low_s=low_s, high_s=high_s)


def _rounds(comparison: Comparison, sources: Iterable[Source]) -> tuple[int, int | None]:
    """Return the fewest and the most rounds until the answer: as many as the same race took before, if it was run."""
    limit = comparison.procedure.max_rounds
    before = next((source.rounds for source in sources if source.rounds is not None), None)
    if len(comparison.contenders) < 2:  # noqa: PLR2004 - alone there is no pair to wait for
        fewest, most = 1, limit
    elif before is not None:
        fewest = most = before
    else:
        fewest, most = LOOKS[0], limit
    if limit is not None:
        fewest, most = min(fewest, limit), min(most or limit, limit)
    return fewest, most


# --- What was measured before -------------------------------------------------------------------------------------


def known_costs(
    comparison: Comparison, alike: Earlier
) -> tuple[dict[str, ContenderCost], list[Source], dict[str, Record]]:
    """Return what each contender took before, from where, and the record of its certificate: the latest of each."""
    costs: dict[str, ContenderCost] = {}
    sources: list[Source] = []
    certified: dict[str, Record] = {}
    for folder, before in alike[:MOST_READ]:
        missing = [plan for plan in comparison.contenders if plan.contender.label not in costs]
        same = {plan.contender.label: label for plan in missing if (label := _label_in(before, plan))}
        if not same:
            continue
        try:
            with told_if_absurd():
                records = list(read_records(folder).records.values())
                took = _costs(before, records)
                taken = {mine: took[theirs] for mine, theirs in same.items() if theirs in took}
                is_same = len(taken) == len(comparison.contenders) == len(before.contenders)
                source = _source(folder, before, list(taken), is_same=is_same)
        except StoreError:
            continue  # What cannot be read tells nothing.
        if not taken:
            continue
        costs |= taken
        for mine, theirs in same.items():
            if (one := last(of_contender(records, theirs), "certify")) is not None:
                certified[mine] = one
        sources.append(source)
    return costs, sources, certified


def earlier(results: Path) -> Earlier:
    """Return the comparisons below a results directory that can be read, the latest first."""
    found = []
    for folder in every_comparison([results]):
        try:
            found.append((folder, read_comparison(folder)))
        except StoreError:
            continue  # What cannot be read tells nothing.
    return sorted(found, key=lambda one: one[1].created_at, reverse=True)


def _alike(comparison: Comparison, known: Earlier) -> Earlier:
    """Return the comparisons of the same work on this machine, the latest first."""
    work, hardware = work_of(comparison), hardware_of(comparison)
    # The machine's settings and its kernel hardly change how long a run takes.
    return [one for one in known if work_of(one[1]) == work and hardware_of(one[1]) == hardware]


def _label_in(before: Comparison, plan: ContenderPlan) -> str:
    """Return the label of the same framework with the same options in an earlier comparison; empty for none."""
    alike = (other for other in before.contenders if contender_key(other) == contender_key(plan))
    return next((other.contender.label for other in alike), "")


def _costs(before: Comparison, records: list[Record]) -> dict[str, ContenderCost]:
    """Return what each contender took in a comparison."""
    own = [record for record in records if record.trial.comparison == before.id]
    timed = finished(of_purpose(own, "time"))
    if not timed:
        return {}
    labels = list(dict.fromkeys(record.trial.contender.label for record in timed))
    first = min(_at(record.started_at) for record in timed)
    certificates_s = max(0.0, (first - _at(before.created_at)).total_seconds()) / len(labels)
    own_s = {label: statistics.median(own_ns(one) for one in of_contender(timed, label)) * NS for label in labels}
    in_all_s = sum(own_s.values())
    stretch = (round_s(timed) or in_all_s) / in_all_s if in_all_s else 1.0
    last_s = max(_at(record.started_at) for record in timed)
    behind_s = _behind_s(own, last_s, before.procedure.trial_limit_s) / len(labels)
    return {
        label: _cost(of_contender(own, label), certificates_s, own_s[label] * stretch, behind_s) for label in labels
    }


def _cost(own: list[Record], certificates_s: float, round_s: float, behind_s: float) -> ContenderCost:
    """Return what one contender took: its records tell how much of its round was steps, and what they cost."""
    timed = finished(of_purpose(own, "time"))
    steps_s = statistics.median(steps_ns(one) for one in timed) * NS
    blocks = [block for one in timed for block in one.blocks]
    step_s = statistics.median(block.elapsed_ns / len(block.steps_ns) for block in blocks) * NS if blocks else 0.0
    counted = [one.energy for one in finished(of_purpose(own, "energy")) if one.energy]
    watts = [one.joules / (one.steps * step_s) for one in counted if step_s]
    return ContenderCost(
        certificates_s=certificates_s,
        round_s=round_s,
        steps_s=min(round_s, steps_s),  # Of processes that start together no more than their share counts.
        behind_s=behind_s,
        step_s=step_s,
        watts=statistics.median(watts) if watts else None,
    )


def _behind_s(own: list[Record], last_s: datetime, longest_s: float) -> float:
    """Return how long what came behind the verdict took: from start to start, and for the last about a process's time.

    A gap longer than a trial may take is one in which nothing ran: the comparison was gone on with later. Whole runs
    and traces, which come between, are foreseen by themselves.
    """
    starts = sorted((_at(one.started_at), one.trial.purpose in BEHIND) for one in own if one.trial.purpose != "time")
    later = [(start, is_behind) for start, is_behind in starts if start >= last_s]
    gaps = [(after - before).total_seconds() for (before, is_behind), (after, _) in pairwise(later) if is_behind]
    is_last = bool(later) and later[-1][1]
    return sum(min(gap, longest_s) for gap in gaps) + (PROCESS_S if is_last else 0.0)


def _source(folder: Path, before: Comparison, labels: list[str], *, is_same: bool) -> Source:
    """Return an earlier comparison as a source; where it raced the same, with the rounds to its answer."""
    rounds = None
    if is_same:
        outcome = judge_comparison(folder)
        rounds = outcome.rounds if outcome.ended in ("decided", "futility") else None
    return Source(id=before.id, path=str(folder), made_at=before.created_at, contenders=labels, rounds=rounds)


def _at(text: str) -> datetime:
    """Return a moment of a record."""
    return datetime.fromisoformat(text)

"""From records to an outcome: nothing else is read, so the same records always give the same verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.judge.certificate import certificate_of
from bakeoff.judge.contender import contender_outcome
from bakeoff.judge.ledger import marked
from bakeoff.judge.noise import clock_range_mhz, flagged_share
from bakeoff.judge.outcome import ContenderOutcome, Ending, Outcome
from bakeoff.judge.rounds import frozen_cut, pairs_of
from bakeoff.judge.tied import why_untied
from bakeoff.judge.trials import of_purpose
from bakeoff.stats.sequential import Ended, Pair, decide, is_unsettled
from bakeoff.store.files import read_comparison, read_end
from bakeoff.store.results import Records, read_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from bakeoff.spec.comparison import Comparison
    from bakeoff.spec.verdict import Certificate, Verdict


def judge_comparison(folder: Path) -> Outcome:
    """Return the outcome of the comparison in a folder; raise StoreError where there is none."""
    return marked(assess(read_comparison(folder), read_records(folder), folder, read_end(folder)))


def history(folder: Path) -> list[Pair]:
    """Return every pair of a comparison round by round, as its verdict was reached from them."""
    outcome, records = judge_comparison(folder), read_records(folder).records
    return pairs_of(
        _ranked(outcome.contenders), of_purpose(records.values(), "time"), outcome.rounds, outcome.cut_steps
    )


def _ranked(contenders: Iterable[ContenderOutcome]) -> list[str]:
    """Return the labels of those that are ranked."""
    return [contender.label for contender in contenders if contender.status == "ranked"]


def assess(
    comparison: Comparison,
    found: Records,
    folder: Path,
    ended: str = "",
    certificates: Mapping[str, Certificate] | None = None,
) -> Outcome:
    """Return the outcome of a comparison from records that were read already."""
    records = found.records
    known = certificates or {
        plan.contender.label: certificate_of(comparison, records, folder, plan) for plan in comparison.contenders
    }
    cut = frozen_cut(records.values()) or 0
    contenders = [
        contender_outcome(plan, known[plan.contender.label], records, cut, why_untied(comparison, records, plan))
        for plan in comparison.contenders
    ]
    timed = of_purpose(records.values(), "time")
    rounds = max((record.trial.round_number for record in timed), default=0)
    stop: Ended = "budget" if ended == "budget" else ""
    pairs = pairs_of(_ranked(contenders), timed, rounds, cut)
    procedure = comparison.procedure
    verdicts = decide(pairs, margin=procedure.margin, max_rounds=procedure.max_rounds, ended=stop, aim=procedure.aim)
    foreign, flagged_rounds = flagged_share(timed)
    return Outcome(
        comparison=comparison,
        path=str(folder),
        contenders=contenders,
        verdicts=verdicts,
        rounds=rounds,
        processes=sum(record.outcome == "done" for record in timed),
        cut_steps=cut,
        resident=any(record.trial.resident for record in timed) or not timed,
        calm=None if foreign is None else flagged_rounds == 0,
        foreign_share=foreign,
        flagged_rounds=flagged_rounds,
        clock_mhz=clock_range_mhz(timed),
        ended=_ended(verdicts, contenders, rounds, comparison, ended),
        damaged=found.damaged,
    )


def _ended(
    verdicts: list[Verdict], contenders: list[ContenderOutcome], rounds: int, comparison: Comparison, ended: str
) -> Ending:
    """Return why the comparison is over, or "unfinished"; `ended` is what the conductor wrote down in the end."""
    unsettled = [verdict for verdict in verdicts if is_unsettled(verdict)]
    stops = {verdict.stopped for verdict in unsettled}
    limit = comparison.procedure.max_rounds
    if verdicts and not unsettled:
        return "decided"
    if stops == {"futility"}:
        return "futility"
    if ended == "budget":
        return "budget"
    if (limit is not None and rounds >= limit) or (unsettled and "" not in stops):
        return "rounds"
    if ended == "decided":
        # The conductor had nobody left to run, and yet a pair is open or was never formed.
        is_ranked = any(one.status == "ranked" for one in contenders)
        is_lost = bool(unsettled) or not is_ranked or any(one.status == "failed" for one in contenders)
        return "lost" if is_lost else "decided"
    return "unfinished"

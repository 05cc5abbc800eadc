"""From records to an outcome: nothing else is read, so the same records always give the same verdicts."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.certify.certificate import Exhibit, certify, refuse
from bakeoff.certify.ready_made import certify_ready_made
from bakeoff.judge.contender import (
    CUT_ROUNDS,
    RoundTime,
    clock_range_mhz,
    contender_outcome,
    flagged_share,
    round_times,
)
from bakeoff.judge.ledger import marked
from bakeoff.judge.outcome import ContenderOutcome, Ending, Outcome
from bakeoff.stats.differences import ping_pong_difference, sequential_difference
from bakeoff.stats.sequential import Ended, Pair, decide, is_unsettled
from bakeoff.stats.warmup import mser5
from bakeoff.store.files import EVIDENCE_FILE, read_comparison, read_end
from bakeoff.store.results import Records, read_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.record import Evidence, Record
    from bakeoff.spec.verdict import Certificate, Verdict


def judge_comparison(folder: Path) -> Outcome:
    """Judge a comparison from its folder; raise StoreError where that is none."""
    return marked(assess(read_comparison(folder), read_records(folder), folder, read_end(folder)))


def history(folder: Path) -> list[Pair]:
    """Give every pair of a comparison round by round, as the verdicts were reached from them."""
    outcome, records = judge_comparison(folder), read_records(folder).records
    timed = [record for record in records.values() if record.trial.purpose == "time"]
    ranked = [one for one in outcome.contenders if one.status == "ranked"]
    return _pairs(ranked, timed, outcome.rounds, outcome.cut_steps)


def assess(
    comparison: Comparison,
    found: Records,
    folder: Path,
    ended: str = "",
    certificates: Mapping[str, Certificate] | None = None,
) -> Outcome:
    """Judge a comparison from records that were read already."""
    records = found.records
    known = certificates or {
        plan.contender.label: certificate_of(comparison, records, folder, plan) for plan in comparison.contenders
    }
    cut = frozen_cut(records.values()) or 0
    contenders = [contender_outcome(plan, known[plan.contender.label], records, cut) for plan in comparison.contenders]
    ranked = [one for one in contenders if one.status == "ranked"]
    timed = [record for record in records.values() if record.trial.purpose == "time"]
    rounds = max((record.trial.round_number for record in timed), default=0)
    stop: Ended = "budget" if ended == "budget" else ""
    pairs = _pairs(ranked, timed, rounds, cut)
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


def certificate_of(
    comparison: Comparison, records: Mapping[str, Record], folder: Path, plan: ContenderPlan
) -> Certificate:
    """Judge one contender's evidence against the reference's; whatever is missing fails closed."""
    label = plan.contender.label
    reference_label = comparison.reference.contender.label if comparison.reference else ""
    mine = _of(records, "certify", label)
    reference = next((r for r in records.values() if r.trial.purpose == "reference"), None)
    reason = ""
    if mine is None:
        reason = "its evidence was not computed yet"
    elif mine.outcome != "done":
        reason = mine.reason
    elif mine.evidence is not None and mine.evidence.ready_made:
        size = comparison.workload.sizes[comparison.size]
        exhibit = _exhibit(mine, mine.evidence, folder)
        return certify_ready_made(exhibit, size=size, scenario=comparison.scenario, batch_size=comparison.batch_size)
    elif comparison.reference is None:
        reason = "no framework here can compute the reference in float64"
    elif reference is None or reference.outcome != "done":
        reason = f"the reference ({reference_label}) failed: {reference.reason if reference else 'not computed yet'}"
    if reason or mine is None or reference is None or mine.evidence is None or reference.evidence is None:
        return refuse(label, reference_label, reason)
    return certify(
        _exhibit(mine, mine.evidence, folder),
        _exhibit(reference, reference.evidence, folder),
        workload=comparison.workload,
        size=comparison.workload.sizes[comparison.size].at_batch(comparison.batch_size),
        scenario=comparison.scenario,
        steps=reference.trial.certify_steps + 1,
    )


def frozen_cut(records: Iterable[Record]) -> int | None:
    """Give the warm-up's length that is frozen after round 2, the longest of all contenders; None before."""
    timed = [r for r in records if r.trial.purpose == "time" and r.outcome == "done"]
    searched = [r for r in timed if r.trial.round_number <= CUT_ROUNDS]
    if not any(r.trial.round_number >= CUT_ROUNDS for r in timed):
        return None
    return max(mser5(record.warm_steps_ns).steps for record in searched) if searched else None


def _pairs(ranked: list[ContenderOutcome], timed: list[Record], rounds: int, cut: int) -> list[Pair]:
    """Give every pair of ranked contenders with its log-ratio in each round."""
    by_label = {
        one.label: round_times([r for r in timed if r.trial.contender.label == one.label], cut) for one in ranked
    }
    pairs = []
    for index, first in enumerate(ranked):
        for second in ranked[index + 1 :]:
            mine, other = by_label[first.label], by_label[second.label]
            numbers = range(1, rounds + 1)
            both = [(mine.get(number), other.get(number)) for number in numbers]
            pairs.append(
                Pair(
                    first=first.label,
                    second=second.label,
                    differences=[None if a is None or b is None else _difference(a, b) for a, b in both],
                    calm=[None if a is None or b is None else _difference(a.calm(), b.calm()) for a, b in both],
                    blocks=[(0, 0) if a is None or b is None else _blocks(a, b) for a, b in both],
                    means=[None if a is None or b is None else (a.mean_s, b.mean_s) for a, b in both],
                )
            )
    return pairs


def _difference(first: RoundTime, second: RoundTime) -> float | None:
    """Give the log-ratio of one round; None where they have no blocks to compare."""
    if first.resident and second.resident:
        return ping_pong_difference(first.turns, second.turns)
    return sequential_difference(list(first.turns.values()), list(second.turns.values()))


def _blocks(first: RoundTime, second: RoundTime) -> tuple[int, int]:
    """Give how many blocks of a round foreign load disturbed, and how many there are."""
    return len(first.flagged) + len(second.flagged), len(first.turns) + len(second.turns)


def _ended(
    verdicts: list[Verdict], contenders: list[ContenderOutcome], rounds: int, comparison: Comparison, ended: str
) -> Ending:
    """Say why the comparison is over, or that it is not; `ended` is what the conductor wrote down in the end."""
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


def _of(records: Mapping[str, Record], purpose: str, label: str) -> Record | None:
    """Find a contender's record of one purpose."""
    for record in records.values():
        if record.trial.purpose == purpose and record.trial.contender.label == label:
            return record
    return None


def _exhibit(record: Record, evidence: Evidence, folder: Path) -> Exhibit:
    """Put a trial's evidence together with its arrays."""
    arrays = _arrays(folder / record.trial.name, evidence.arrays_sha256)
    contender = record.trial.contender
    precision = contender.options.get("precision", "float32")
    return Exhibit(label=contender.label, evidence=evidence, arrays=arrays, precision=precision)


def _arrays(folder: Path, sha256: str) -> dict[str, NDArray[Any]]:
    """Read a trial's arrays; none where they are not what was written, so that the certificate fails."""
    try:
        content = (folder / EVIDENCE_FILE).read_bytes()
    except OSError:
        return {}
    if hashlib.sha256(content).hexdigest() != sha256:
        return {}
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}

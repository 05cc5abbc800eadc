"""From records to an outcome: nothing else is read, so the same records always give the same verdicts."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from bakeoff.judge.certificate import certificate_of, failed_reference
from bakeoff.judge.counters import block_counters, clock_range_mhz, flagged_share
from bakeoff.judge.gpu import gpu_rounds
from bakeoff.judge.ledger import marked
from bakeoff.judge.light import light_of, peak_of
from bakeoff.judge.outcome import OF_ITS_TRIALS, ContenderOutcome, Ending, Outcome, Status
from bakeoff.judge.rounds import (
    CUT_ROUNDS,
    block_times,
    disturbed_turns,
    kept_blocks,
    levels_of,
    pairs_of,
    repeated_turns,
    round_s,
    round_times,
    saved_step,
    steps_by_round,
)
from bakeoff.judge.scaling import is_scaling, never_formed, scalings
from bakeoff.judge.tied import why_untied
from bakeoff.judge.timer import timer_verdict, why_own_clock, why_short
from bakeoff.spec.comparison import FIRST_RULES
from bakeoff.spec.record import NS
from bakeoff.stats.dependence import resemblance, turn_trend
from bakeoff.stats.differences import process_median
from bakeoff.stats.first import sequential
from bakeoff.stats.intervals import absolute_interval, fixed_interval
from bakeoff.stats.pairs import Ended, Pair, is_open, is_unsettled
from bakeoff.stats.progress import STOPPING
from bakeoff.stats.sequential import decide
from bakeoff.stats.warmup import mser5
from bakeoff.store.files import read_comparison, read_end
from bakeoff.store.results import Records, finished, is_done_again, last, of_contender, of_purpose, read_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from bakeoff.judge.light import Light
    from bakeoff.judge.rounds import CountedBlocks, RoundTime
    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.record import Memory, Record
    from bakeoff.spec.selftest import TimerVerdict
    from bakeoff.spec.verdict import Certificate, Interval, Verdict


def judge_comparison(folder: Path) -> Outcome:
    """Return the outcome of the comparison in a folder; raise StoreError where there is none."""
    return judge(folder)[0]


def judge(folder: Path) -> tuple[Outcome, Records]:
    """Return the outcome of the comparison in a folder, and its records; raise StoreError where there is none."""
    comparison, found = read_comparison(folder), read_records(folder)
    return marked(assess(comparison, found, folder, read_end(folder))), found


def history(folder: Path) -> list[Pair]:
    """Return every pair of a comparison round by round, as its verdict was reached from them."""
    outcome = judge_comparison(folder)
    timed = of_purpose(read_records(folder).records.values(), "time")
    return pairs_of(_ranked(outcome.contenders), timed, outcome.rounds, kept_blocks(timed))


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
    timed = of_purpose(records.values(), "time")
    kept = kept_blocks(timed)
    contenders = [
        contender_outcome(comparison, plan, known[plan.contender.label], records, kept)
        for plan in comparison.contenders
    ]
    rounds = max((record.trial.round_number for record in timed), default=0)
    stop: Ended = "budget" if ended == "budget" else ""
    never = never_formed(comparison.contenders)
    pairs = [one for one in pairs_of(_ranked(contenders), timed, rounds, kept) if (one.first, one.second) not in never]
    procedure = comparison.procedure
    by = sequential.decide if procedure.rules == FIRST_RULES else decide  # `sequential` is that of stats.first
    verdicts = by(pairs, margin=procedure.margin, max_rounds=procedure.max_rounds, ended=stop, aim=procedure.aim)
    foreign, flagged_rounds = flagged_share(timed)
    ending = _ended(verdicts, contenders, rounds, comparison, ended)
    return Outcome(
        comparison=comparison,
        path=str(folder),
        contenders=contenders,
        verdicts=[verdict for verdict in verdicts if not is_scaling(verdict, comparison.contenders)],
        scalings=scalings(comparison, contenders, verdicts, records.values()),
        rounds=rounds,
        processes=sum(record.outcome == "done" for record in timed),
        cut_steps=kept.cut,
        repeated_turns=repeated_turns(timed),
        first_step=saved_step(timed),
        resident=any(record.trial.resident for record in timed) or not timed,
        apart=next((record.trial.apart for record in reversed(timed) if record.trial.apart), ""),
        calm=None if foreign is None else flagged_rounds == 0,
        foreign_share=foreign,
        flagged_rounds=flagged_rounds,
        round_s=round_s(timed),
        resemblance=resemblance(steps_by_round(_ranked(contenders), timed, kept)),
        levels=levels_of(_ranked(contenders), timed, kept, never),
        clock_mhz=clock_range_mhz(timed),
        ended=ending,
        damaged=found.damaged,
        again={name: record.outcome for name, record in records.items() if is_done_again(record)},
        gone={} if ending == "unfinished" else _gone(verdicts, contenders, timed, rounds),
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
    # An open pair of which nobody was given up would have had more rounds: some that were there are gone.
    is_short = any(is_open(one) for one in _running_on(unsettled, contenders))
    if ended == "decided" and not is_short:
        # The conductor had nobody left to run, and yet a pair is open or was never formed.
        is_ranked = any(one.status == "ranked" for one in contenders)
        is_lost = bool(unsettled) or not is_ranked or any(one.status == "failed" for one in contenders)
        return "lost" if is_lost else "decided"
    return "unfinished"


def _gone(
    verdicts: list[Verdict], contenders: list[ContenderOutcome], timed: Sequence[Record], rounds: int
) -> dict[str, list[int]]:
    """Return by label the rounds of which somebody has no record whose pair had its rounds to the end."""
    waiting = [one for one in verdicts if is_unsettled(one) and one.stopped != "futility"]
    pairs = _running_on(waiting, contenders)
    there = {(record.trial.contender.label, record.trial.round_number) for record in timed}
    labels = dict.fromkeys(label for one in pairs for label in (one.first, one.second))
    missing = {label: [n for n in range(1, rounds + 1) if (label, n) not in there] for label in labels}
    return {label: numbers for label, numbers in missing.items() if numbers}


def _running_on(verdicts: Iterable[Verdict], contenders: Iterable[ContenderOutcome]) -> list[Verdict]:
    """Return the pairs of which nobody was given up for failing."""
    given_up = {one.label for one in contenders if len(one.lost_rounds) >= STOPPING.failures}
    return [one for one in verdicts if given_up.isdisjoint((one.first, one.second))]


def contender_outcome(
    comparison: Comparison,
    plan: ContenderPlan,
    certificate: Certificate,
    records: Mapping[str, Record],
    kept: CountedBlocks,
) -> ContenderOutcome:
    """Return what is known of one contender, from the blocks that count."""
    label = plan.contender.label
    mine = of_contender(records.values(), label)
    timed = of_purpose(mine, "time")
    done = finished(timed)
    times = round_times(timed, kept)
    certified, selftest = last(mine, "certify"), last(mine, "selftest")
    # What a compiler's cache has shortened is no first step of a user's.
    cold = [record for record in done if record.trial.cache != "warm"] or done
    weighed = [record.memory for record in (finished(of_purpose(mine, "memory")) or done) if record.memory]
    evidence = certified.evidence if certified else None
    timer = timer_verdict(selftest) if selftest else None
    # A ready-made model is not the workload's, and may do less.
    is_shared = comparison.scaling == "strong" and plan.devices > 1  # a device has less than the work that is known
    peak = None if certificate.ready_made or is_shared else peak_of(records.values(), plan)
    light = light_of(comparison.work, peak, _middle_s(times)) if times else None
    untied = why_untied(comparison, records, plan)
    distrust = _distrust(timer, untied, light, done) or why_own_clock(plan, done)
    status, reason = _status(certificate, certified or failed_reference(records, plan), distrust, timed, times)
    latest = done[-1] if done else certified
    outcome = ContenderOutcome(
        plan=plan,
        label=label,
        status=status,
        reason=reason,
        certificate=certificate,
        timer=timer,
        rounds=len(times),
        lost_rounds={one.trial.round_number: f"{one.outcome}: {one.reason}" for one in timed if one.outcome != "done"},
        first_step_s=_median(cold, lambda record: record.first_step_ns),
        import_s=_median(done or finished(mine), lambda record: record.import_ns),
        build_s=_median(done, lambda record: record.build_ns),
        memory=_middle_memory(weighed),
        memory_peaks_bytes=[one.peak_bytes for one in weighed if one.peak_bytes is not None],
        light=light,
        accuracy=evidence.accuracy if evidence else None,
        test_samples=evidence.test_samples if evidence else 0,
        learning_steps=evidence.learning_steps if evidence else 0,
        settings=latest.settings if latest else {},
        inherited=latest.inherited if latest else {},
        overridden=latest.overridden if latest else {},
        versions=latest.versions if latest else {},
        python=latest.python if latest else "",
        steady=all(mser5(record.warm_steps_ns).steady for record in done if record.trial.round_number <= CUT_ROUNDS),
        disturbed_turns=disturbed_turns(done),
        blocks=block_times(done, kept),
        gpu=gpu_rounds(done),
        **{name: judged(mine) for name, judged in OF_ITS_TRIALS.items()},
    )
    return _with_times(outcome, done, times, kept.cut) if times else outcome


def _with_times(
    outcome: ContenderOutcome, done: Sequence[Record], times: Mapping[int, RoundTime], cut: int
) -> ContenderOutcome:
    """Return the outcome with what the timed rounds add."""
    step_s, middle_s = absolute_interval(_medians(times)), _middle_s(times)
    fenced_s = [ns * NS for record in done for ns in record.fenced_steps_ns or record.warm_steps_ns[cut:]]
    blocks = [block for record in done for block in record.blocks]
    return msgspec.structs.replace(
        outcome,
        step_s=step_s,
        median_step_s=middle_s,
        mean_step_s=statistics.fmean(time.mean_s for time in times.values()),
        samples_per_s=done[0].trial.batch_size / middle_s,
        fenced_p50_s=float(np.quantile(fenced_s, 0.5)) if fenced_s else None,
        fenced_p90_s=float(np.quantile(fenced_s, 0.9)) if fenced_s else None,
        fenced_steps=len(fenced_s),
        wait_s=_median(done, lambda record: record.wait_ns),
        hidden_s=_hidden_s(done, times),
        compile_s=None if outcome.first_step_s is None else max(0.0, outcome.first_step_s - middle_s),
        counters=block_counters(blocks),
        trend=turn_trend([time.turns for time in times.values()]),
    )


def _middle_memory(weighed: Sequence[Memory]) -> Memory | None:
    """Return the memory of the process whose peak is the median of those that are known; None where none was read."""
    known = [one for one in weighed if one.peak_bytes is not None] or weighed
    by_peak = sorted(known, key=lambda one: one.peak_bytes or 0)
    return by_peak[(len(by_peak) - 1) // 2] if by_peak else None


def _medians(times: Mapping[int, RoundTime]) -> list[float]:
    """Return the step time of each round, in seconds."""
    return [process_median(list(time.turns.values())) for time in times.values()]


def _middle_s(times: Mapping[int, RoundTime]) -> float:
    """Return the step time: the centre of its interval or, with too few rounds for one, the median over rounds."""
    step_s = absolute_interval(_medians(times))
    return step_s.estimate if step_s else statistics.median(_medians(times))


def _hidden_s(done: Sequence[Record], times: Mapping[int, RoundTime]) -> Interval | None:
    """Return by how much a fenced step is longer than a streamed one of the same process, over rounds."""
    differences = [
        _centre(record) * NS - process_median(list(times[number].turns.values()))
        for record in done
        if record.fenced_steps_ns and (number := record.trial.round_number) in times
    ]
    return fixed_interval(differences, 0.95)


def _centre(record: Record) -> float:
    """Return the middle of the fenced steps of a process; over batches of different shapes, as blocks are, the mean."""
    if record.trial.pass_steps > 1:
        return statistics.fmean(record.fenced_steps_ns)
    return statistics.median(record.fenced_steps_ns)


def _status(
    certificate: Certificate,
    decided_by: Record | None,
    distrust: str,
    timed: Sequence[Record],
    times: Mapping[int, RoundTime],
) -> tuple[Status, str]:
    """Return whether a contender is ranked, and if not, why."""
    if not certificate.passed:
        return ("pending" if decided_by is None else "uncertified"), certificate.reason
    if distrust:
        return "refused", distrust
    if times:
        return "ranked", ""
    failed = [record.reason for record in timed if record.outcome != "done"]
    if failed:
        return "failed", failed[-1]
    return "pending", "no round was finished yet"


def _distrust(timer: TimerVerdict | None, untied: str, light: Light | None, done: Sequence[Record]) -> str:
    """Return why no time of a contender can be trusted; empty where nothing speaks against it."""
    if timer is not None and timer.outcome == "failed":
        return f"its timer failed the self-test: {timer.reason}"
    if untied:
        return f"what was timed is not what was certified: {untied}"
    if light is not None and light.is_refused:
        return f"doubtful, faster than this machine's peak allows: {light.finding}"
    return why_short(done)


def _median(records: Sequence[Record], get: Callable[[Record], int | None]) -> float | None:
    """Return the median of a duration over records, in seconds."""
    values = [value for record in records if (value := get(record)) is not None]
    return statistics.median(values) * NS if values else None

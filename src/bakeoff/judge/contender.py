"""From one contender's records to its outcome: medians over rounds, memory, settings."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from bakeoff.judge.compiling import compiling
from bakeoff.judge.epochs import whole_runs
from bakeoff.judge.gpu import gpu_rounds
from bakeoff.judge.outcome import BlockTime, ContenderOutcome, Energy, Status
from bakeoff.measure.contention import is_flagged
from bakeoff.spec.selftest import TimerVerdict
from bakeoff.stats.differences import process_median
from bakeoff.stats.intervals import absolute_interval, fixed_interval
from bakeoff.stats.selftest import judge_timer
from bakeoff.stats.warmup import mser5

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.record import Block, Record
    from bakeoff.spec.verdict import Certificate, Interval

NS = 1e-9

CUT_ROUNDS = 2
"""Rounds whose warm-ups are searched for their end; the longest is frozen for all contenders."""


class RoundTime(msgspec.Struct, frozen=True, kw_only=True):
    """One contender in one round."""

    turns: dict[int, float]
    """Step time in seconds by turn."""
    mean_s: float
    flagged: frozenset[int]
    """Turns whose block foreign load disturbed."""
    resident: bool

    def calm(self) -> RoundTime:
        """Leave out the blocks that foreign load disturbed."""
        turns = {turn: time for turn, time in self.turns.items() if turn not in self.flagged}
        return msgspec.structs.replace(self, turns=turns)


def round_times(records: Iterable[Record], cut: int) -> dict[int, RoundTime]:
    """Give a contender's times by round; blocks that began within the warm-up are left out."""
    times = {}
    for record in records:
        blocks = [block for block in record.blocks if block.first_step >= cut]
        if record.outcome != "done" or not blocks:
            continue
        times[record.trial.round_number] = RoundTime(
            turns={block.turn: _step_s(block) for block in blocks},
            mean_s=sum(b.elapsed_ns for b in blocks) * NS / sum(len(b.steps_ns) for b in blocks),
            flagged=frozenset(block.turn for block in blocks if is_flagged(block.signals)),
            resident=record.trial.resident,
        )
    return times


def flagged_share(timed: Sequence[Record]) -> tuple[float | None, int]:
    """Give the median foreign share over all blocks, and in how many rounds foreign load was seen."""
    shares = [b.signals.foreign_share for r in timed for b in r.blocks if b.signals.foreign_share is not None]
    rounds = {r.trial.round_number for r in timed if r.blocks and is_flagged(*(block.signals for block in r.blocks))}
    return (statistics.median(shares) if shares else None), len(rounds)


def timer_verdict(record: Record) -> TimerVerdict:
    """Judge a trial of the timer's self-test; one that was not finished tells nothing of the timer."""
    label = record.trial.contender.label
    verdict = judge_timer(label, record.timer)
    if record.outcome != "done":
        verdict = TimerVerdict(contender=label, outcome="untold", reason=record.reason)
    return msgspec.structs.replace(verdict, tested_at=record.started_at, comparison=record.trial.comparison)


def clock_range_mhz(timed: Sequence[Record]) -> tuple[float, float] | None:
    """Give the lowest and the highest clock that was seen at the ends of these trials."""
    seen = [clock for record in timed if isinstance(clock := record.weather.get("clock_mhz"), int | float)]
    return (min(seen), max(seen)) if seen else None


def contender_outcome(
    plan: ContenderPlan, certificate: Certificate, records: Mapping[str, Record], cut: int
) -> ContenderOutcome:
    """Put together what is known of one contender."""
    label = plan.contender.label
    mine = [record for record in records.values() if record.trial.contender.label == label]
    by_purpose = {record.trial.purpose: record for record in mine}
    timed = [record for record in mine if record.trial.purpose == "time"]
    times = round_times(timed, cut)
    timer = timer_verdict(by_purpose["selftest"]) if "selftest" in by_purpose else None
    status, reason = _status(certificate, by_purpose.get("certify"), timer, timed, times)
    done = [record for record in timed if record.outcome == "done"]
    told = done[-1] if done else by_purpose.get("certify")
    memory, evidence = by_purpose.get("memory"), by_purpose.get("certify")
    first_step_s = _median(done, lambda record: record.first_step_ns)
    outcome = ContenderOutcome(
        plan=plan,
        label=label,
        status=status,
        reason=reason,
        certificate=certificate,
        timer=timer,
        rounds=len(times),
        first_step_s=first_step_s,
        import_s=_median([record for record in mine if record.outcome == "done"], lambda record: record.import_ns),
        build_s=_median(done, lambda record: record.build_ns),
        compiling=compiling(mine),
        memory=memory.memory if memory else None,
        energy=_energy(mine),
        whole=whole_runs(mine),
        accuracy=evidence.evidence.accuracy if evidence and evidence.evidence else None,
        learning_steps=evidence.evidence.learning_steps if evidence and evidence.evidence else 0,
        settings=told.settings if told else {},
        inherited=told.inherited if told else {},
        versions=told.versions if told else {},
        python=told.python if told else "",
        steady=all(mser5(record.warm_steps_ns).steady for record in done if record.trial.round_number <= CUT_ROUNDS),
        blocks=_block_times(done, cut),
        gpu=gpu_rounds(done),
    )
    return _with_times(outcome, done, times, cut, samples=_batch_size(mine)) if times else outcome


def _with_times(
    outcome: ContenderOutcome, done: Sequence[Record], times: Mapping[int, RoundTime], cut: int, *, samples: int
) -> ContenderOutcome:
    """Add what the timed rounds tell."""
    medians = [process_median(list(time.turns.values())) for time in times.values()]
    step_s = absolute_interval(medians)
    middle_s = step_s.estimate if step_s else statistics.median(medians)
    fenced_s = [ns * NS for record in done for ns in record.fenced_steps_ns or record.warm_steps_ns[cut:]]
    blocks = [block for record in done for block in record.blocks]
    steps = sum(len(block.steps_ns) + block.lead_steps for block in blocks)
    faults = [block.signals.minor_faults for block in blocks]
    major = [block.signals.major_faults for block in blocks]
    return msgspec.structs.replace(
        outcome,
        step_s=step_s,
        median_step_s=middle_s,
        mean_step_s=statistics.fmean(time.mean_s for time in times.values()),
        samples_per_s=samples / middle_s,
        fenced_p50_s=float(np.quantile(fenced_s, 0.5)) if fenced_s else None,
        fenced_p90_s=float(np.quantile(fenced_s, 0.9)) if fenced_s else None,
        fenced_steps=len(fenced_s),
        hidden_s=_hidden_s(done, times),
        compile_s=None if outcome.first_step_s is None else max(0.0, outcome.first_step_s - middle_s),
        cores_used=sum(b.signals.cpu_ns for b in blocks) / sum(b.signals.wall_ns for b in blocks),
        minor_faults_per_step=None if None in faults else sum(f for f in faults if f is not None) / steps,
        major_faults=None if None in major else sum(f for f in major if f is not None),
    )


def _hidden_s(done: Sequence[Record], times: Mapping[int, RoundTime]) -> Interval | None:
    """Give by how much a fenced step is longer than a streamed one of the same process, over rounds."""
    differences = [
        statistics.median(record.fenced_steps_ns) * NS - process_median(list(times[number].turns.values()))
        for record in done
        if record.fenced_steps_ns and (number := record.trial.round_number) in times
    ]
    return fixed_interval(differences, 0.95)


def _energy(records: Sequence[Record]) -> Energy | None:
    """Give the energy of a sample; None where it was not measured."""
    known = [record.energy for record in records if record.energy is not None and record.outcome == "done"]
    if not known:
        return None
    values = [one.joules / (one.steps * _batch_size(records)) for one in known]
    interval = absolute_interval(values) if min(values) > 0 else None
    estimate = interval.estimate if interval else statistics.median(values)
    return Energy(joules_per_sample=estimate, interval=interval, rounds=len(values), source=known[0].source)


def _status(
    certificate: Certificate,
    certified: Record | None,
    timer: TimerVerdict | None,
    timed: Sequence[Record],
    times: Mapping[int, RoundTime],
) -> tuple[Status, str]:
    """Say whether a contender is ranked, and if not, why."""
    if not certificate.passed:
        return ("pending" if certified is None else "uncertified"), certificate.reason
    if timer is not None and timer.outcome == "failed":
        return "refused", f"its timer failed the self-test: {timer.reason}"
    if times:
        return "ranked", ""
    failed = [record.reason for record in timed if record.outcome != "done"]
    if failed:
        return "failed", failed[-1]
    return "pending", "no round was finished yet"


def _block_times(done: Sequence[Record], cut: int) -> list[BlockTime]:
    """Give every timed block."""
    return [
        BlockTime(
            round_number=record.trial.round_number,
            turn=block.turn,
            step_s=_step_s(block),
            flagged=is_flagged(block.signals),
        )
        for record in done
        for block in record.blocks
        if block.first_step >= cut
    ]


def _step_s(block: Block) -> float:
    """Give a block's mean step time."""
    return block.elapsed_ns * NS / len(block.steps_ns)


def _median(records: Sequence[Record], get: Callable[[Record], int | None]) -> float | None:
    """Give the median of a duration over records, in seconds."""
    values = [value for record in records if (value := get(record)) is not None]
    return statistics.median(values) * NS if values else None


def _batch_size(records: Sequence[Record]) -> int:
    """Give the samples of one step."""
    return records[0].trial.batch_size

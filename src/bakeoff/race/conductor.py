"""The conductor: certificates, memory, and rounds until every pair has its verdict."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager, nullcontext
from itertools import combinations, count
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.judge.certificate import certificate_of
from bakeoff.judge.comparison import assess, judge_comparison
from bakeoff.judge.epochs import length_of
from bakeoff.judge.rounds import frozen_cut
from bakeoff.judge.timer import timer_verdict
from bakeoff.measure.energy import meters
from bakeoff.measure.machine import available_memory_bytes
from bakeoff.measure.noise import PROBE_S, probe
from bakeoff.race.epochs import run_whole
from bakeoff.race.prepare import new_folder, prepared
from bakeoff.race.progress import (
    Certified,
    Finished,
    Observer,
    Prepared,
    RoundEnded,
    RoundStarted,
    TimerTested,
    silent,
)
from bakeoff.race.remembered import remember, remembered
from bakeoff.race.rounds import Trials
from bakeoff.race.workers.guard import guarded
from bakeoff.race.workers.process import MARK, ProcessWorker
from bakeoff.race.workers.watched import watching
from bakeoff.race.workers.weighed import weighing
from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.stats.sequential import is_open
from bakeoff.store.files import forget_end, read_comparison, write_comparison, write_end
from bakeoff.store.locks import locked
from bakeoff.store.results import Records, check_same_machine, latest_like, read_records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.judge.outcome import Outcome
    from bakeoff.race.workers.worker import Launcher
    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.record import Record
    from bakeoff.spec.request import Request
    from bakeoff.spec.selftest import TimerVerdict
    from bakeoff.spec.trial import CacheState
    from bakeoff.spec.verdict import Certificate

MEMORY_SHARE = 0.7
"""Workers are resident together only if their peaks fit in this share of the available memory: the rest is for what
else runs, and for peaks that a memory trial did not reach."""

LOADING = "pipeline"
"""The way of input that goes on loading, until its buffers are full, while its worker pauses."""

ROUNDS_ALONE = 3
"""Rounds of a contender that has no other: they give its step time an interval, and there is no pair to settle."""

ENERGY_ROUNDS = 5
"""Rounds of trials of energy, after the race: they give it an interval, and no verdict rests on it."""

FAILURES = 2
"""Failed timed trials after which a contender is given up: a third would fail, too."""


def run(
    request: Request,
    observe: Observer = silent,
    *,
    launch: Launcher = ProcessWorker,
    probe_s: float = PROBE_S,
) -> Outcome:
    """Run a comparison to its end, or go on with one; give its outcome.

    Raises UsageError before anything is started, StoreError when results cannot be written.
    """
    with _conducted(request, observe, launch) as conductor:
        observe(conductor.prepared(probe(probe_s).calm))
        conductor.certify(observe)
        conductor.check_timers(observe)
        conductor.measure_memory()
        conductor.measure_compiling()
        ended = conductor.race(observe)
        conductor.run_whole(observe)
        conductor.measure_energy()
        write_end(conductor.folder, ended)
    outcome = judge_comparison(conductor.folder)
    observe(Finished(outcome.ended))
    return outcome


def verify(request: Request, observe: Observer = silent, *, launch: Launcher = ProcessWorker) -> list[Certificate]:
    """Compute the certificates alone."""
    with _conducted(request, observe, launch) as conductor:
        observe(conductor.prepared(None))
        return conductor.certify(observe)


def check_timers(
    request: Request, observe: Observer = silent, *, launch: Launcher = ProcessWorker
) -> list[TimerVerdict]:
    """Put the timers of all contenders to the test, also those that passed before."""
    with _conducted(request, observe, launch) as conductor:
        observe(conductor.prepared(None))
        return conductor.check_timers_anew(observe)


@contextmanager
def _conducted(request: Request, observe: Observer, launch: Launcher) -> Iterator[_Conductor]:
    """Prepare a new comparison, or one to go on with; it is this process's alone until the end."""
    with prepared(request) as (wanted, inputs):
        find = _resumed if request.resume else new_folder
        folder, comparison = find(Path(request.results), wanted)
        with locked(folder, "comparison"), guarded(MARK) if launch is ProcessWorker else nullcontext():
            write_comparison(folder, comparison)
            forget_end(folder)
            trials = Trials(comparison, folder, inputs, launch=weighing(watching(launch)), observe=observe)
            yield _Conductor(comparison, folder, trials, self_test=request.self_test)


def _resumed(results: Path, wanted: Comparison) -> tuple[Path, Comparison]:
    """Find the comparison to go on with."""
    folder_before = latest_like(results, wanted)
    if folder_before is None:
        msg = f"nothing to go on with: no comparison in {results} asked for the same; run it without --resume"
        raise UsageError(msg)
    before = read_comparison(folder_before)
    check_same_machine(before, wanted.machine)
    # Only how long to go on may be said anew: what was measured and how it is decided stays as it was fixed.
    procedure = msgspec.structs.replace(
        before.procedure,
        aim=wanted.procedure.aim,
        max_rounds=wanted.procedure.max_rounds,
        budget_s=wanted.procedure.budget_s,
        trial_limit_s=wanted.procedure.trial_limit_s,
        repeats=wanted.procedure.repeats,
    )
    return folder_before, msgspec.structs.replace(before, procedure=procedure)


class _Conductor:
    """One comparison on its way: what is done already is read from its records, never done twice."""

    def __init__(self, comparison: Comparison, folder: Path, trials: Trials, *, self_test: bool) -> None:
        self._comparison = comparison
        self.folder = folder
        self._trials = trials
        self._self_test = self_test
        self._began = time.monotonic()
        before = read_records(folder)
        self.records: dict[str, Record] = before.records
        self._damaged = before.damaged

    def prepared(self, calm: bool | None) -> Prepared:  # noqa: FBT001 - what the probe saw, or None
        """Tell that all is ready."""
        return Prepared(self._comparison, str(self.folder), len(self.records), calm)

    def certify(self, observe: Observer) -> list[Certificate]:
        """Compute the reference and every contender's evidence; give the certificates."""
        if self._comparison.reference is not None and self._done("reference", None) is None:
            self._keep(self._trials.certify(self._comparison.reference, "reference"))
        self._certificates: dict[str, Certificate] = {}
        for plan in self._comparison.contenders:
            if self._done("certify", plan) is None:
                self._keep(self._trials.certify(plan, "certify"))
            certificate = certificate_of(self._comparison, self.records, self.folder, plan)
            self._certificates[plan.contender.label] = certificate
            observe(Certified(certificate))
        self._certified = [p for p in self._comparison.contenders if self._certificates[p.contender.label].passed]
        return list(self._certificates.values())

    def check_timers(self, observe: Observer) -> None:
        """Put the timer of each certified contender to the test, unless one made before holds; drop who fails."""
        for plan in self._certified if self._self_test else ():
            if self._done("selftest", plan) is None:
                certified = self._done("certify", plan)
                before = remembered(certified) if certified else None
                self._keep(self._trials.adopt(plan, before) if before else self._trials.selftest(plan))
            self._tell_timer(plan, observe)
        self._certified = [plan for plan in self._certified if not self._is_refused(plan)]

    def check_timers_anew(self, observe: Observer) -> list[TimerVerdict]:
        """Put the timer of every contender to the test."""
        verdicts = []
        for plan in self._comparison.contenders:
            self._keep(self._trials.selftest(plan))
            verdicts.append(self._tell_timer(plan, observe))
        return verdicts

    def _tell_timer(self, plan: ContenderPlan, observe: Observer) -> TimerVerdict:
        """Judge a self-test that is there, and remember it."""
        record = self._done("selftest", plan)
        assert record is not None
        verdict = timer_verdict(record)
        remember(record)
        observe(TimerTested(verdict))
        return verdict

    def _is_refused(self, plan: ContenderPlan) -> bool:
        """Tell whether a contender's timer has failed its self-test."""
        record = self._done("selftest", plan)
        return record is not None and timer_verdict(record).outcome == "failed"

    def measure_memory(self) -> None:
        """Measure the peak memory of every certified contender, each in a process of its own."""
        for plan in self._certified:
            if self._done("memory", plan) is None:
                self._keep(self._trials.memory(plan))

    def measure_compiling(self) -> None:
        """Start each certified contender whose compiler can keep its work, without what was kept and then with it."""
        states: tuple[CacheState, ...] = ("cold", "warm")
        for plan in self._certified:
            for state in states if plan.cache_variables is not None else ():
                is_done = any(record.trial.cache == state for record in self._all("compile", plan))
                record = None if is_done else self._trials.compile(plan, state)
                if record is not None:
                    self._keep(record)

    def run_whole(self, observe: Observer) -> None:
        """Run the epochs or steps that were asked for beside the race, in fresh processes and random orders."""
        step_s = {one.label: one.median_step_s for one in self._outcome().contenders if one.median_step_s}
        plans = [plan for plan in self._certified if plan.contender.label in step_s]
        repeats = self._comparison.procedure.repeats if length_of(self._comparison) else 0
        for number in range(1, repeats + 1):
            # One run each in any case, as one round is.
            if number > 1 and self._budget_is_spent():
                return
            done = [r.trial.contender.label for r in self._all("epochs", None) if r.trial.round_number == number]
            for plan in self._trials.order(plans, number):
                label = plan.contender.label
                if label in done or any(r.outcome != "done" for r in self._all("epochs", plan)):
                    continue
                self._keep(
                    run_whole(
                        self._trials,
                        plan,
                        number,
                        comparison=self._comparison,
                        step_s=step_s[label],
                        observe=observe,
                    )
                )

    def measure_energy(self) -> None:
        """Measure the energy of all certified contenders in rounds, where the machine can tell and time is left."""
        devices = sorted({plan.contender.options.get("device", "cpu") for plan in self._certified})
        found, reason = meters(devices)
        if reason or self._comparison.no_energy:
            return
        for round_number in range(1, ENERGY_ROUNDS + 1):
            done = [r.trial.contender.label for r in self._all("energy", None) if r.trial.round_number == round_number]
            for plan in self._trials.order(self._certified, round_number):
                if self._budget_is_spent():
                    return
                if plan.contender.label not in done:
                    self._keep(self._trials.energy(plan, round_number, found))

    def race(self, observe: Observer) -> str:
        """Run rounds until every pair has its verdict, or none can be had any more; say why it ended."""
        limit = self._comparison.procedure.max_rounds
        first = 1 + max((record.trial.round_number for record in self._all("time", None)), default=0)
        for round_number in count(first) if limit is None else range(first, limit + 1):
            active = self._active()
            if not active:
                return "decided"
            # One round is run in any case: figures without a verdict are more than nothing.
            if round_number > 1 and self._budget_is_spent():
                return "budget"
            observe(RoundStarted(round_number, tuple(plan.contender.label for plan in active)))
            began = time.monotonic()
            self._round(round_number, active)
            now = time.monotonic()
            verdicts = self._outcome().verdicts
            left_s = self._left_s(now - began, None if limit is None else limit - round_number)
            observe(RoundEnded(round_number, limit, now - self._began, left_s, tuple(verdicts)))
        return "rounds"

    def _round(self, round_number: int, active: list[ContenderPlan]) -> None:
        """Run one round, resident where memory allows."""
        cut = frozen_cut(self.records.values())
        run_round = self._trials.round_resident if self._is_resident(active) else self._trials.round_alone
        self._keep(*run_round(round_number, active, cut))

    def _active(self) -> list[ContenderPlan]:
        """Give the contenders whose pairs are not all settled; one who was lost twice has no open pair any more."""
        outcome = self._outcome()
        alive = [plan for plan in self._certified if not self._is_lost(plan)]
        if len(alive) == 1:
            rounds = {one.label: one.rounds for one in outcome.contenders}
            return [plan for plan in alive if rounds[plan.contender.label] < ROUNDS_ALONE]
        settled = {(verdict.first, verdict.second) for verdict in outcome.verdicts if not is_open(verdict)}
        pairs = combinations([plan.contender.label for plan in alive], 2)
        needed = {label for pair in pairs if pair not in settled for label in pair}
        return [plan for plan in alive if plan.contender.label in needed]

    def _is_lost(self, plan: ContenderPlan) -> bool:
        """Tell whether a contender has failed too often to go on."""
        failed = [
            record
            for record in self.records.values()
            if record.trial.purpose == "time"
            and record.trial.contender.label == plan.contender.label
            and record.outcome != "done"
        ]
        return len(failed) >= FAILURES

    def _is_resident(self, active: list[ContenderPlan]) -> bool:
        """Tell whether a round's workers fit in memory together, and rest while another one runs."""
        if any(plan.contender.options.get("input") == LOADING for plan in active):
            return False
        free = available_memory_bytes()
        peaks = [self._done("memory", plan) for plan in active]
        known = [record.memory.peak_bytes for record in peaks if record and record.memory and record.memory.peak_bytes]
        if free is None or len(known) < len(active):
            return False
        return sum(known) <= MEMORY_SHARE * free

    def _outcome(self) -> Outcome:
        """Judge what there is so far."""
        so_far = Records(records=self.records, damaged=self._damaged)
        return assess(self._comparison, so_far, self.folder, certificates=self._certificates)

    def _done(self, purpose: str, plan: ContenderPlan | None) -> Record | None:
        """Give the record of a trial that need not be done again."""
        return next(iter(self._all(purpose, plan)), None)

    def _all(self, purpose: str, plan: ContenderPlan | None) -> list[Record]:
        """Give the records of a purpose, of one contender or of any."""
        return [
            record
            for record in self.records.values()
            if record.trial.purpose == purpose
            and (plan is None or record.trial.contender.label == plan.contender.label)
        ]

    def _keep(self, *finished: Record) -> None:
        """Take finished trials in; those with other versions than before are no part of this comparison."""
        strange = [(before, record) for record in finished if (before := self._of_other_versions(record))]
        for _, record in strange:
            shutil.rmtree(self.folder / record.trial.name)
        for before, record in strange:
            label, had, has = record.trial.contender.label, _versions(before), _versions(record)
            msg = f"cannot go on with {self._comparison.id}: {label} had {had} and has {has} here"
            raise StoreError(msg)
        self.records |= {record.trial.name: record for record in finished}

    def _of_other_versions(self, record: Record) -> Record | None:
        """Find a record of the same contender that was made with other versions."""
        for before in self.records.values():
            same = before.trial.contender == record.trial.contender and before.outcome == record.outcome == "done"
            if same and _versions(before) != _versions(record):
                return before
        return None

    def _budget_is_spent(self) -> bool:
        budget_s = self._comparison.procedure.budget_s
        return budget_s is not None and time.monotonic() - self._began >= budget_s

    def _left_s(self, round_s: float, rounds: int | None) -> float | None:
        """Give the longest that the rest can take; None where nothing limits it."""
        by_rounds = None if rounds is None else round_s * rounds
        budget_s = self._comparison.procedure.budget_s
        if budget_s is None:
            return by_rounds
        by_budget = max(0.0, budget_s - (time.monotonic() - self._began))
        return by_budget if by_rounds is None else min(by_rounds, by_budget)


def _versions(record: Record) -> str:
    """Tell what a trial ran with."""
    told = [("Python", record.python), *record.versions.items(), *record.inherited.items()]
    return ", ".join(f"{name} {version}" for name, version in told)

"""One trial, or one round of trials: from plans to records."""

from __future__ import annotations

import math
import shutil
import statistics
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from bakeoff.measure.energy import counted, names
from bakeoff.measure.machine import describe
from bakeoff.race import schedule
from bakeoff.race.names import folder_names
from bakeoff.race.progress import Observer, Running, TrialEnded, TrialStarted
from bakeoff.race.workers.process import QUIT_LIMIT_S
from bakeoff.race.workers.worker import Launcher, Worker, WorkerLostError
from bakeoff.spec import protocol
from bakeoff.spec.errors import StoreError
from bakeoff.spec.record import Record
from bakeoff.spec.trial import CACHE_FOLDER, KINDS, CacheState, Purpose, TrialSpec
from bakeoff.stats.selftest import judge_timer
from bakeoff.stats.warmup import mser5
from bakeoff.store.files import RECORD_FILE, clear_trial, read_record, write_record, write_trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from bakeoff.measure.energy import Meter
    from bakeoff.spec.comparison import Comparison, ContenderPlan
    from bakeoff.spec.selftest import TimerTest

WARM_STEPS = 20
"""Steps of the first warm-ups, at least: MSER-5 needs several batches of 5."""

WARM_S = 1.0
"""... for at least this long ..."""

WARM_LIMIT = 400
"""... and at most this many steps."""

FEWEST_WARM_STEPS = 10
"""Warm-up of later rounds, where the frozen cut is shorter: also the estimate of the step time comes from it."""

FENCED_STEPS = 10
"""Steps of the fenced part, at least: a p90 of fewer is their longest ..."""

FENCED_S = 0.3
"""... for at least this long, two blocks' worth ..."""

FENCED_LIMIT = 400
"""... and at most this many steps where that is enough: more would only swell the record."""

ENERGY_S = 2.0
"""Steps between two readings last about this long: a thousand times as long as RAPL takes for a new count (1 ms)."""

MEMORY_STEPS = 20
"""Steps of a memory trial: allocators have reached their steady size."""

SHORTEST_STEP_S = 1e-6
"""No step of Python is shorter; a scripted one may be, and block sizes are its quotients."""


class Trials:
    """Starts the trials of one comparison and keeps their records."""

    def __init__(
        self,
        comparison: Comparison,
        folder: Path,
        inputs: Path,
        *,
        launch: Launcher,
        observe: Observer,
    ) -> None:
        """Take what all trials share."""
        self._comparison = comparison
        self._folder = folder
        self._inputs = inputs
        self._launch = launch
        self._observe = observe
        self._limit_s = comparison.procedure.trial_limit_s
        self._names = folder_names([plan.contender.label for plan in comparison.contenders])

    def certify(self, plan: ContenderPlan, purpose: Purpose) -> Record:
        """Run a trial that computes the evidence; `purpose` is "certify" or "reference"."""
        return self._alone(self.spec(plan, purpose), plan, protocol.Certify())

    def compile(self, plan: ContenderPlan, state: CacheState) -> Record | None:
        """Run a trial of its first step alone, whose compiler has an empty cache (cold) or that of the cold trial.

        None where the cold trial left nothing that a warm one could find.
        """
        cache = self._folder / f"{CACHE_FOLDER}-{self._names[plan.contender.label]}"
        if state == "cold":
            shutil.rmtree(cache, ignore_errors=True)
        elif not (cache.is_dir() and any(cache.iterdir())):
            return None
        record = self._alone(self._compile_spec(plan, state, cache), plan)
        if state == "warm" or record.outcome != "done":
            shutil.rmtree(cache, ignore_errors=True)
        return record

    def energy(self, plan: ContenderPlan, round_number: int, meters: Sequence[Meter]) -> Record:
        """Run a trial of steps in a row between two readings of the meters; it has the machine for itself."""

        def act(worker: Worker) -> None:
            label = plan.contender.label
            warm_ns: dict[str, list[int]] = {}
            self._prepare(warm_ns, label, None, worker)
            self._observe(Running(label, "energy"))
            steps = math.ceil(ENERGY_S / _step_s(warm_ns[label]))
            with counted(meters) as spent:
                self._ask(protocol.RunBlock(lead=0, steps=steps, turn=0), worker)
            self._ask(protocol.NoteEnergy(joules=sum(spent), steps=steps, source=names(meters)), worker)

        return self.whole(self.spec(plan, "energy", round_number), plan, act)

    def memory(self, plan: ContenderPlan) -> Record:
        """Run a trial that does nothing but read the peak of the memory."""
        return self._alone(self.spec(plan, "memory"), plan, protocol.MeasureMemory(steps=MEMORY_STEPS))

    def selftest(self, plan: ContenderPlan) -> Record:
        """Run a trial that puts the timer to the test; again, as long as it cannot be told."""

        def act(worker: Worker) -> None:
            label = plan.contender.label
            warm_ns: dict[str, list[int]] = {}
            self._prepare(warm_ns, label, None, worker)
            command = schedule.timer_plan(_step_s(warm_ns[label]))
            passes: list[TimerTest] = []
            while len(passes) < schedule.TIMER_PASSES:
                self._observe(Running(label, "testing the timer"))
                answer = self._ask(command, worker)
                assert isinstance(answer, protocol.Tested)
                passes.append(answer.test)
                if judge_timer(label, passes).outcome != "untold":
                    break

        return self.whole(self.spec(plan, "selftest"), plan, act)

    def adopt(self, plan: ContenderPlan, before: Record) -> Record:
        """Take in the self-test that an earlier comparison has made; the record goes on to name that one."""
        spec = self.spec(plan, "selftest")
        record = msgspec.structs.replace(
            before, trial=msgspec.structs.replace(spec, comparison=before.trial.comparison)
        )
        write_trial(self._folder / spec.name, record.trial)
        write_record(self._folder / spec.name, record)
        return record

    def round_alone(self, round_number: int, plans: list[ContenderPlan], cut: int | None) -> list[Record]:
        """Run one round of workers one after another, in random order."""
        order = self.order(plans, round_number)
        return [self._timed_alone(plan, round_number, cut) for plan in order]

    def round_resident(self, round_number: int, plans: list[ContenderPlan], cut: int | None) -> list[Record]:
        """Run one round of workers that are resident together and alternate in blocks; a lost one drops out."""
        order = self.order(plans, round_number)
        with self._started(order, round_number) as workers:
            warm_ns: dict[str, list[int]] = {}
            for label in list(workers):
                self._guarded(workers, label, partial(self._prepare, warm_ns, label, cut))
            for label in list(workers):
                self._guarded(workers, label, partial(self._even_out, warm_ns, label))
            if workers:
                self._alternate(workers, warm_ns, round_number)
            for label in list(workers):
                self._guarded(workers, label, _quit)
        return [self._record(self.spec(plan, "time", round_number, resident=True)) for plan in order]

    def order(self, plans: list[ContenderPlan], round_number: int) -> list[ContenderPlan]:
        """Put a round's contenders in their random order."""
        by_label = {plan.contender.label: plan for plan in plans}
        labels = schedule.start_order(list(by_label), self._comparison.procedure.seed, round_number)
        return [by_label[label] for label in labels]

    def _alternate(self, workers: dict[str, Worker], warm_ns: dict[str, list[int]], round_number: int) -> None:
        """Run the blocks: one worker at a time, the others blocked in a read."""
        step_s = {label: _step_s(warm_ns[label]) for label in workers}
        turn_count = schedule.turns(list(step_s.values()))
        plans = {label: schedule.block_plan(step_s[label], turn_count) for label in workers}
        orders = schedule.turn_orders(list(workers), self._comparison.procedure.seed, round_number, turn_count)
        for turn, order in enumerate(orders):
            for label in order:
                if label not in workers:
                    continue
                self._observe(Running(label, f"block {turn + 1} of {turn_count}"))
                command = protocol.RunBlock(lead=plans[label].lead, steps=plans[label].steps, turn=turn)
                self._guarded(workers, label, partial(self._ask, command))
        for label in list(workers):
            self._guarded(workers, label, partial(self._fence, label, plans[label].lead))

    def _fence(self, label: str, lead: int, worker: Worker) -> None:
        """Have a worker run its fenced part, behind a lead-in as a block's."""
        self._observe(Running(label, "waiting for each step"))
        command = protocol.Fence(lead=lead, steps=FENCED_STEPS, seconds=FENCED_S, limit=FENCED_LIMIT)
        self._ask(command, worker)

    def _ask(self, command: protocol.Command, worker: Worker) -> protocol.Answer:
        """Give a command under the time limit of a trial."""
        return worker.ask(command, self._limit_s)

    def _prepare(self, warm_ns: dict[str, list[int]], label: str, cut: int | None, worker: Worker) -> None:
        """Build and warm one worker; put down how long its warm steps took."""
        self._observe(Running(label, "building"))
        self._ask(protocol.Build(), worker)
        self._observe(Running(label, "warming up"))
        if cut is None:
            command = protocol.Warm(steps=WARM_STEPS, seconds=WARM_S, limit=WARM_LIMIT)
        else:
            command = protocol.Warm(steps=max(cut, FEWEST_WARM_STEPS))
        answer = self._ask(command, worker)
        assert isinstance(answer, protocol.Warmed)
        warm_ns[label] = answer.steps_ns

    def _even_out(self, warm_ns: dict[str, list[int]], label: str, worker: Worker) -> None:
        """Warm a worker on to the longest cut that any worker of its round needs: the frozen cut holds for all."""
        missing = max(mser5(steps_ns).steps for steps_ns in warm_ns.values()) - len(warm_ns[label])
        if missing > 0:
            self._ask(protocol.Warm(steps=missing), worker)

    @contextmanager
    def _started(self, order: list[ContenderPlan], round_number: int) -> Iterator[dict[str, Worker]]:
        """Start a round's workers together, so that their imports overlap; end all of them in any case."""
        started: dict[str, Worker] = {}
        self._specs = {p.contender.label: self.spec(p, "time", round_number, resident=True) for p in order}
        self._began = time.monotonic()
        try:
            for plan in order:
                spec = self._specs[plan.contender.label]
                self._tell_start(spec)
                try:
                    started[plan.contender.label] = self._start(spec, plan)
                except WorkerLostError as lost:
                    self._lose(spec, lost)
            workers = dict(started)
            for label in list(workers):
                self._guarded(workers, label, lambda w: w.ready(self._limit_s))
            yield workers
            for label in workers:
                self._tell_end(self._specs[label])
        finally:
            for worker in started.values():
                worker.end()

    def _guarded(self, workers: dict[str, Worker], label: str, act: Callable[[Worker], object]) -> None:
        """Do something with a worker; a lost one is recorded and dropped, the others go on."""
        try:
            act(workers[label])
        except WorkerLostError as lost:
            workers.pop(label).end()
            self._lose(self._specs[label], lost)

    def _timed_alone(self, plan: ContenderPlan, round_number: int, cut: int | None) -> Record:
        """Run one timed trial that has the machine for itself."""

        def act(worker: Worker) -> None:
            label = plan.contender.label
            warm_ns: dict[str, list[int]] = {}
            self._prepare(warm_ns, label, cut, worker)
            step_s = _step_s(warm_ns[label])
            self._observe(Running(label, "timing"))
            plan_alone = schedule.alone_plan(step_s)
            for turn in range(schedule.ALONE_BLOCKS):
                # Nothing switches here, so one lead-in is enough.
                lead = plan_alone.lead if turn == 0 else 0
                self._ask(protocol.RunBlock(lead=lead, steps=plan_alone.steps, turn=turn), worker)
            # Nothing switches here either.
            self._fence(label, 0, worker)

        return self.whole(self.spec(plan, "time", round_number), plan, act)

    def _alone(self, spec: TrialSpec, plan: ContenderPlan, *commands: protocol.Command) -> Record:
        """Run a trial of a first step and of these commands."""

        def act(worker: Worker) -> None:
            self._observe(Running(spec.contender.label, spec.purpose))
            for command in (protocol.Build(), *commands):
                self._ask(command, worker)

        return self.whole(spec, plan, act)

    def whole(self, spec: TrialSpec, plan: ContenderPlan, act: Callable[[Worker], None]) -> Record:
        """Run one trial from start to record."""
        self._tell_start(spec)
        self._began = time.monotonic()
        worker = None
        try:
            worker = self._start(spec, plan)
            worker.ready(self._limit_s)
            act(worker)
            _quit(worker)
        except WorkerLostError as lost:
            self._lose(spec, lost)
        else:
            self._tell_end(spec)
        finally:
            if worker is not None:
                worker.end()
        return self._record(spec)

    def spec(
        self,
        plan: ContenderPlan,
        purpose: Purpose,
        round_number: int = 0,
        *,
        resident: bool = False,
        cache: Path | None = None,
    ) -> TrialSpec:
        """Compose what is asked of a worker; `cache` is the compiler's, by default the trial's own."""
        comparison = self._comparison
        stage = (KINDS[purpose].prefix or purpose).format(round=round_number, cache="")
        name = stage if purpose == "reference" else f"{stage}-{self._names[plan.contender.label]}"
        threads = plan.contender.options.get("threads", "")
        kept = str((cache or self._folder / name / CACHE_FOLDER).resolve())
        return TrialSpec(
            comparison=comparison.id,
            name=name,
            purpose=purpose,
            round_number=round_number,
            resident=resident,
            contender=plan.contender,
            variables={key: v.format(threads=threads, cache=kept) for key, v in plan.variables.items()},
            watched=plan.watched,
            framework_path=plan.framework_path,
            workload_path=comparison.workload_path,
            workload_name=comparison.workload.name,
            scenario=comparison.scenario,
            size=comparison.size,
            batch_size=comparison.batch_size,
            seed=comparison.procedure.seed,
            inputs_path=str(self._inputs.resolve()),
            learning_steps=comparison.workload.learning_steps if KINDS[purpose].learns else 0,
        )

    def _compile_spec(self, plan: ContenderPlan, state: CacheState, cache: Path) -> TrialSpec:
        """Compose what is asked of a trial of compiling."""
        variables = plan.variables | (plan.cache_variables or {})
        spec = self.spec(msgspec.structs.replace(plan, variables=variables), "compile", cache=cache)
        name = f"compile-{state}-{self._names[plan.contender.label]}"
        return msgspec.structs.replace(spec, name=name, cache=state)

    def _start(self, spec: TrialSpec, plan: ContenderPlan) -> Worker:
        """Make the trial's folder and start its worker; what an unfinished run left there is cleared."""
        folder = self._folder / spec.name
        if folder.exists() and not (folder / RECORD_FILE).exists():
            clear_trial(folder)
        write_trial(folder, spec)
        return self._launch(folder, spec, plan.interpreter)

    def _lose(self, spec: TrialSpec, lost: WorkerLostError) -> None:
        """Write the record of a worker that could not write its own."""
        folder = self._folder / spec.name
        if not (folder / RECORD_FILE).exists():
            if lost.outcome == "failed":
                # A worker that can still tell of its failure has written it down, unless it cannot write.
                raise StoreError(lost.reason) from lost
            record = Record(
                trial=spec,
                outcome=lost.outcome,
                reason=lost.reason,
                detail=lost.detail,
                started_at=datetime.now(UTC).isoformat(timespec="seconds"),
                machine=describe(),
                variables=spec.variables,
            )
            write_record(folder, record)
            shutil.rmtree(folder / CACHE_FOLDER, ignore_errors=True)
        self._tell_end(spec)

    def _record(self, spec: TrialSpec) -> Record:
        """Read what a trial left."""
        return read_record(self._folder / spec.name)

    def _tell_start(self, spec: TrialSpec) -> None:
        self._observe(TrialStarted(spec.name, spec.contender.label, spec.purpose))

    def _tell_end(self, spec: TrialSpec) -> None:
        record = self._record(spec)
        seconds = time.monotonic() - self._began
        event = TrialEnded(spec.name, spec.contender.label, spec.purpose, record.outcome, record.reason, seconds)
        self._observe(event)


def _step_s(warm_ns: list[int]) -> float:
    """Estimate a step's time from the second half of the warm steps: the first may still be warming up."""
    return max(SHORTEST_STEP_S, statistics.median(warm_ns[len(warm_ns) // 2 :]) / 1e9)


def _quit(worker: Worker) -> None:
    """Have a worker write its record and end."""
    worker.ask(protocol.Quit(), QUIT_LIMIT_S)

"""The worker's loop: obeys WARM, RUN and the rest, and leaves a record."""

from __future__ import annotations

import os
import platform
import shutil
import time
import traceback
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.measure import contention, memory
from bakeoff.measure.clock import Stepper, collected_garbage, monotonic
from bakeoff.measure.machine import describe
from bakeoff.measure.selftest import TimerProbe
from bakeoff.measure.system_settings import weather
from bakeoff.spec import protocol
from bakeoff.spec import record as records
from bakeoff.spec.errors import StoreError, UnavailableError, UnsupportedError
from bakeoff.spec.selftest import Profiled, TimerTest
from bakeoff.spec.trial import CACHE_FOLDER, KINDS, TrialSpec
from bakeoff.store.files import TRIAL_FILE, write_record
from bakeoff.trial import ready_made
from bakeoff.trial.epochs import LongRun
from bakeoff.trial.evidence import gather
from bakeoff.trial.feeding import examined, feed_of, mode_of, resident
from bakeoff.trial.framework import make_engine, set_variables
from bakeoff.trial.inputs import batches_of
from bakeoff.trial.model import make_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.frameworks.engine import Feed, Model, Step
    from bakeoff.trial.channel import Channel

DETAIL_CHARACTERS = 4000
"""How much of a traceback a record keeps: its end, where the cause is."""

FEWEST_STEPS = 3
"""Of a memory trial: the second step is the first that finds the buffers of the one before it."""

MEMORY_S = 5.0
"""After this time a memory trial runs no more steps than these: with long steps, each is all that there is to see."""


class TrialProcess:
    """One trial in this process."""

    def __init__(self, folder: Path, *, started_ns: int) -> None:
        """Read what is asked; `started_ns` is how long the interpreter took to start."""
        self._folder = folder
        self._trial = msgspec.json.decode((folder / TRIAL_FILE).read_bytes(), type=TrialSpec)
        self._facts: dict[str, Any] = {"start_ns": started_ns}
        self._blocks: list[records.Block] = []
        self._warm_ns: list[int] = []
        self._fenced_ns: list[int] = []
        self._timer_tests: list[TimerTest] = []
        self._long_run = LongRun()
        self._feed: Feed | None = None
        self._compiled_before: records.Compilation | None = None
        self._resources = ExitStack()
        self._started_at = datetime.now(UTC).isoformat(timespec="seconds")

    def serve(self, channel: Channel) -> int:
        """Obey until QUIT; give the exit code. A parent that is gone leaves no record: the trial was not finished."""
        answer = self.start()
        channel.send(answer)
        while not isinstance(answer, protocol.Failed) and (command := channel.receive()) is not None:
            answer = self.obey(command)
            channel.send(answer)
            if isinstance(command, protocol.Quit):
                return 0
        return 1

    def start(self) -> protocol.Answer:
        """Import the framework; any failure of a trial is a recorded outcome."""
        try:
            return self._import()
        except Exception as error:  # noqa: BLE001 - whatever it is, the record tells it
            return self._fail(error)

    def obey(self, command: protocol.Command) -> protocol.Answer:
        """Do one command; any failure of a trial is a recorded outcome."""
        try:
            return self._do(command)
        except Exception as error:  # noqa: BLE001 - whatever it is, the record tells it
            return self._fail(error)

    def _import(self) -> protocol.Ready:
        """Import the framework, configured but with nothing built."""
        set_variables(self._trial.variables)
        watched = set(self._trial.watched) - self._trial.variables.keys()
        self._facts["inherited"] = {name: os.environ[name] for name in sorted(watched & os.environ.keys())}
        if self._trial.contender.options.get("malloc") == "fresh":
            memory.freshen_malloc()
        else:
            memory.settle_malloc()
        began = time.perf_counter_ns()
        try:
            self._engine, self._clock = make_engine(Path(self._trial.framework_path))
        except Exception as error:
            msg = f"{self._trial.contender.framework} cannot be imported: {type(error).__name__}: {error}"
            raise UnavailableError(msg) from error
        self._engine.configure(self._trial.contender.options)
        self._facts["import_ns"] = time.perf_counter_ns() - began
        self._facts["versions"] = self._engine.versions()
        self._baseline_bytes = memory.resident_bytes()
        self._batches = batches_of(self._trial)
        return protocol.Ready(import_ns=self._facts["import_ns"])

    def _do(self, command: protocol.Command) -> protocol.Answer:
        """Do one command."""
        match command:
            case protocol.Build():
                return self._build()
            case protocol.Warm() | protocol.Fence():
                return self._run_fenced(command)
            case protocol.RunBlock():
                return self._run_block(command)
            case protocol.CheckTimer():
                return self._test_timer(command)
            case protocol.RunEpoch(steps=steps):
                return self._long_run.epoch(self._stepper, steps, self._counters)
            case protocol.Quit():
                self._finish()
            case _:
                self._find_out(command)
        return protocol.Done()

    def _find_out(self, command: protocol.Command) -> None:
        """Put something into the record that is not timed."""
        match command:
            case protocol.Conclude():
                self._facts["epochs"] = self._long_run.conclude(self._step, self._trial, self._batches)
            case protocol.Certify():
                self._facts["evidence"] = self._gather()
            case protocol.MeasureMemory(steps=steps):
                self._facts["memory"] = self._measure_memory(steps)
            case protocol.NoteEnergy() | protocol.NoteGpu() | protocol.NoteGpuMemory():
                self._put_down(command)

    def _put_down(self, seen: protocol.NoteEnergy | protocol.NoteGpu | protocol.NoteGpuMemory) -> None:
        """Keep what the parent saw from outside."""
        match seen:
            case protocol.NoteEnergy(joules=joules, steps=steps, source=source):
                self._facts["energy"] = records.EnergyReading(joules=joules, steps=steps, source=source)
            case protocol.NoteGpu(states=states):
                self._facts["gpu"] = states
            case protocol.NoteGpuMemory(peak_bytes=peak_bytes, readings=readings, reason=reason):
                self._facts["memory"] = msgspec.structs.replace(
                    self._facts["memory"],
                    device_process_bytes=peak_bytes,
                    device_readings=readings,
                    device_reason=reason,
                )

    def _build(self) -> protocol.Answer:
        """Build the step, put the batches on the device and run it once."""
        self._model: Model | None = make_model(self._trial)
        self._is_ready_made = bool(ready_made.name(self._trial))
        began = self._clock()
        self._step: Step = self._make_step(self._model)
        self._facts["build_ns"] = self._clock() - began
        if KINDS[self._trial.purpose].steps:
            # The canonical weights are bakeoff's own: a user's process does not hold them beside the model.
            self._model = None
            self._feed = feed_of(self._trial, self._step, self._batches)
            batches = self._feed or resident(self._step, self._batches)
            memory.reset_peak()
            self._stepper = Stepper(self._step, batches, self._clock)
            self._compiled_before = self._step.compilation()
            self._facts["first_step_ns"] = self._stepper.fenced(1)[0]
            self._facts["compilation"] = _between(self._compiled_before, self._step.compilation())
            self._resources.enter_context(collected_garbage())
        return protocol.Built(build_ns=self._facts["build_ns"], first_step_ns=self._facts.get("first_step_ns", 0))

    def _make_step(self, model: Model) -> Step:
        """Build the workload's model, or the ready-made one."""
        if self._is_ready_made:
            return ready_made.build(self._trial, model)
        return self._engine.build(model, self._trial.scenario, self._trial.contender.options)

    def _run_fenced(self, command: protocol.Warm | protocol.Fence) -> protocol.Warmed:
        """Run steps and wait for each: those of a warm-up, or behind a lead-in those of the fenced clock."""
        if isinstance(command, protocol.Fence):
            self._stepper.streamed(command.lead)
        durations = self._stepper.fenced(command.steps, command.seconds, command.limit)
        kept = self._fenced_ns if isinstance(command, protocol.Fence) else self._warm_ns
        kept += durations
        return protocol.Warmed(steps_ns=durations)

    def _run_block(self, command: protocol.RunBlock) -> protocol.Ran:
        """Run a lead-in and a timed part, with the counters read around the two."""
        before = self._counters()
        _, lead_ns = self._stepper.streamed(command.lead)
        first_step = self._stepper.steps_run
        compiled_before = self._step.compilation()
        steps_ns, elapsed_ns = self._stepper.streamed(command.steps)
        compiled = _between(compiled_before, self._step.compilation())
        after = self._counters()
        self._blocks.append(
            records.Block(
                turn=command.turn,
                first_step=first_step,
                lead_steps=command.lead,
                lead_ns=lead_ns,
                steps_ns=steps_ns,
                elapsed_ns=elapsed_ns,
                signals=contention.between(before, after),
                compilations=compiled.count,
            )
        )
        return protocol.Ran(steps=command.steps, elapsed_ns=elapsed_ns)

    def _counters(self) -> contention.Counters:
        """Read the counters of the machine and of this process, with those that load for it."""
        return contention.read(self._feed.processes() if self._feed else ())

    def _test_timer(self, command: protocol.CheckTimer) -> protocol.Tested:
        """Run one pass of the timer's self-test."""
        trains = self._trial.scenario == "train"
        fetch = self._step.result if trains else partial(self._step.outputs, self._step.prepare(*self._batches.at(0)))
        probe = TimerProbe(self._stepper, self._clock, fetch, self._profile)
        test = probe.read(
            steps=command.steps,
            pairs=command.pairs,
            profiled_steps=command.profiled_steps,
            profiles=command.profiles,
        )
        self._timer_tests.append(test)
        return protocol.Tested(test=test)

    def _profile(self, work: Callable[[], None]) -> Profiled:
        """Do some steps under the framework's profiler; one that fails tells why, and is no finding about the clock."""
        if not hasattr(self._step, "profiled"):
            return Profiled(None, "this framework's engine asks no profiler")
        try:
            return self._step.profiled(work)
        except Exception as error:  # noqa: BLE001 - profilers fail in every way, and the record tells it
            return Profiled(None, f"its profiler failed: {type(error).__name__}: {error}")

    def _gather(self) -> records.Evidence:
        """Compute the evidence on a step that was not run yet."""
        assert self._model is not None
        fed = examined(self._trial, self._step, self._batches)
        evidence = gather(self._engine, self._step, self._model, self._trial, self._batches, self._folder)
        return msgspec.structs.replace(evidence, fed=fed)

    def _measure_memory(self, steps: int) -> records.Memory:
        """Run steps, at most so many, and read the peaks; nothing else is measured in this process."""
        self._stepper.fenced(FEWEST_STEPS, MEMORY_S, steps)
        device = self._step.device_memory()
        return records.Memory(
            baseline_bytes=self._baseline_bytes,
            peak_bytes=memory.peak_resident_bytes(),
            device_peak_bytes=device.peak_bytes,
            device_reserved_bytes=device.reserved_bytes,
            device_preallocation=device.preallocation,
            steps=self._stepper.steps_run,
        )

    def _finish(self) -> None:
        """Read back what is known only in the end, and write the record."""
        self._facts["settings"] = self._step.settings() | {"malloc": memory.malloc_state()} | self._close_feed()
        if self._compiled_before is not None:
            self._facts["compilations"] = _between(self._compiled_before, self._step.compilation()).count
        self._write("done")

    def _close_feed(self) -> dict[str, str | int | float | bool | None]:
        """Read back how batches came, and end what loads them."""
        if self._feed is None:
            return {}
        settings = self._feed.settings()
        self._feed.close()
        return {"input": mode_of(self._trial)} | settings

    def _fail(self, error: Exception) -> protocol.Failed:
        """Record a failure; one to write is no finding about the contender: the parent hears of it, with no record."""
        if isinstance(error, StoreError):
            return protocol.Failed(reason=str(error))
        outcome: records.TrialOutcome = "failed"
        if isinstance(error, UnsupportedError):
            outcome = "unsupported"
        elif isinstance(error, UnavailableError):
            outcome = "unavailable"
        elif self._is_out_of_memory(error):
            outcome = "out-of-memory"
        known = isinstance(error, UnsupportedError | UnavailableError)
        reason = str(error) if known else f"{type(error).__name__}: {error}"
        detail = "".join(traceback.format_exception(error))[-DETAIL_CHARACTERS:]
        try:
            self._write(outcome, reason, detail)
        except StoreError as store_error:
            reason = f"{store_error}, after {reason}"
        return protocol.Failed(reason=reason)

    def _is_out_of_memory(self, error: BaseException | None) -> bool:
        """Tell whether memory was at its end: by Python's own error, the framework's, or one that such a one caused."""
        # An engine that failed to be made, or that was written without the method, tells nothing.
        told = getattr(getattr(self, "_engine", None), "is_out_of_memory", lambda _: False)
        while error is not None:
            if isinstance(error, MemoryError) or told(error):
                return True
            error = error.__cause__
        return False

    def _write(self, outcome: records.TrialOutcome, reason: str = "", detail: str = "") -> None:
        """Write the record and clear what the framework cached for this trial."""
        self._resources.close()
        record = records.Record(
            trial=self._trial,
            outcome=outcome,
            reason=reason,
            detail=detail,
            started_at=self._started_at,
            machine=describe(),
            weather=weather(),
            python=platform.python_version(),
            variables=self._trial.variables,
            warm_steps_ns=self._warm_ns,
            blocks=self._blocks,
            fenced_steps_ns=self._fenced_ns,
            timer=self._timer_tests,
            clock="monotonic" if getattr(self, "_clock", monotonic) is monotonic else "virtual",
            **self._facts,
        )
        write_record(self._folder, record)
        shutil.rmtree(self._folder / CACHE_FOLDER, ignore_errors=True)


def _between(before: records.Compilation, after: records.Compilation) -> records.Compilation:
    """Give what was traced and compiled between two readings."""
    names = ("trace_ns", "compile_ns", "count")
    return records.Compilation(**{name: _difference(getattr(before, name), getattr(after, name)) for name in names})


def _difference(before: int | None, after: int | None) -> int | None:
    """Subtract where both are known."""
    return None if before is None or after is None else after - before

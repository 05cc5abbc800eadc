"""What a worker does for each command but BUILD and QUIT: one function a command, found by the command's type.

A handler notes what it measured in the record's draft and returns an answer, or None where there is nothing to say but
that it is done. A new kind of measurement is one more function here and its line in the table at the end.
"""

from __future__ import annotations

import statistics
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.measure import contention, memory
from bakeoff.measure.selftest import TimerProbe
from bakeoff.spec import protocol
from bakeoff.spec.evidence import Evidence
from bakeoff.spec.record import Memory, Record
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.selftest import Profiled
from bakeoff.spec.trial import KINDS
from bakeoff.store.evidence import EVIDENCE_FILE, checked_arrays
from bakeoff.store.files import write_atomically
from bakeoff.trial import blocks, explain, groups, late, peaks
from bakeoff.trial.built import Running, Unrun
from bakeoff.trial.evidence import gather, with_spread
from bakeoff.trial.feeding import input_pass
from bakeoff.trial.opened import Opened
from bakeoff.trial.tied import REPEATED_STEPS
from bakeoff.workloads import plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from bakeoff.frameworks.engine import Step
    from bakeoff.trial.draft import Draft


class _MemorySteps(msgspec.Struct, frozen=True):
    """How long a memory trial runs."""

    fewest: int = 3  # the second step is the first that finds the buffers of the one before it
    most_s: float = 5.0  # after that no more steps than these: with long steps, each is all that there is to see


_MEMORY = _MemorySteps()

MATRIX_AXES = 2
"""An array of parameters with more axes is the kernel of a convolution."""

IDLE_WAITS = 21
"""How often nothing is waited for, to know what a wait costs by itself: the median of so many leaves out the first,
which may find the code cold, and what interrupts a few."""


def warm(running: Running, draft: Draft, command: protocol.Warm) -> protocol.Warmed:
    """Run the steps of a warm-up and wait for each; in a trial that saves its state, do that on the way."""
    durations = _until_saved(running, draft)
    left_s = max(0.0, command.seconds - sum(durations) * 1e-9)
    steps, limit = (max(0, count - len(durations)) for count in (command.steps, command.limit))
    if durations:  # behind the saved state at least those that are repeated in the end
        steps, limit = max(steps, REPEATED_STEPS), max(limit, REPEATED_STEPS)
    rest = msgspec.structs.replace(command, steps=steps, seconds=left_s, limit=limit)
    durations += running.ties.warm(running.stepper, rest)
    draft.append("warm_steps_ns", *durations)
    if begun := running.ties.begun():
        draft.put(tie=begun)
    return protocol.Warmed(steps_ns=durations)


def _until_saved(running: Running, draft: Draft) -> list[int]:
    """Run the steps until the state is saved, read the peak of the memory, and save it; return the steps' times."""
    if not KINDS[running.opened.trial.purpose].saves or running.saved.is_saved:
        return []
    missing = max(0, running.opened.trial.snapshot_steps() - running.stepper.position)
    durations = running.ties.warm(running.stepper, protocol.Warm(steps=missing))
    with suppress(Exception):  # A memory that cannot be read costs no race.
        draft.put(memory=_memory(running))
    running.saved.save()
    return durations


def fence(running: Running, draft: Draft, command: protocol.Fence) -> protocol.Warmed:
    """Run a lead-in, and then steps that are each waited for, and those that complete the tie."""
    running.ties.keep_block(running.stepper)
    running.stepper.streamed(command.lead)
    running.saved.put_back()
    durations = running.stepper.fenced(command.steps, command.seconds, command.limit)
    draft.append("fenced_steps_ns", *durations)
    draft.put(wait_ns=round(statistics.median(running.stepper.idle_waits(IDLE_WAITS))))
    _conclude_ties(running, draft)
    return protocol.Warmed(steps_ns=durations)


def _conclude_ties(running: Running, draft: Draft) -> None:
    """Run the steps behind all that is timed; raise ModelFileError where their lines are others than over shapes."""
    watch = running.watch
    draft.put(tie=running.ties.conclude(running.stepper, watch.noting() if watch else nullcontext()))
    if watch:
        watch.check()


def run_block(running: Running, draft: Draft, command: protocol.RunBlock) -> protocol.Ran:
    """Run a lead-in and a timed part."""
    block = blocks.timed(
        running,
        running.saved,
        lead=command.lead,
        steps=command.steps,
        turn=command.turn,
        repeats=command.repeats,
        together=command.together,
    )
    draft.append("blocks", block)
    began_ns = running.stepper.began_ns if command.together else None
    return protocol.Ran(steps=command.steps, elapsed_ns=block.elapsed_ns, signals=block.signals, began_ns=began_ns)


def check_timer(running: Running, draft: Draft, command: protocol.CheckTimer) -> protocol.Tested:
    """Run one pass of the timer's self-test."""
    step, opened = running.step, running.opened
    has_loss = SCENARIOS[opened.trial.scenario].has_loss
    fetch = getattr(step, "fetch_all", step.result)
    if not has_loss:
        fetch = partial(step.outputs, step.prepare(opened.batches.at(0)))
    probe = TimerProbe(running.stepper, opened.clock, fetch, partial(_profile, step), running.saved.put_back)
    test = probe.read(
        steps=command.steps,
        pairs=command.pairs,
        profiled_steps=command.profiled_steps,
        profiles=command.profiles,
    )
    draft.append("timer", test)
    return protocol.Tested(test=test)


def _profile(step: Step, work: Callable[[], None]) -> Profiled:
    """Do some steps under the framework's profiler; a profiler that fails is no finding about the clock."""
    if not hasattr(step, "profiled"):
        return Profiled(None, "this framework's engine asks no profiler")
    try:
        return step.profiled(work)
    except Exception as error:  # noqa: BLE001 - profilers fail in every way, and the record says how
        return Profiled(None, f"its profiler failed: {type(error).__name__}: {error}")


def measure_late(running: Running, draft: Draft, command: protocol.MeasureLate) -> None:
    """Note what a step costs early and late in training."""
    draft.put(late=late.reading(running, command))
    _conclude_ties(running, draft)


def explain_steps(running: Running, draft: Draft, command: protocol.Explain) -> None:
    """Note what a step's time goes to."""
    draft.put(traced=explain.reading(running, command, draft.folder))


def run_epoch(running: Running, draft: Draft, command: protocol.RunEpoch) -> protocol.Ran:
    """Run one epoch of a run of whole epochs."""
    del draft
    counters = partial(_counters, running)
    return running.long_run.epoch(running.stepper, command.steps, counters, running.step.compilation)


def _counters(running: Running) -> contention.Counters:
    """Return the counters of this process and of those that load for it."""
    return contention.read(running.processes())


def conclude_epochs(running: Running, draft: Draft, command: protocol.Conclude) -> None:
    """Note the epochs that were run, with the loss and the accuracy at their end."""
    del command
    opened = running.opened
    draft.put(epochs=running.long_run.conclude(running.step, opened.trial, opened.batches))
    draft.put(tie=running.ties.begun())  # one step more, and its copies, might lose a run of hours


def certify(unrun: Unrun, draft: Draft, command: protocol.Certify) -> None:
    """Compute the evidence."""
    del command
    opened, step = unrun.opened, unrun.step
    assert step is not None  # evidence is computed before any spread is measured
    seen = input_pass(opened.trial, step, opened.batches)
    with _eased(unrun):
        evidence = gather(
            opened.engine, step, unrun.model, opened.trial, opened.batches, draft.folder, watch=unrun.watch
        )
    held = Memory(baseline_bytes=opened.baseline_bytes, peak_bytes=memory.peak_resident_bytes())
    if opened.trial.contender.device != "cpu":
        with suppress(Exception):  # A memory that cannot be read costs no race: its workers run one after another.
            held = _held(opened, step, memory.peak_resident_bytes())
    draft.put(memory=held)
    draft.put(evidence=msgspec.structs.replace(evidence, input_pass=seen))


def measure_spread(unrun: Unrun, draft: Draft, command: protocol.MeasureSpread) -> None:
    """Measure how far the evidence moves with the parameters, and note it beside the evidence.

    Raises DamagedError where the arrays of an earlier trial's evidence are others by now.
    """
    if command.evidence is not None:
        content = checked_arrays(Path(command.arrays), command.evidence.arrays_sha256)
        write_atomically(draft.folder / EVIDENCE_FILE, content)
        draft.put(evidence=command.evidence)
    unrun.release(draft)  # with Adam's state it is as large as four copies of the parameters, and draws make another
    opened = unrun.opened
    sides = opened.engine, unrun.model, opened.trial, opened.batches, draft.folder
    with _eased(unrun):
        draft.put(evidence=with_spread(draft.known("evidence", Evidence), *sides, precision=command.precision))


def _eased(unrun: Unrun) -> AbstractContextManager[Any]:
    """Return the context in which the float64 of a model with convolutions costs less, in an engine that has one."""
    arrays = plan.parameters(unrun.model.build, unrun.model.size)  # not the weights, which are held for draws alone
    has_kernels = any(len(array.shape) > MATRIX_AXES for array in arrays.values())
    engine, purpose = unrun.opened.engine, unrun.opened.trial.purpose
    return engine.easing(purpose) if has_kernels and hasattr(engine, "easing") else nullcontext()


def measure_memory(running: Running, draft: Draft, command: protocol.MeasureMemory) -> None:
    """Run steps, at most so many, and read the peaks; nothing else is measured in this process."""
    fewest = max(_MEMORY.fewest, running.opened.trial.pass_steps)  # of batches that differ the largest has the peak
    seconds = _MEMORY.most_s if running.opened.trial.group is None else 0.0  # a group counts, and asks no clock
    running.stepper.fenced(fewest, seconds, command.steps)
    draft.put(memory=_memory(running))


def _memory(running: Running) -> Memory:
    """Return the peaks so far."""
    return _held(running.opened, running.step, running.peak.read_bytes(), running.stepper.position)


def _held(opened: Opened, step: Step, peak_bytes: int | None, steps: int = 0) -> Memory:
    """Return what this process held at most, after so many steps."""
    device = step.device_memory()
    return Memory(
        baseline_bytes=opened.baseline_bytes,
        peak_bytes=peak_bytes,
        device_peak_bytes=device.peak_bytes,
        device_reserved_bytes=device.reserved_bytes,
        device_preallocation=device.preallocation,
        steps=steps,
    )


def measure_peaks(opened: Opened, draft: Draft, command: protocol.MeasurePeaks) -> None:
    """Note how fast this framework computes plain products and sums."""
    del command
    draft.put(peaks=peaks.reading(opened))


def note_gpu_memory(running: Running | Unrun, draft: Draft, command: protocol.NoteGpuMemory) -> None:
    """Note what the parent saw this process hold of GPUs."""
    del running
    draft.amend(
        "memory",
        device_process_bytes=command.peak_bytes,
        device_each_bytes=command.each_bytes,
        device_readings=command.readings,
        device_reason=command.reason,
    )


def note(running: Running, draft: Draft, command: protocol.Note) -> None:
    """Note what the parent has read; raise ValidationError for what is no value of the record's field."""
    del running
    types = {field.name: field.type for field in msgspec.structs.fields(Record)}
    draft.put(**{name: msgspec.convert(value, types[name]) for name, value in command.facts.items()})


State = type[Running | Unrun | Opened] | tuple[type[Running | Unrun | Opened], ...]
"""What a trial has to be for a command."""

HANDLERS: dict[type[Any], tuple[State, Callable[..., protocol.Answer | None]]] = {
    protocol.Warm: (Running, warm),
    protocol.Fence: (Running, fence),
    protocol.RunBlock: (Running, run_block),
    protocol.CheckTimer: (Running, check_timer),
    protocol.MeasureLate: (Running, measure_late),
    protocol.Explain: (Running, explain_steps),
    protocol.RunEpoch: (Running, run_epoch),
    protocol.Conclude: (Running, conclude_epochs),
    protocol.Certify: (Unrun, certify),
    protocol.MeasureSpread: (Unrun, measure_spread),
    protocol.MeasureMemory: (Running, measure_memory),
    protocol.MeasurePeaks: (Opened, measure_peaks),
    protocol.NoteGroup: (Running, groups.note_block),
    protocol.Report: ((Running, Unrun, Opened), groups.report),
    protocol.Gather: ((Running, Unrun, Opened), groups.gather),
    protocol.NoteGpuMemory: ((Running, Unrun), note_gpu_memory),
    protocol.Note: (Running, note),
}
"""For each command, the state that a trial has to be in, and what is done."""


def handle(built: Unrun | Running | Opened | None, draft: Draft, command: protocol.Command) -> protocol.Answer:
    """Do one command; raise RuntimeError where the trial is not in the state that the command needs."""
    state, handler = HANDLERS[type(command)]
    if not isinstance(built, state):
        needed = " or ".join(one.__name__ for one in (state if isinstance(state, tuple) else (state,)))
        msg = f"{type(command).__name__} needs a trial that is {needed}; this one is {type(built).__name__}"
        raise RuntimeError(msg)  # noqa: TRY004 - a wrong order of commands, no wrong type
    return handler(built, draft, command) or protocol.Done()

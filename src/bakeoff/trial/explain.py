"""What a step's time goes to: blocks under the framework's profiler beside blocks without it, in one process."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from bakeoff.spec.explained import Traced
from bakeoff.spec.group import devices_of
from bakeoff.trial.sweep import shares, swept, typical

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any

    from bakeoff.frameworks.tracing import Trace, Tracer
    from bakeoff.spec.protocol import Explain
    from bakeoff.trial.built import Running

    Mark = Callable[[], AbstractContextManager[Any]]

TRACE_FOLDER = "trace"
"""The subfolder of a trial for the raw files of its first trace: the others say the same, and would take more room."""

NO_TRACER = "bakeoff does not read this framework's profiler"
NO_STEPS = "the profiler saw none of the steps"


def reading(running: Running, command: Explain, folder: Path) -> Traced:
    """Run the blocks and return what the traces say; only plain blocks are run where there is no profiler to read."""
    tracer = running.tracer
    if tracer is None or tracer.level == "none":
        why = NO_TRACER if tracer is None else tracer.reason
        plain = [_block(running, command) for _ in range(command.pairs)]
        return Traced(level="none", reason=why, plain_ns=plain)
    tracer.counts = command.counts
    plain, profiled = [], []
    group = running.opened.trial.group
    is_first = group is None or group.rank == 0  # its record is the group's, and so are its raw files
    for pair in range(command.pairs):
        if pair % 2 == 0:
            plain.append(_block(running, command))
        kept = folder if pair == 0 and is_first else None
        profiled.append(_profiled(running, tracer, command, kept))
        if pair % 2:
            plain.append(_block(running, command))
    read = _read(profiled, _threads(running), has_feed=running.feed is not None)
    level, reason = (tracer.level, tracer.reason) if read.shares else ("none", NO_STEPS)
    return msgspec.structs.replace(read, plain_ns=plain, level=level, reason=reason)


def _block(running: Running, command: Explain) -> list[int]:
    """Run one block as it is; return the time of each step."""
    _lead_in(running, command)
    return running.stepper.marked(command.steps)[0]


def _lead_in(running: Running, command: Explain) -> None:
    """Run steps that are not timed, and put the saved state of training back."""
    running.stepper.streamed(command.lead)
    running.saved.put_back()


class _Profiled(NamedTuple):
    """A block under the profiler."""

    steps_ns: list[int]
    inputs_ns: list[int]
    """Of each step, how long its batch took to come."""
    trace: Trace


def _profiled(running: Running, tracer: Tracer, command: Explain, kept: Path | None) -> _Profiled:
    """Run one block under the profiler; its raw files are kept in this folder, if one is given."""
    _lead_in(running, command)
    steps_ns: list[int] = []
    inputs_ns: list[int] = []

    def work(mark: Mark) -> None:
        for seen, times in zip((steps_ns, inputs_ns), running.stepper.marked(command.steps, mark), strict=True):
            seen.extend(times)

    with TemporaryDirectory(prefix="bakeoff-trace-") as passing:
        folder = Path(passing) if kept is None else kept / TRACE_FOLDER
        folder.mkdir(exist_ok=True)
        trace = tracer.trace(running.step, work, folder)
    files = [] if kept is None else [f"{TRACE_FOLDER}/{name}" for name in trace.files]
    return _Profiled(steps_ns, inputs_ns, msgspec.structs.replace(trace, files=files))


def _threads(running: Running) -> int:
    """Return how many threads compute at most, as the framework has them in force: those of each device here."""
    threads = running.step.settings().get("threads")
    trial = running.opened.trial
    devices = devices_of(trial.options) if trial.group is None else 1
    return devices * max(1, int(threads)) if isinstance(threads, int | float) else devices


def _read(profiled: list[_Profiled], threads: int, *, has_feed: bool) -> Traced:
    """Return what the typical steps of all traces say."""
    steps = []
    for block in profiled:
        found = swept(block.trace, threads)
        if has_feed and len(found) == len(block.inputs_ns):
            for step, input_ns in zip(found, block.inputs_ns, strict=True):
                step.waited(input_ns)
        steps += found
    kept = typical(steps)
    traces = [block.trace for block in profiled]
    return Traced(
        level="layers",
        profiled_ns=[block.steps_ns for block in profiled],
        steps=len(steps),
        kept=len(kept),
        kept_ns=sum(step.length_ns for step in kept) / max(1, len(kept)),
        shares=shares(kept),
        events_per_step=sum(step.events for step in kept) / max(1, len(kept)),
        notes=list(dict.fromkeys(note for trace in traces for note in trace.notes)),
        facts={name: fact for trace in traces for name, fact in trace.facts.items()},
        stages=next((trace.stages for trace in traces if trace.stages), []),
        files=[name for trace in traces for name in trace.files],
    )

"""The protocol between the parent and a worker: commands as JSON lines on the worker's own pipe, and its answers."""

from __future__ import annotations

from typing import Any

import msgspec

from bakeoff.spec.evidence import Evidence
from bakeoff.spec.record import ReplicaReport, Signals
from bakeoff.spec.selftest import TimerTest

# --- What the parent says to a worker, as JSON lines on the worker's own pipe -------------------------------------


class Build(msgspec.Struct, frozen=True, tag="BUILD"):
    """Build the step and run it once; the parent sends this to one worker after another, so none disturbs another."""


class Warm(msgspec.Struct, frozen=True, tag="WARM"):
    """Run at least `steps` steps and for at least `seconds`, waiting for each; at most `limit` steps.

    In a timed trial, the state of training after `TrialSpec.snapshot_steps` steps is saved on the way.
    """

    steps: int
    seconds: float = 0.0
    limit: int = 1_000_000


class RunBlock(msgspec.Struct, frozen=True, tag="RUN"):
    """Run one block: `lead` steps that are not timed, then `steps` that are, waiting once after each part.

    Where the warm-up has saved the state of training, it is put back between the two, outside of the timed part.
    """

    lead: int
    steps: int
    turn: int
    """Which pass over the contenders this block belongs to; blocks of one turn are neighbours in time."""
    repeats: int | None = None
    """The turn that this one repeats, because other processes disturbed it."""
    together: bool = False
    """In a group: answer Poised before the timed part, and begin it with Go."""


class Beside(msgspec.Struct, frozen=True, tag="BESIDE"):
    """Note the processes of the group's other replicas: their processor time is the contender's own."""

    pids: list[int]


class Go(msgspec.Struct, frozen=True, tag="GO"):
    """Begin the timed part: all replicas of the group are poised."""


class NoteGroup(msgspec.Struct, frozen=True, tag="GROUP"):
    """Record the last block's time in the whole group, and in each of its replicas, in the order of their ranks."""

    elapsed_ns: int
    replicas_ns: list[int]


class Report(msgspec.Struct, frozen=True, tag="REPORT"):
    """Return what this replica has computed, behind all that was asked of the trial."""


class Gather(msgspec.Struct, frozen=True, tag="GATHER"):
    """Join what the replicas have computed, this one's first: the record is the group's."""

    reports: list[ReplicaReport]


class Fence(msgspec.Struct, frozen=True, tag="FENCE"):
    """Run `lead` untimed steps, put the saved state back, then run steps as WARM does: the fenced clock."""

    lead: int
    steps: int
    seconds: float
    limit: int


class CheckTimer(msgspec.Struct, frozen=True, tag="TIMER"):
    """Run one pass of the timer's self-test, see `bakeoff.spec.selftest.TimerTest`."""

    steps: int
    """Steps of a single block; a double block has twice as many."""
    pairs: int
    """How many single and double blocks are run."""
    profiled_steps: int
    profiles: int
    """How often `profiled_steps` steps are run under the framework's profiler."""


class Certify(msgspec.Struct, frozen=True, tag="CERTIFY"):
    """Compute the evidence and write evidence.npz."""


class MeasureSpread(msgspec.Struct, frozen=True, tag="SPREAD"):
    """Measure how far the evidence moves when parameters are moved by as much as stands for a precision."""

    precision: str
    evidence: Evidence | None = None
    """That of an earlier trial in the same settings; None: this trial's own, which was computed before."""
    arrays: str = ""
    """The file of that trial's arrays."""


class MeasureMemory(msgspec.Struct, frozen=True, tag="MEMORY"):
    """Run at most `steps` steps, fewer where they are long, and read the peak memory."""

    steps: int


class MeasurePeaks(msgspec.Struct, frozen=True, tag="PEAKS"):
    """Time products of matrices and sums of long arrays; nothing of the workload is built."""


class Note(msgspec.Struct, frozen=True, tag="NOTE"):
    """Record what the parent has read while this process worked: values of the record's fields, by their names."""

    facts: dict[str, Any]


class NoteGpuMemory(msgspec.Struct, frozen=True, tag="GPU_MEMORY"):
    """Record the peak memory on NVIDIA GPUs that the parent saw this process hold; None: unknown, for `reason`.

    Of a group's processes, or of a process with several GPUs, that is on the fullest; `each_bytes` has every GPU.
    """

    peak_bytes: int | None
    readings: int
    reason: str
    each_bytes: list[int] | None = None


class MeasureLate(msgspec.Struct, frozen=True, tag="LATE"):
    """Train on to `late_step`, save that state too, and run pairs of blocks from the early and the late state.

    Each block: its state is put back, `lead` steps are not timed, it is put back again, `steps` steps are timed.
    """

    late_step: int
    pairs: int
    lead: int
    steps: int


class Explain(msgspec.Struct, frozen=True, tag="EXPLAIN"):
    """Run pairs of blocks, one under the framework's profiler and one without it, and read what the profiler saw.

    Each block: `lead` steps are not timed, the saved state is put back, `steps` steps are each waited for.
    """

    pairs: int
    """Every second pair begins with the profiled block (ABBA)."""
    lead: int
    steps: int
    counts: bool = True
    """Whether nodes of graphs are counted pass by pass, which may take seconds and tells the same in every trial."""


class RunEpoch(msgspec.Struct, frozen=True, tag="EPOCH"):
    """Run one epoch of `steps` steps and wait once, at its end."""

    steps: int


class Conclude(msgspec.Struct, frozen=True, tag="CONCLUDE"):
    """Read loss and accuracy at the end of a run of whole epochs, and record the run."""


class Quit(msgspec.Struct, frozen=True, tag="QUIT"):
    """Write record.json and end."""


Command = (
    Build
    | Warm
    | RunBlock
    | Fence
    | CheckTimer
    | Certify
    | MeasureSpread
    | MeasureMemory
    | MeasurePeaks
    | Note
    | NoteGpuMemory
    | MeasureLate
    | Explain
    | RunEpoch
    | Conclude
    | Beside
    | Go
    | NoteGroup
    | Report
    | Gather
    | Quit
)


# --- What a worker answers ----------------------------------------------------------------------------------------


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The framework is imported."""

    import_ns: int


class Built(msgspec.Struct, frozen=True, tag="built"):
    """The step exists and has run once."""

    build_ns: int
    first_step_ns: int


class Warmed(msgspec.Struct, frozen=True, tag="warmed"):
    """The time of each step of Warm or Fence, each waited for."""

    steps_ns: list[int]


class Ran(msgspec.Struct, frozen=True, tag="ran"):
    """A block or an epoch has run; `elapsed_ns` is the time of its timed part."""

    steps: int
    elapsed_ns: int
    signals: Signals | None = None
    """What the machine did beside a block."""
    began_ns: int | None = None
    """Of a block in a group: when its timed part began, by a clock that the machine's processes have in common."""


class Tested(msgspec.Struct, frozen=True, tag="tested"):
    """The readings of one pass of the timer's self-test."""

    test: TimerTest


class Poised(msgspec.Struct, frozen=True, tag="poised"):
    """A replica is ready for the timed part of a block."""


class Reported(msgspec.Struct, frozen=True, tag="reported"):
    """What a replica has computed."""

    report: ReplicaReport


class Done(msgspec.Struct, frozen=True, tag="done"):
    """A command that has nothing to report is done."""


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The worker cannot go on; its record holds the same reason."""

    reason: str


Answer = Ready | Built | Warmed | Ran | Tested | Poised | Reported | Done | Failed

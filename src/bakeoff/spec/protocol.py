"""The protocol between the parent and a worker: commands as JSON lines on the worker's own pipe, and its answers."""

from __future__ import annotations

import msgspec

from bakeoff.spec.record import GpuDuringBlock
from bakeoff.spec.selftest import TimerTest

# --- What the parent says to a worker, as JSON lines on the worker's own pipe -------------------------------------


class Build(msgspec.Struct, frozen=True, tag="BUILD"):
    """Build the step and run it once; workers of a round are told one after another, so none disturbs the other."""


class Warm(msgspec.Struct, frozen=True, tag="WARM"):
    """Run steps until there are `steps` of them and `seconds` have passed, waiting for each; at most `limit` steps."""

    steps: int
    seconds: float = 0.0
    limit: int = 1_000_000


class RunBlock(msgspec.Struct, frozen=True, tag="RUN"):
    """Run one block: `lead` steps that are not timed, then `steps` that are, waiting once after each part."""

    lead: int
    steps: int
    turn: int
    """Which pass over the contenders this block belongs to; blocks of one turn are neighbours in time."""


class Fence(msgspec.Struct, frozen=True, tag="FENCE"):
    """Run `lead` steps that are not timed, then steps as WARM does, waiting for each: the fenced clock."""

    lead: int
    steps: int
    seconds: float
    limit: int


class CheckTimer(msgspec.Struct, frozen=True, tag="TIMER"):
    """Put the timer to the test, see `bakeoff.spec.selftest.TimerTest`."""

    steps: int
    """Of a single block."""
    pairs: int
    profiled_steps: int
    profiles: int
    """How often that many steps are run under the framework's profiler."""


class Certify(msgspec.Struct, frozen=True, tag="CERTIFY"):
    """Compute the evidence and write evidence.npz."""


class MeasureMemory(msgspec.Struct, frozen=True, tag="MEMORY"):
    """Run at most `steps` steps, fewer where they are long, and read the peak of the memory."""

    steps: int


class NoteEnergy(msgspec.Struct, frozen=True, tag="ENERGY"):
    """Put down what the parent's meters counted during the steps of the last block."""

    joules: float
    steps: int
    source: str


class NoteGpu(msgspec.Struct, frozen=True, tag="GPU"):
    """Put down what the parent saw of the GPU beside the blocks."""

    states: list[GpuDuringBlock]


class NoteGpuMemory(msgspec.Struct, frozen=True, tag="GPU_MEMORY"):
    """Put down the most that the parent saw this process hold of NVIDIA GPUs; None is unknown, for this reason."""

    peak_bytes: int | None
    readings: int
    reason: str


class RunEpoch(msgspec.Struct, frozen=True, tag="EPOCH"):
    """Run so many steps and wait once, in a run of whole epochs."""

    steps: int


class Conclude(msgspec.Struct, frozen=True, tag="CONCLUDE"):
    """Read loss and accuracy at the end of a run of whole epochs, and put the run down."""


class Quit(msgspec.Struct, frozen=True, tag="QUIT"):
    """Write record.json and end."""


Command = (
    Build
    | Warm
    | RunBlock
    | Fence
    | CheckTimer
    | Certify
    | MeasureMemory
    | NoteEnergy
    | NoteGpu
    | NoteGpuMemory
    | RunEpoch
    | Conclude
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
    """How long each of these steps took, waiting for each."""

    steps_ns: list[int]


class Ran(msgspec.Struct, frozen=True, tag="ran"):
    """One block: `elapsed_ns` is that of its timed part."""

    steps: int
    elapsed_ns: int


class Tested(msgspec.Struct, frozen=True, tag="tested"):
    """What one pass of the timer's self-test read."""

    test: TimerTest


class Done(msgspec.Struct, frozen=True, tag="done"):
    """Certify, Memory or Quit is done."""


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The worker cannot go on; its record says the same."""

    reason: str


Answer = Ready | Built | Warmed | Ran | Tested | Done | Failed

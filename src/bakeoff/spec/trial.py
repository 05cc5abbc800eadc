"""A trial: one fresh process in which one contender does one workload; and the words that its process obeys."""

from __future__ import annotations

from typing import Literal

import msgspec

from bakeoff.spec.contender import Contender
from bakeoff.spec.gpu import GpuState
from bakeoff.spec.selftest import TimerTest
from bakeoff.spec.workload import Scenario

Purpose = Literal["reference", "certify", "memory", "compile", "energy", "selftest", "time", "epochs", "batch"]

CacheState = Literal["", "cold", "warm"]

CACHE_FOLDER = "cache"
"""Within a trial's folder: what the framework compiles or tunes in this trial, private and removed at its end."""


class TrialSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What the parent asks of one worker: trial.json in the trial's folder."""

    version: int = 1
    comparison: str
    name: str
    """The folder's name: reference, certify-torch, memory-torch, compile-cold-torch, r01-torch, epochs1-torch."""
    purpose: Purpose
    round_number: int = 0
    """From 1 on in trials that are timed or whose energy is measured, and in runs of epochs; 0 elsewhere."""
    contender: Contender
    """With every option resolved to the value that is in force."""
    variables: dict[str, str] = {}
    """Environment variables that the worker sets before it imports the framework."""
    watched: tuple[str, ...] = ()
    """Variables of the user's environment to tell of, where they are set."""
    framework_path: str
    """The framework's folder."""
    workload_path: str
    """The workload's file."""
    workload_name: str
    scenario: Scenario
    size: str
    batch_size: int
    seed: int
    inputs_path: str
    """The folder with the batches, see `Inputs`."""
    cache: CacheState = ""
    """In trials of compiling: whether the compiler's cache is empty, or as the cold trial left it."""
    ceiling_bytes: int | None = None
    """In an attempt at a batch size: the process is ended where it holds more than this beyond its import."""
    resident: bool = False
    """True: beside the round's other workers, in alternating blocks."""
    certify_steps: int = 5
    learning_steps: int = 0


class Inputs(msgspec.Struct, frozen=True, kw_only=True):
    """The batches of a comparison, in inputs.json beside the arrays.

    Arrays: x.npy (batches, batch, ...) channels last, y.npy (batches, batch) int32 and, where there are labels to
    learn, x_test.npy (samples, ...) and y_test.npy (samples,). Every contender takes batch i % batches at step i.
    """

    source: str
    """The data source with its version: "digits (scikit-learn 1.9.1)"."""
    batches: int
    sha256: str
    """Of the arrays' bytes, in the order above."""
    has_test: bool = False
    epoch_batches: int = 0
    """That x.npy and y.npy hold: those of the race and, where whole epochs are run, the rest of the data set after
    them."""


# --- What the parent says to a worker, as JSON lines on the worker's own pipe -------------------------------------


class Build(msgspec.Struct, frozen=True, tag="BUILD"):
    """Build the step and run it once; workers of a round are told one after another, so none disturbs the other."""


class Warm(msgspec.Struct, frozen=True, tag="WARM"):
    """Run steps until there are `steps` of them and `seconds` have passed, waiting for each; at most `limit` steps."""

    steps: int
    seconds: float = 0.0
    limit: int = 1_000_000


class Run(msgspec.Struct, frozen=True, tag="RUN"):
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


class SelfTest(msgspec.Struct, frozen=True, tag="TIMER"):
    """Put the timer to the test, see `bakeoff.spec.selftest.TimerTest`."""

    steps: int
    """Of a single block."""
    pairs: int
    profiled_steps: int
    profiles: int
    """How often that many steps are run under the framework's profiler."""


class Certify(msgspec.Struct, frozen=True, tag="CERTIFY"):
    """Compute the evidence and write evidence.npz."""


class Memory(msgspec.Struct, frozen=True, tag="MEMORY"):
    """Run at most `steps` steps, fewer where they are long, and read the peak of the memory."""

    steps: int


class Energy(msgspec.Struct, frozen=True, tag="ENERGY"):
    """Put down what the parent's meters counted during the steps of the last block."""

    joules: float
    steps: int
    source: str


class Gpu(msgspec.Struct, frozen=True, tag="GPU"):
    """Put down what the parent saw of the GPU beside the blocks."""

    states: list[GpuState]


class GpuMemory(msgspec.Struct, frozen=True, tag="GPU_MEMORY"):
    """Put down the most that the parent saw this process hold of NVIDIA GPUs; None is unknown, for this reason."""

    peak_bytes: int | None
    readings: int
    reason: str


class Epoch(msgspec.Struct, frozen=True, tag="EPOCH"):
    """Run so many steps and wait once, in a run of whole epochs."""

    steps: int


class Conclude(msgspec.Struct, frozen=True, tag="CONCLUDE"):
    """Read loss and accuracy at the end of a run of whole epochs, and put the run down."""


class Quit(msgspec.Struct, frozen=True, tag="QUIT"):
    """Write record.json and end."""


Command = Build | Warm | Run | Fence | SelfTest | Certify | Memory | Energy | Gpu | GpuMemory | Epoch | Conclude | Quit


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

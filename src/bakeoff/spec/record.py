"""A record: what one trial leaves. Raw, immutable, versioned; every summary and verdict is computed from records.

Version 1: first.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from bakeoff.spec.selftest import TimerTest
from bakeoff.spec.trial import TrialSpec

RECORD_VERSION = 1

TrialOutcome = Literal["done", "failed", "unsupported", "unavailable", "crashed", "killed", "timeout", "out-of-memory"]
"""How a trial ended.

done         all that was asked
failed       an exception in the worker
unsupported  the framework lacks what was asked; `reason` says what
unavailable  the framework or the interpreter cannot be used; `reason` says why
crashed      the process ended by itself, by an exit code or a signal such as SIGSEGV
killed       by SIGKILL: mostly the kernel, for want of memory
timeout      it did not answer within the time limit of a trial
out-of-memory  the framework said so, or the process was ended for taking more than it may; `reason` says which

A trial that the parent had to end (Ctrl-C, or its own death) leaves no record: it was not finished.
"""


class Signals(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine did during one block; None is unknown here, never zero."""

    wall_ns: int
    cpu_ns: int
    """Processor time of this process, user and system, and of those that load for it."""
    foreign_share: float | None = None
    """Processor time of all other processes over all the processor time there was, 0 to 1."""
    steal_share: float | None = None
    """Processor time that the hypervisor gave to others, 0 to 1."""
    pressure_us: int | None = None
    """Pressure stall information: microseconds in which some task waited for a processor."""
    involuntary_switches: int | None = None
    minor_faults: int | None = None
    major_faults: int | None = None


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Steps that were run without a pause: a lead-in that is not timed, and a timed part."""

    turn: int
    first_step: int
    """How many steps the process had run before the timed part."""
    lead_steps: int
    lead_ns: int
    steps_ns: list[int]
    """For each timed step, the time from the start of the timed part until its dispatch returned."""
    elapsed_ns: int
    """From the start of the timed part until the last result was there: the streamed clock."""
    signals: Signals
    compilations: int | None = None
    """Programs that were traced or compiled within the timed part: a finding wherever it is not 0."""


class Compilation(msgspec.Struct, frozen=True, kw_only=True):
    """What was traced and compiled; 0 where a mode compiles nothing, None where the framework does not tell it apart.

    Tracing is the way from Python to what the compiler is given: traced, differentiated and lowered. Compiling is what
    the compiler makes of that.
    """

    trace_ns: int | None = None
    compile_ns: int | None = None
    count: int | None = None
    """Programs: each of them once for each shape it was compiled for."""


class DeviceMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What a framework tells of its allocator on an accelerator; None is not told, and all of it on a processor."""

    peak_bytes: int | None = None
    """Highest live size."""
    reserved_bytes: int | None = None
    """The most that was taken from the accelerator, in use or not."""
    preallocation: str | None = None
    """What is taken before anything is asked for, in a few words: "none", "0.75 of the GPU"."""


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of a process that did nothing else; None is unknown here."""

    baseline_bytes: int | None = None
    """Resident, after the framework's import."""
    peak_bytes: int | None = None
    """Highest resident size from the first step on; where the system cannot tell, of the process's life."""
    device_peak_bytes: int | None = None
    """Highest live size by the framework's own allocator, on an accelerator."""
    device_reserved_bytes: int | None = None
    """The most that this allocator had taken from the accelerator, in use or not."""
    device_preallocation: str | None = None
    """What it takes before anything is asked of it, as read back from the framework."""
    device_process_bytes: int | None = None
    """The most that the process and its children held of all NVIDIA GPUs, by NVML, seen from outside."""
    device_readings: int = 0
    """How often that was read."""
    device_reason: str = ""
    """Why it is unknown on a GPU."""
    steps: int = 0


class EnergyReading(msgspec.Struct, frozen=True, kw_only=True):
    """What meters outside of the process counted while it ran steps in a row; all that the meters see counts."""

    joules: float
    steps: int
    source: str
    """The meters: "package-0 + GPU 0"."""


class EpochRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run from the first step to the last; the first step's time is the record's `first_step_ns`."""

    steps: list[int]
    """Of each epoch; the first one's leave out the first step, which is timed by itself."""
    epochs_ns: list[int]
    """From the start of each epoch until its last result was there: streamed within, waited for once."""
    foreign_shares: list[float | None] = []
    """Processor time of other processes over all there was, beside each epoch; None is unknown."""
    loss: float | None = None
    """Of the last step, in training; None where it is not finite."""
    accuracy: float | None = None
    """On held-out data after the last step, 0 to 1; None where there is none."""
    test_samples: int = 0
    """Held-out samples that it was counted over."""


class InputPass(msgspec.Struct, frozen=True, kw_only=True):
    """One pass through a contender's own way of input, compared with the batches that every contender is to take."""

    mode: str
    """The option `input`."""
    samples: int
    """How many samples the batches hold."""
    missing: int
    """Samples that did not come, or came with another's targets."""
    unexpected: int = msgspec.field(name="strange")
    """Samples that came and are none of the batches', or came a second time."""
    in_order: bool
    """The samples came in the order of the batches."""


class GpuState(msgspec.Struct, frozen=True, kw_only=True):
    """An NVIDIA GPU during one block, read from outside of the trial's process; None is unknown."""

    turn: int
    readings: int
    clock_mhz: float | None = None
    """Of the multiprocessors, mean."""
    clock_limit_mhz: int | None = None
    memory_clock_mhz: float | None = None
    temperature_c: int | None = None
    """The highest."""
    power_w: float | None = None
    slowed: tuple[str, ...] = ()
    """Why its clock was held below what it can be."""
    other_processes: int | None = None
    """That compute on it and do not belong to the comparison."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a contender computed, for the certificate; the arrays are in evidence.npz.

    Arrays: `output/0`... (batch, ...); `gradient/<parameter>` as `certify.sample` takes it from the gradient in
    canonical layout; `optimizer/<step>/<array>` the parameters after each step of the optimiser on given gradients;
    `state/<name>` what the first training step has added to a running statistic: its value less (1 - momentum) times
    the one before, sampled likewise.
    """

    parameter_shapes: dict[str, tuple[int, ...]]
    """In canonical layout, by name."""
    state_shapes: dict[str, tuple[int, ...]] = {}
    """Of the running statistics, by name; empty in a model that has none."""
    running_variance: Literal["", "biased", "unbiased"] = ""
    """Which variance of the batch they follow; empty where there are none, and in records older than them."""
    losses: list[float | None] = []
    """Of the training trajectory, before step 0, 1, ... on batch 0, 1, ...; None where it is not finite."""
    outputs: int = 0
    """How many arrays output/N there are."""
    ready_made: str = ""
    """What was run in place of the workload's model: "torchvision.models.resnet50"; then there are no gradients."""
    accuracy: float | None = None
    """On held-out data after `learning_steps` training steps, 0 to 1."""
    learning_steps: int = 0
    input_pass: InputPass | None = msgspec.field(default=None, name="fed")
    """What came by the contender's own way of input; None where batches are on the device."""
    arrays_sha256: str = ""
    """Of evidence.npz."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What one trial leaves: record.json."""

    version: int = RECORD_VERSION
    trial: TrialSpec
    outcome: TrialOutcome
    reason: str = ""
    """Why it is not done, in a sentence; empty when it is."""
    detail: str = ""
    """For a failure: the end of the traceback or of the process's output."""
    started_at: str
    """Wall clock in UTC, ISO 8601: for people, never for durations."""
    machine: dict[str, str | int | float | None]
    """What must agree for records to be compared: processor, cores, memory, system, its settings, GPU, driver."""
    weather: dict[str, str | int | float | None] = {}
    """What may change while the machine stays the same, at the trial's end: clock, swap."""
    python: str = ""
    versions: dict[str, str] = {}
    settings: dict[str, str | int | float | bool | None] = {}
    """What was really in force, read back from the framework after the run."""
    variables: dict[str, str] = {}
    """Environment variables that were set for this framework."""
    inherited: dict[str, str] = {}
    """Variables of the user's environment that count for this framework, as they were set when it was imported."""
    clock: Literal["monotonic", "virtual"] = "monotonic"
    start_ns: int | None = None
    """From the start of the process until its first line of bakeoff's code, where the system tells."""
    import_ns: int | None = None
    build_ns: int | None = None
    first_step_ns: int | None = None
    """Trace, compile and run: the first call of the step, waited for."""
    compilation: Compilation | None = None
    """What of the first step was tracing and compiling."""
    compilations: int | None = None
    """Programs that were compiled from the first step to the trial's end."""
    warm_steps_ns: list[int] = []
    """Fenced: each step waited for."""
    blocks: list[Block] = []
    fenced_steps_ns: list[int] = []
    """Each step waited for, in a part of its own after the last block; empty in records that had none."""
    timer: list[TimerTest] = []
    """The passes of the timer's self-test, in a trial of that purpose."""
    memory: Memory | None = None
    energy: EnergyReading | None = None
    epochs: EpochRun | None = None
    """In a trial of whole epochs."""
    gpu: list[GpuState] = []
    """In timed trials on an NVIDIA GPU: one for each block."""
    evidence: Evidence | None = None

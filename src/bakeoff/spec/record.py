"""A record: what one trial leaves. Raw, immutable, versioned; every summary and verdict is computed from records.

Version 1 is the first.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from bakeoff.spec.evidence import Evidence
from bakeoff.spec.explained import Traced
from bakeoff.spec.gpu import GpuDuringBlock
from bakeoff.spec.metric import MetricReading
from bakeoff.spec.peaks import PeakReading
from bakeoff.spec.selftest import TimerTest
from bakeoff.spec.trial import TrialSpec

RECORD_VERSION = 1

NS = 1e-9
"""One nanosecond in seconds: records count nanoseconds, and all that is told of them is in seconds."""

TrialOutcome = Literal[
    "done", "failed", "unsupported", "unavailable", "changed", "crashed", "killed", "timeout", "out-of-memory"
]
"""How a trial ended.

done         the worker did everything that was asked
failed       an exception in the worker
unsupported  the framework lacks what was asked; `reason` says what
unavailable  the framework or the interpreter cannot be used; `reason` says why
changed      what it was to run is not what its comparison was fixed with; `reason` says what
crashed      the process ended by itself, by an exit code or a signal such as SIGSEGV
killed       the process was ended by SIGKILL: mostly by the kernel, for want of memory; see `killed_by`
timeout      the worker did not answer within the time limit of a trial
out-of-memory  the framework said so, or the process was ended for taking more memory than it may; see `reason`

A trial that the parent had to end (Ctrl-C, or its own death) leaves no record: it was not finished.
"""

Killer = Literal["", "kernel", "other"]
"""Who ended a process by SIGKILL: the kernel, which counts what it kills for want of memory, or a process, where the
kernel counted nothing meanwhile; empty where it does not count."""


class Signals(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine did during one block; None is unknown, never zero."""

    wall_ns: int
    cpu_ns: int
    """Processor time of this process, user and system, and of the processes that load data for it."""
    foreign_share: float | None = None
    """Processor time of all other processes, as a share of all processor time in the block: 0 to 1."""
    steal_share: float | None = None
    """Processor time that the hypervisor gave to other machines, as a share: 0 to 1."""
    pressure_us: int | None = None
    """Pressure stall information: microseconds in which some task waited for a processor."""
    involuntary_switches: int | None = None
    minor_faults: int | None = None
    major_faults: int | None = None
    cores: int | None = None
    """The machine's processors, of which shares are told; None in records older than this field."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Steps that were run without a pause: a lead-in that is not timed, and a timed part."""

    turn: int
    repeats: int | None = None
    """The turn that this one repeats, because other processes disturbed it; None for a turn that was planned."""
    first_step: int
    """The steps of training behind the state that the timed part began with: in blocks of a race the same for all. In
    records made before the state was put back, all steps that the process had run."""
    restore_ns: int | None = None
    """How long it took, between lead-in and timed part, to put the saved state of training back; None where it was not,
    as in records older than this field."""
    asked_ns: int = 0
    """How long it took, between lead-in and timed part, to ask what was compiled so far; 0 in older records."""
    lead_steps: int
    lead_ns: int
    steps_ns: list[int]
    """For each timed step, the time from the start of the timed part until its dispatch returned."""
    elapsed_ns: int
    """From the start of the timed part until the last result was there: the streamed clock."""
    signals: Signals
    replicas_ns: list[int] = []
    """In a group of processes, the time of each replica; `elapsed_ns` is from the first start to the last end."""
    compilations: int | None = None
    """Programs that were traced or compiled within the timed part, where none should be."""

    @property
    def restored(self) -> bool:
        """Whether the timed part began with the saved state of training."""
        return self.restore_ns is not None


class Compilation(msgspec.Struct, frozen=True, kw_only=True):
    """Tracing and compiling; 0 where a mode compiles nothing, None where the framework does not report it.

    Tracing turns Python into the compiler's input: traced, differentiated and lowered. Compiling turns that into a
    program.
    """

    trace_ns: int | None = None
    compile_ns: int | None = None
    count: int | None = None
    """Compiled programs; a program counts once for each shape that it was compiled for."""


class DeviceMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What a framework reports of its allocator on an accelerator; None: not reported, as always on a processor."""

    peak_bytes: int | None = None
    """Peak of the live arrays."""
    reserved_bytes: int | None = None
    """Peak of what the allocator had taken from the accelerator, in use or not."""
    preallocation: str | None = None
    """What the allocator takes at its start, in a few words: "none", "0.75 of the GPU"."""


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of a process that is not timed; None is unknown.

    The `device_` fields are about an accelerator: the first three as the framework's own allocator reports them (see
    `DeviceMemory`), the others as the parent read them by NVML.
    """

    baseline_bytes: int | None = None
    """Resident size after the framework's import."""
    peak_bytes: int | None = None
    """Peak resident size from the first step on; where the system cannot reset it, of the whole process."""
    device_peak_bytes: int | None = None
    device_reserved_bytes: int | None = None
    device_preallocation: str | None = None
    device_process_bytes: int | None = None
    """Peak of what the process and its children held on their NVIDIA GPU; in records without a GPU's UUID, on all. Of a
    contender on several GPUs, what all of its processes held on the fullest one."""
    device_each_bytes: list[int] | None = None
    """The same of each GPU of such a contender, in the order of its devices; None with one GPU, too."""
    device_readings: int = 0
    """How often `device_process_bytes` was read."""
    device_reason: str = ""
    """Why `device_process_bytes` is unknown on a GPU."""
    steps: int = 0

    @property
    def beyond_import_bytes(self) -> int | None:
        """The peak beyond what the framework's import had taken; None where either is unknown."""
        if self.peak_bytes is None or self.baseline_bytes is None:
            return None
        return self.peak_bytes - self.baseline_bytes


class Tie(msgspec.Struct, frozen=True, kw_only=True):
    """What a timed trial computed, read outside of every timed part, to be held against the certificate's evidence."""

    losses: list[float | None] = []
    """Losses of the first steps, as `Evidence.losses`; None where not finite; empty in inference."""
    again: float | None = None
    """Loss of one more step, on the batch of step 0, after all others."""
    moved: bool | None = None
    """Whether that step has changed a parameter, of those looked at; None in inference, and in older records."""
    steps: int = 0
    """How many steps had run before that one."""
    drops: bool = False
    """The model draws at random, as Dropout and RandomNormal do: each process has losses of its own."""
    outputs: list[float] = []
    """In inference, `certify.checksum.checksums` of the outputs that the first step has kept; empty where it gives
    none."""
    later: list[list[float]] = []
    """In inference, the same after all others: of streams of two to five steps that are waited for once, by turns with
    the race's last batch at the end, and with its first."""
    from_saved: list[float | None] = []
    """Losses of the first steps from the saved state, in the warm-up; empty in inference, where the warm-up had no more
    steps, and in older records."""
    repeated: list[float | None] = []
    """Losses of as many steps after all others, when that state had been put back."""
    repeated_off: float | None = None
    """How far these steps have left the parameters looked at from where they had left them in the warm-up, in units of
    what they had changed there; or running statistics, where these are farther, in units of their own. 0 where all bits
    are the same; None where they had changed nothing, where that is no number, and in older records."""
    stuck: list[str] = []
    """Arrays of parameters and running statistics of which these steps had changed what is looked at in the warm-up,
    and now change no bit."""
    block_steps: int = 0
    """Steps of the last timed block; 0 where no state can be put back, as with a loader's batches, and in older
    records."""
    block_off: float | None = None
    """How far what that block left is from what as many steps from the same state leave that are each waited for. In
    training of the parameters looked at, in units of what the last of these steps changes; in inference of the outputs'
    checksums, in units of the largest output. 0 where all bits are the same; None where the steps that are waited for
    leave what is not finite, or the last of them changes nothing."""
    grown: list[float] = []
    """Where the block is off by more than `certify.tolerances` allows: how far streams of two, three, ... of its steps
    are off, up to the first that is by more, or to `trial.tied.LONGEST_GROWTH` steps."""
    still: int = 0
    """Of these steps each waited for, how many left to the last bit the loss of the step before and all parameters that
    are looked at."""
    fenced_off: float | None = None
    """The same between two runs of steps that are each waited for: how well this process repeats itself. None where the
    block left the same bits, so that it was not asked, and in inference."""


class EnergyReading(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine's energy meters counted during steps in a row: of everything that ran, not of this process."""

    joules: float
    steps: int
    source: str
    """Names of the meters: "package-0 + GPU 0"."""


class DenormalCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many elements of a group of arrays are denormal, in the type that they are computed in."""

    elements: int
    denormal: int

    @property
    def share(self) -> float:
        """Return the share of them that are denormal, 0 to 1."""
        return self.denormal / self.elements if self.elements else 0.0


class LateReading(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks from two states of one training in one process, an early and a late one, in neighbouring pairs."""

    early_step: int
    """Steps of training behind the early state: that of the race's blocks."""
    late_step: int
    blocks: list[Block] = []
    """`turn` counts the pairs from 0, `first_step` says which state; ABBA: every second pair begins with the late."""
    early: dict[str, DenormalCount] = {}
    """In the early state: "parameters", "gradients" where they can be read, and the optimiser's arrays by kind, as in
    `bakeoff.frameworks.slots`."""
    late: dict[str, DenormalCount] = {}


class EpochRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run from the first step to the last; the first step's time is the record's `first_step_ns`."""

    steps: list[int]
    """Steps of each epoch; the first epoch leaves out the very first step, which is timed by itself."""
    epochs_ns: list[int]
    """Time of each epoch, from its start until its last result was ready: it is waited for once."""
    foreign_shares: list[float | None] = []
    """During each epoch, processor time of other processes as a share of all; None is unknown."""
    compilations: list[int | None] = []
    """Programs compiled during each epoch, by what the framework tells; None is unknown. Empty in older records."""
    loss: float | None = None
    """Loss of the last training step; None where it is not finite, and in inference."""
    accuracy: float | None = None
    """Accuracy on held-out data after the last step, 0 to 1; None where there is no such data."""
    test_samples: int = 0
    """Number of held-out samples behind `accuracy`."""
    training_accuracy: float | None = None
    """Accuracy on the batches that were trained on, 0 to 1, where nothing is held out; a sanity check, no result."""
    metric: MetricReading | None = None
    """Of the parameters after the last training step; None where the size declares none or its function failed, and in
    older records."""


class ReplicaReport(msgspec.Struct, frozen=True, kw_only=True):
    """What one replica of a group has computed, read after its last step."""

    rank: int
    parameters_sha256: str = ""
    """Of all parameters in the order of their names; empty where nothing was built."""
    checksums: list[float] = []
    """`certify.checksum.checksums` of all parameters in that order; empty where one is not finite."""
    tie: Tie | None = None
    memory: Memory | None = None
    evidence: Evidence | None = None
    """This and `tie` are of this replica's own shards."""
    cores: str = ""
    """The processors that it may use, as ranges; empty where it was not to be bound to any."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What one trial leaves: the content of record.json."""

    version: int = RECORD_VERSION
    trial: TrialSpec
    outcome: TrialOutcome
    reason: str = ""
    """Why the outcome is not `done`, in a sentence; empty when it is."""
    memory_suspected: bool = False
    """Of a failure: its words may mean that memory was exhausted, or something else. The outcome is `out-of-memory`
    where the GPU had next to none left."""
    killed_by: Killer = ""
    """Of a trial that was killed."""
    detail: str = ""
    """Of a failure, the end of the traceback or of the process's output."""
    started_at: str
    """Wall clock in UTC, ISO 8601: for people to read, never to compute durations with."""
    machine: dict[str, str | int | float | None]
    """Facts that must agree for records to be compared: processor, cores, memory, system, settings, GPU, driver."""
    weather: dict[str, str | int | float | None] = {}
    """Facts that may change on the same machine, read at the trial's end: clock, swap."""
    python: str = ""
    versions: dict[str, str] = {}
    settings: dict[str, str | int | float | bool | None] = {}
    """The settings that were in force, read back from the framework after the run."""
    variables: dict[str, str] = {}
    """Environment variables that the worker set for this framework."""
    overridden: dict[str, str] = {}
    """What the user's environment said of those of them that had another value there."""
    inherited: dict[str, str] = {}
    """Variables of the user's environment that matter to this framework, as they were when it was imported."""
    clock: Literal["monotonic", "virtual"] = "monotonic"
    start_ns: int | None = None
    """From the start of the process until the first line of bakeoff's code; None where the system does not say."""
    import_ns: int | None = None
    build_ns: int | None = None
    first_step_ns: int | None = None
    """The first call of the step, waited for: it traces, compiles and runs."""
    compilation: Compilation | None = None
    """How much of the first step was tracing and compiling."""
    compilations: int | None = None
    """Programs that were compiled from the first step to the trial's end."""
    warm_steps_ns: list[int] = []
    """Time of each step of the warm-up, each waited for."""
    blocks: list[Block] = []
    fenced_steps_ns: list[int] = []
    """Time of each step after the last block, each waited for; empty in records older than this field."""
    wait_ns: int | None = None
    """What it costs to wait where nothing was started, a part of every fenced step: the median of several; None in
    records older than this field."""
    timer: list[TimerTest] = []
    """Passes of the timer's self-test, in a trial of that purpose."""
    peaks: PeakReading | None = None
    """Only in a trial of peaks; None in records older than this field."""
    tie: Tie | None = None
    """Only in a timed trial; None in records older than this field."""
    memory: Memory | None = None
    energy: EnergyReading | None = None
    late: LateReading | None = None
    """Only in a trial of late steps; None in records older than this field."""
    epochs: EpochRun | None = None
    """Only in a trial of whole epochs."""
    traced: Traced | None = None
    """Only in a trial that explains; None in records older than this field."""
    gpu: list[GpuDuringBlock] = []
    """In timed trials on NVIDIA GPUs, one item for each block and each GPU."""
    evidence: Evidence | None = None
    replicas: list[ReplicaReport] = []
    """In a group of processes; `evidence`, `tie`, `memory` and blocks' times are the group's, all else the first's."""

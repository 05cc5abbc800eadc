"""A trial: one fresh process in which one contender does one workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from bakeoff.spec.batch import INPUT, TARGET
from bakeoff.spec.contender import Contender
from bakeoff.spec.group import Group
from bakeoff.spec.per_sample import PerSample
from bakeoff.spec.scenario import Scenario

if TYPE_CHECKING:
    from bakeoff.spec.peaks import Work

Purpose = Literal[
    "reference",
    "program",
    "certify",
    "memory",
    "compile",
    "energy",
    "selftest",
    "peak",
    "time",
    "late",
    "epochs",
    "explain",
    "batch",
]


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """How trials of one purpose differ from the others."""

    steps: bool = True
    """Whether the step is run, on the workload as it is. False: the evidence is computed on a step that never ran, and
    without random draws, because every framework has its own."""
    batches: Literal["race", "epoch", "one"] = "race"
    """Which batches it takes: those of the race, all of the data set, or a single one of the size that is tried."""
    own_input: bool = True
    """Whether batches come by the option `input`; False: they are on the device."""
    weighed: bool = False
    """Whether the parent reads its memory on NVIDIA GPUs, too."""
    large_arrays: bool = False
    """Whether its malloc is set for the large arrays of a step in float64; what is timed, or weighed, has the one that
    its user has."""
    learns: bool = False
    """Whether training goes on after the certificate's steps, for the accuracy on held-out data."""
    tied: bool = False
    """Whether it keeps what it computes, to be held against the certificate's evidence."""
    saves: bool = False
    """Whether it saves the state of training in its warm-up and begins each timed part with it; its memory is read
    just before, because a second copy of the state is none of the contender's."""
    cached: bool = False
    """Whether its compiler finds what earlier trials of this run have left in its cache; the first finds it empty."""
    grouped: bool = True
    """Whether each device has its process, where a contender's have; what builds no step is computed by one."""
    folder: str = "{purpose}-{label}"
    """The name of a trial's folder; `{label}` is the contender's, made fit for a file system, and
    `{whose}` says for how many devices a reference is."""


KINDS: dict[Purpose, Kind] = {
    "reference": Kind(steps=False, large_arrays=True, folder="{whose}"),
    # A contender's own code in float64: the first stage of its certificate.
    "program": Kind(steps=False, large_arrays=True),
    "certify": Kind(steps=False, learns=True, weighed=True),
    "memory": Kind(weighed=True, cached=True),
    "compile": Kind(folder="compile-{cache}-{label}"),
    "energy": Kind(tied=True, cached=True, folder="energy{round}-{label}"),
    # The clock and `wait` have to be honest, however batches come.
    "selftest": Kind(own_input=False, saves=True, cached=True),
    # Nothing of the workload is built: it is about the machine.
    "peak": Kind(own_input=False, grouped=False),
    "time": Kind(tied=True, saves=True, cached=True, folder="r{round:02d}-{label}"),
    # It goes back to earlier steps, which a loader cannot.
    "late": Kind(own_input=False, tied=True, saves=True, cached=True),
    "epochs": Kind(batches="epoch", tied=True, cached=True, folder="epochs{round}-{label}"),
    # A compiler's cache may give back a program without the scopes that its trace is read by.
    "explain": Kind(saves=True, folder="explain{round}-{label}"),
    "batch": Kind(batches="one", weighed=True, folder="batch-{label}-{batch}"),
}
"""Every kind of trial: worker and parent both decide by this table."""

CERTIFY_STEPS, FEW_CERTIFY_STEPS = 5, 3
"""Steps behind the first one that a certificate's trajectory has; few where a step is large. Of the faults that
are planted in steps and optimisers none needs more (benchmarks/results/planted-faults-four-steps-2026-11-29.md)."""

LARGE_MACS = 5 * 10**11
"""Multiply-accumulates of a large step, which take ten seconds in float64 where a core has 5e10 of them a second. All
that a certificate of six steps computes would be five minutes of a core for the reference and three for each contender;
of four steps, with what a large one leaves out, it is two and a half, and one and two thirds (`race.least`)."""

BEHIND_MACS = 3 * 10**10
"""Multiply-accumulates of a step from which on what float64 loses in a model is measured behind the programs, by a
trial of its own, where one of them needs it. Most need none. It is the work of eight steps, which of smaller ones takes
no longer, at the rate above, than a process takes to start: some five seconds."""

SNAPSHOT_STEPS = 4
"""The state of training that timed parts begin with is that after so many steps: the optimiser's state is no longer
zero, and the two steps behind it, which are repeated in the end (`trial.tied`), are still among the certificate's six.
Of large steps it is the one after two: the first that has the optimiser's state all along holds the most memory."""

SCALED_SNAPSHOT_STEPS = 10
"""The same in float16: steps are skipped until the scale of the loss has come down, by half in each."""

CacheState = Literal["", "cold", "warm"]

CACHE_FOLDER = "cache"
"""The subfolder for what the framework compiles or tunes in one trial; it is removed at the trial's end."""


class TrialSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What the parent asks of one worker: the content of trial.json in the trial's folder."""

    version: int = 1
    comparison: str
    name: str
    """The folder's name: reference, certify-torch, memory-torch, compile-cold-torch, r01-torch; see KINDS, and
    `spread_name`."""
    purpose: Purpose
    round_number: int = 0
    """From 1 on in trials that are timed or whose energy is measured, and in whole runs; 0 elsewhere."""
    contender: Contender
    """The contender with a value for every option."""
    injected: dict[str, str] = {}
    """Options that the framework gets in place of those that it is judged by: a planted fault, of `verify` alone."""
    variables: dict[str, str] = {}
    """Environment variables that the worker sets before it imports the framework."""
    watched: tuple[str, ...] = ()
    """Variables of the user's environment to record, where they are set."""
    joins_steps: bool = True
    """As the contender's framework declares it; true in trials older than this field, which were held by that."""
    gpu: dict[str, str | int | float | None] | None = None
    """What the parent knows of the machine's GPU, or of the one that work on CUDA runs on; None in trials older than
    this field."""
    framework_path: str
    """The framework's folder."""
    framework_sha256: str = ""
    """Of the source files of that folder; empty in trials older than this field."""
    interpreter: str = ""
    """What runs it, with its packages beside it; empty in trials older than this field."""
    packages_sha256: str = ""
    """Of their names and versions; empty where unknown, and in trials older than this field."""
    workload_path: str
    """The workload's file."""
    workload_sha256: str = ""
    """Of that file and of what its functions are imported from; empty in trials older than this field."""
    steps_sha256: str = ""
    """Of what its functions do over shapes, which is the same in every process; empty where that is not held, and in
    trials older than this field."""
    lines_sha256: str = ""
    """Of its file's lines that run over shapes, behind the version of Python; empty as above."""
    workload_name: str
    scenario: Scenario
    per_sample: PerSample | None = None
    """How gradients are clipped; None in scenarios without per-sample gradients."""
    size: str
    batch_size: int
    """Samples of a step, on all devices together."""
    seed: int
    inputs_path: str
    """The folder with the batches, see `Inputs`."""
    cache: CacheState = ""
    """Where the compiler can keep what it makes, cold: its cache is empty; warm: it is as earlier trials of the same
    contender left it; empty where it keeps nothing."""
    ceiling_bytes: int | None = None
    """In an attempt at a batch size: the process is ended when it holds more than this beyond its import."""
    gpu_limit_bytes: int | None = None
    """In such an attempt on CUDA: the framework's allocator takes no more than this of a GPU of `gpu_total_bytes`."""
    gpu_total_bytes: int | None = None
    resident: bool = False
    """True: the round's workers are alive together and run their blocks in turns."""
    apart: str = ""
    """Why a round's workers run one after another; empty where they do not, and in trials older than this field."""
    pass_steps: int = 1
    """How many steps have seen every shape of batches: 1 where they have one."""
    certify_steps: int = CERTIFY_STEPS
    learning_steps: int = 0
    joined: int = 1
    """How many of the comparison's batches are one step's: more than one where each device has a batch of its own."""
    group: Group | None = None
    """Where each device has a process: which of them this is. It takes its own shard of every batch."""
    tolerance: float = 0.0
    """How far the replicas' parameters may be apart, see `bakeoff.spec.group.SyncSupport`."""
    cores: tuple[tuple[int, ...], ...] = ()
    """In a comparison with several devices on a processor: the processors that each process of the trial is bound to,
    in the order of their ranks; empty where none is bound."""
    shards: int = 1
    """In the reference's trial: of how many shards, each by itself, a step takes the mean."""
    spreads: tuple[str, ...] = ()
    """In the reference's trial, the precisions whose spread its evidence has."""
    own_layers: tuple[str, ...] = ()
    """In the reference's trial, the layers that it computes by code of its own."""

    @property
    def options(self) -> dict[str, str]:
        """The options that the framework gets."""
        return self.contender.options | self.injected

    @property
    def is_large(self) -> bool:
        """Whether its step is so large that evidence has few steps."""
        return self.certify_steps <= FEW_CERTIFY_STEPS

    def snapshot_steps(self) -> int:
        """Return after how many steps the state is saved: at least one of each shape, since memory is read there."""
        is_scaled = self.contender.options.get("precision") == "float16"
        among = min(SNAPSHOT_STEPS, self.certify_steps - 1)
        return max(SCALED_SNAPSHOT_STEPS if is_scaled else among, self.pass_steps)


def spread_name(reference: str) -> str:
    """Return the name of the trial that measures a reference's spread in float64, by that of the reference's own."""
    return f"{reference}-float64"


def is_large(work: Work | None) -> bool:
    """Return whether a step with this work, None where unknown, takes so long that evidence is kept short."""
    return work is not None and work.macs >= LARGE_MACS


def is_spread_behind(work: Work | None) -> bool:
    """Return whether what float64 loses in a model with this work, None where unknown, is measured only if needed."""
    return work is not None and work.macs >= BEHIND_MACS


def certify_steps(work: Work | None) -> int:
    """Return how many steps behind the first one a certificate has, of a step with this work."""
    return FEW_CERTIFY_STEPS if is_large(work) else CERTIFY_STEPS


FIXED = "fixed"
"""Every batch is padded to the length that the workload's size declares."""


class Entries(msgspec.Struct, frozen=True, kw_only=True):
    """How many entries of a sequence are in the batches of a comparison."""

    real: int
    padding: int

    @property
    def padded_share(self) -> float:
        """Return the share that is padding; 0 of none, which a stranger's file may hold."""
        whole = self.real + self.padding
        return self.padding / whole if whole > 0 else 0.0


class Inputs(msgspec.Struct, frozen=True, kw_only=True):
    """The batches of a comparison, in inputs.json beside the arrays.

    Each array of a batch is a file: <name>.npy (batches, batch size, ...), channels last, and, where samples are held
    out to be tested on, <name>_test.npy (samples, ...). Every contender takes batch i % batches at step i.
    """

    source: str
    """The data source with its version: "digits (scikit-learn 1.9.1)"."""
    batches: int
    sha256: str
    """Of the arrays' bytes: inputs, targets, held-out inputs, held-out targets, each in the order below."""
    has_test: bool = False
    epoch_batches: int = 0
    """That the arrays hold: those of the race and, where whole epochs are run, the rest of the data set after them."""
    inputs: tuple[str, ...] = (INPUT,)
    """The names of the arrays that the model takes."""
    targets: tuple[str, ...] = (TARGET,)
    """The names of the arrays that the loss takes."""
    padding: str = FIXED
    """How sequences are padded: to the size's own length, to "buckets:8" of it, or to the batch's "longest"."""
    entries: dict[str, list[int]] = {}
    """Of each sequence that is cut, how many entries each batch in the arrays keeps; empty where none is."""
    along: dict[str, int] = {}
    """The axis of a sample that is cut, of each of these."""
    sequences: dict[str, Entries] = {}
    """Of each sequence that has lengths, the entries in the race's batches: words, frames or whatever they are."""

    def shapes(self) -> list[dict[str, int]]:
        """Return the entries of each of the race's batches, by array."""
        return [{name: kept[index] for name, kept in self.entries.items()} for index in range(self.batches)]

    @property
    def pass_steps(self) -> int:
        """How many steps have seen every shape: 1 where all batches have one."""
        return self.batches if self.entries else 1

    def whole(self, steps: int) -> int:
        """Return at least so many steps: whole passes over the batches where their shapes differ."""
        return -(-steps // self.pass_steps) * self.pass_steps

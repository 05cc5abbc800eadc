"""A trial: one fresh process in which one contender does one workload."""

from __future__ import annotations

from typing import Literal

import msgspec

from bakeoff.spec.batch import INPUT, TARGET
from bakeoff.spec.contender import Contender
from bakeoff.spec.scenario import Scenario

Purpose = Literal["reference", "certify", "memory", "compile", "energy", "selftest", "time", "epochs", "batch"]


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """What sets the trials of one purpose apart."""

    steps: bool = True
    """The step is run, on the workload as it is. False: evidence is computed on a step that was never run, and
    without dropout, whose draws are each framework's own."""
    batches: Literal["race", "epoch", "one"] = "race"
    """Which batches it takes: those of the race, all of the data set's, or one of the size that is tried."""
    own_input: bool = True
    """Batches come by the contender's own way of input, where it was asked for one."""
    weighed: bool = False
    """Its memory is also read from outside, on devices that tell it there."""
    learns: bool = False
    """Training goes on after the certificate's steps, for the accuracy on held-out data."""
    prefix: str = ""
    """What its folder's name starts with; empty: the purpose itself. `{round}` is the number of the round."""


KINDS: dict[Purpose, Kind] = {
    "reference": Kind(steps=False),
    "certify": Kind(steps=False, learns=True),
    "memory": Kind(weighed=True),
    "compile": Kind(prefix="compile-{cache}"),
    "energy": Kind(prefix="energy{round}"),
    # The clock and `wait` have to be honest, however batches come.
    "selftest": Kind(own_input=False),
    "time": Kind(prefix="r{round:02d}"),
    "epochs": Kind(batches="epoch", prefix="epochs{round}"),
    "batch": Kind(batches="one", weighed=True),
}
"""What every kind of trial is: the one list that the worker and the parent decide by."""

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

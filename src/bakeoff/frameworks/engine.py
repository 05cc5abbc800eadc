"""The port between bakeoff's worker and a framework: what `frameworks/<name>/engine.py` provides.

The harness, not the framework's folder, defines the timed region: it times `Step.run` and `Step.wait` and nothing else.
A folder's engine.py has a class `Engine`, constructed without arguments, and its nn.py is the vocabulary. engine.py may
import the framework at its top, because it is imported only after the variables of `framework.toml` are set.

What all engines share stands beside this file: steps.py (scenarios, batches by name), feeds.py (ways of input),
ready_made.py (models that a library ships).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec
from numpy.typing import NDArray

from bakeoff.spec.batch import Batch
from bakeoff.spec.optimizer import Optimizer
from bakeoff.spec.per_sample import PerSample
from bakeoff.spec.workload import Size

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import numpy as np

    from bakeoff.spec.group import Group
    from bakeoff.spec.record import Compilation, DeviceMemory
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.selftest import Profiled
    from bakeoff.spec.trial import Purpose

Arrays = dict[str, NDArray[Any]]


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """All that an engine needs to build a workload's step."""

    build: Callable[[ModuleType, Size], Any]
    """The workload's `build(nn, size)`: returns the model, a Module of the vocabulary."""
    loss: Callable[..., Any] | None
    """The workload's `loss(nn, outputs, targets)`, or with `inputs` behind; returns a scalar. None for inference."""
    size: Size
    optimizer: Optimizer | None
    weights: Arrays
    """By canonical name, in canonical layout, float64; an engine converts them to its layout and precision."""
    state: Arrays = {}
    """The values of running statistics before the first step, in the same form; empty in a model that has none."""
    per_sample: PerSample | None = None
    """How gradients are clipped, in scenarios with per-sample gradients."""
    shards: int = 1
    """In the reference of several devices: how many shards of the batch are computed one after another. Losses,
    gradients and what is added to running statistics are means of the shards'. Only an engine that can be the reference
    knows more than 1."""


class BuildTargets(msgspec.Struct, frozen=True, kw_only=True):
    """What a build of a framework can run on, whatever this machine has."""

    cuda: str = ""
    """The CUDA that it is built for: "13.0"; empty without CUDA."""
    kernels: tuple[str, ...] = ()
    """What it has kernels for, in NVIDIA's names ("sm_89", "compute_90"); empty where the framework does not say."""


class Samples(msgspec.Struct, frozen=True, kw_only=True):
    """What a framework's own way of input draws batches from: every sample of a trial."""

    arrays: Batch
    """All samples in the order of the trial's batches; their number is a multiple of `batch_size`."""
    batch_size: int
    seed: int
    """Of the order, where it is shuffled."""


class Feed(Protocol):
    """A framework's own way of input, made by `feed(step, samples, options)` in its folder's input.py.

    A folder without that file has no option `input`: its batches are on the device before the clock starts.
    """

    def __iter__(self) -> Iterator[Any]:
        """Return this object."""

    def __next__(self) -> Any:
        """Return the next batch as `Step.run` takes it, without end; all of this is in the timed region."""

    def read(self, batch: Any) -> Batch:
        """Return a batch that came from this feed, or from `Step.prepare`, as canonical arrays; for checks only."""

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return what is in force, read back; `input_call` names the framework's calls."""

    def processes(self) -> list[int]:
        """Return the ids of the processes that load batches: the processor time they use is the contender's own."""

    def close(self) -> None:
        """End whatever loads in the background."""


class Step(Protocol):
    """One step of a workload in one scenario: the forward pass and, in training, loss, backward pass and optimiser."""

    def prepare(self, batch: Batch) -> Any:
        """Put a batch on the device, and return it there in the form that `run` takes, once it is complete.

        Real numbers are converted to the framework's precision, integers to the type that it takes for indices and
        labels, feature maps to its layout. The model is called with the one input itself, or with a mapping where
        there are several; the loss gets the targets in the same way.
        """

    def run(self, batch: Any) -> None:
        """Start one step on a prepared batch; may return before it is done. In training, the parameters change."""

    def wait(self) -> None:
        """Return when the results of all started steps exist, by waiting for the results themselves."""

    def result(self) -> float:
        """Return the loss of the last training step; for checks only, never in a timed region.

        Raises UnsupportedError in a scenario that does not train.
        """

    def outputs(self, batch: Any) -> NDArray[np.float64]:
        """Return the model's outputs on a prepared batch, computed in evaluation mode; first axis samples."""

    def last_outputs(self) -> NDArray[np.float64]:
        """Return the outputs that the last `run` has kept, in the form of `outputs`; for checks only, after `wait`.

        It computes nothing: the certificate holds these, because `run` is what is timed. Raises UnsupportedError in a
        scenario that trains.
        """

    def gradients(self, batch: Any) -> Arrays:
        """Return the gradient of every parameter that is trained, by canonical name and in canonical layout.

        Of those that the optimiser's `frozen` names, none is computed, in `run` either. The gradients are computed by
        the function and in the mode that `run` uses, at the present parameters. The call leaves the step as it was,
        because the certificate makes it before each of its training steps: an engine whose forward pass moves running
        statistics restores them, and one whose parameters hold the gradients of the last step leaves these there, for
        `run` to clear. It is called only on models that draw nothing at random, because each framework has random
        numbers of its own. Raises UnsupportedError in a scenario that does not train.
        """

    def norms(self, batch: Any) -> NDArray[np.float64]:
        """Return the L2 norm (batch,) of each sample's gradient over all parameters, before it is clipped.

        By the function that `run` uses, at the present parameters; it leaves the step as it was. A step of
        per-sample-gradients alone has it, and the next; its `gradients` are those that are handed to the optimiser,
        without noise: the sum of the clipped ones, divided by the batch size. Its `result` is the mean of the samples'
        losses.
        """

    def noisy_gradients(self, batch: Any) -> Arrays:
        """Return the gradients that the next `run` on this batch hands to the optimiser, noise included.

        By the function that `run` uses, in the form of `gradients`; it leaves the step as it was, and with it the
        state of the generator, so that the next `run` draws this very noise. Asked only where there is noise.
        """

    def parameters(self) -> Arrays:
        """Return the present value of every parameter, by canonical name and in canonical layout."""

    def state(self) -> Arrays:
        """Return the present value of every running statistic, by canonical name; empty in a model that has none."""

    def unequal(self) -> str:
        """Return the name of a parameter whose copies on this process's devices differ in any bit; empty for none.

        Asked at the end of every trial. An engine whose processes have one device each leaves this method out.
        """

    def snapshot(self) -> Any:
        """Return a copy, on the device, of all that running steps changes; None in a scenario that does not train.

        That is parameters, the optimiser's state with its step count, running statistics, loss scaling, and the random
        state, so that layers draw the same again: steps after `restore` repeat those that came after `snapshot`.
        """

    def restore(self, snapshot: Any) -> None:
        """Put a snapshot of this step back, and return when that is complete on the device.

        It goes into the arrays that are there where the framework has such, so that memory lies where it lay and
        compiled code finds it. Nothing is traced or compiled for it, and a snapshot can be put back any number of
        times. It runs before every timed block, so it is no more than the copies. Without training it does nothing.
        """

    def optimizer_state(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Return the arrays that the optimiser keeps, one by one, in the precision that it computes in; for counting.

        Named by `bakeoff.frameworks.slots`, in any layout; step counts are left out. Nothing in a scenario that does
        not train, or where the optimiser keeps nothing.
        """

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return what is really in force, read back from the framework.

        Every framework has the keys mode, precision, device, threads, tf32_matmul, tf32_convolution, accumulation,
        layout and optimizer; None means that the framework does not report it. Further keys are a framework's own.
        """

    def compilation(self) -> Compilation:
        """Return what this process has traced and compiled so far; read around the first step and every block."""

    def profiled(self, work: Callable[[], None]) -> Profiled:
        """Call `work`, which runs steps of this object, and return the time that the framework itself measured for it.

        Measured by the framework's profiler or device events, from the first operation to the last result, which may
        be earlier than the end of `wait`. A profiler that works and sees no operation says `empty`, which fails the
        timer's self-test. An engine may leave this method out.
        """

    def device_memory(self) -> DeviceMemory:
        """Return the most that an accelerator's allocator held and reserved, and what it takes in advance."""

    def reset_device_peak(self) -> None:
        """Count what `device_memory` returns from now on, as the host's peak counts from the first step.

        An engine whose framework cannot do that leaves this method out.
        """


class WholeStep(Step, Protocol):
    """A step whose loss may be there before the rest of it."""

    def fetch_all(self) -> None:
        """Fetch all that the last training step has left, without copying it; for the timer's self-test only.

        Where an engine leaves this method out, `result` is fetched.
        """


class ShardedStep(Step, Protocol):
    """A training step of the reference for several devices, whose model has several shards."""

    def first_state(self) -> Arrays:
        """Return what `state` would be after the last step if its first shard alone had moved it."""


class CollectingStep(Step, Protocol):
    """A training step of a model that collects (`Size.collected`): `run` collects, and then updates several times.

    `gradients` are those of the first update and `result` is the loss of the last one; see `frameworks.collecting`.
    """

    def parts(self, batch: Any) -> list[Any]:
        """Collect by the present parameters, and return what `run` consists of: one update for each.

        `run` and `gradients` take a part in the place of a batch.
        """


class FollowingStep(Step, Protocol):
    """A training step of a framework whose `gradients` may be rounded otherwise than those that `run` computes."""

    def used_gradients(self) -> Arrays:
        """Return the gradients that the optimiser followed in the last `run`, clipped where it clips, in their form."""


class KeepingStep(Step, Protocol):
    """A training step that keeps the gradients that `run` has computed."""

    def kept_gradients(self) -> Arrays:
        """Return those of the last `run`, clipped where it clips, in the form of `gradients`."""


class Probe(Protocol):
    """One plain operation on arrays of its own on the device, run and waited for as a step is."""

    def run(self, batch: None) -> None:
        """Start the operation; may return before it is done."""

    def wait(self) -> None:
        """Return when the results of all started operations exist."""

    def read(self) -> NDArray[np.float64]:
        """Return the first row of the last result, of a sum the first value at least; for checks only."""


class Engine(Protocol):
    """One framework in this process."""

    running_variance: Literal["biased", "unbiased"]
    """Which variance of the batch BatchNorm moves the running variance towards: biased divides by the number n of
    values that a channel has in the batch, unbiased by n - 1. The certificate checks that it is so."""

    def join(self, group: Group) -> None:
        """Note which process of a group this is; called before `configure`, which meets the others.

        Called where the contender's `sync` has a process for each device (`[syncs]` in framework.toml); with a single
        process for all devices, `configure` finds their number in options["devices"], and batches are the joined ones.
        An engine that has no such `sync` leaves this method out. Of a group's steps, `run` ends with all replicas'
        parameters equal, `gradients` gives what the optimiser gets, so the mean over all replicas, and `result` and
        `outputs` give those of this replica's own shard. Collectives are in `run` and `gradients`, and nowhere else.
        """

    def configure(self, options: Mapping[str, str]) -> None:
        """Set device, precision and threads for this process, before anything is built.

        Raises UnsupportedError for a value that this framework or this machine lacks.
        """

    def preload(self, scenario: Scenario) -> None:
        """Import what `build` would import for this scenario; called before `configure`, and counted as the import.

        Imports of a round's workers overlap, and their builds do not. An engine may leave this method out.
        """

    def versions(self) -> dict[str, str]:
        """Return the versions of the framework's packages, by name."""

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Return whether this error means that the memory of the device, or of the host, is exhausted."""

    def may_be_out_of_memory(self, error: BaseException) -> bool:
        """Return whether it may mean that, or something else: it counts on a full GPU, or where fewer samples ran.

        An engine may leave this method out, and the next.
        """

    def limit_memory(self, limit_bytes: int, total_bytes: int) -> None:
        """Have the allocator take no more of a GPU of this size, its context aside; called before `configure`.

        For option `device` cuda alone.
        """

    def devices(self) -> list[str]:
        """Return the devices that can be used, by the names that the option `device` has for them."""

    def why_not(self, device: str) -> str:
        """Return why a device is not among `devices`, in the framework's own words. An engine may leave this out."""

    def built_for(self) -> BuildTargets:
        """Return what this build can run on; an engine may leave this out, and nothing is known of it then."""

    def build(self, model: Model, scenario: Scenario, options: Mapping[str, str]) -> Step:
        """Build the model, load its weights and return its step; nothing is traced or compiled yet.

        Raises UnsupportedError for a scenario that the engine has no step for.
        """

    def optimize(self, optimizer: Optimizer, parameters: Arrays, gradients: Sequence[Arrays]) -> list[Arrays]:
        """Apply the optimiser that `build` makes to given gradients; return the parameters after each step.

        Gradients are given of the parameters that are trained, and all parameters are returned.
        """

    def rounding(self, share: float, seed: int) -> AbstractContextManager[Any]:
        """Return a context in which each operation's result is moved by a random share of itself, backward passes too.

        The reference is asked for it, to tell what a precision's roundings do to a model. An engine may leave this
        method out; its parameters alone are moved then.
        """

    def easing(self, purpose: Purpose) -> AbstractContextManager[Any]:
        """Return a context in which convolutions in float64 take less memory or time, and compute the same.

        The certificate's evidence of a model that has them is computed within it: the purpose is "reference",
        "program", or "certify", of what is timed, where nothing may be another call. An engine may leave this method
        out.
        """

    def measured_tf32(self) -> dict[str, bool]:
        """Return `frameworks.tf32.measured` of this framework on its device, in the mode that steps have.

        The worker asks for it on cuda. An engine that has no such device may leave this method out.
        """

    def product(self, left: NDArray[np.float32], right: NDArray[np.float32]) -> Probe:
        """Put two square matrices on the device, in the precision that products have; a run multiplies them.

        The best of such products is the machine's peak, so it is the framework's fastest call for it. An engine may
        leave this method out, and the next: then no share of the peak is stated for it alone.
        """

    def sums(self, count: int) -> Probe:
        """Put two arrays of so many ones in float32 on the device; a run adds the second onto the first.

        In the first one's place where the framework can do so, as an optimiser's update is.
        """

"""The port between bakeoff's worker and a framework: what `frameworks/<name>/engine.py` provides.

The harness, not the framework's folder, defines the timed region: it times `Step.run` and `Step.wait` and nothing else.
A folder's engine.py has a class `Engine` (constructed without arguments; its module may import the framework at its
top, because it is imported only after `framework.toml`'s variables are set) and its nn.py is the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec
from numpy.typing import NDArray

from bakeoff.spec.optimizer import Optimizer
from bakeoff.spec.workload import Size

if TYPE_CHECKING:
    import numpy as np

    from bakeoff.spec.record import Compilation, DeviceMemory
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.selftest import Profiled

Arrays = dict[str, NDArray[Any]]


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """All that an engine needs to build a workload's step."""

    build: Callable[[ModuleType, Size], Any]
    """The workload's `build(nn, size)`: gives the model as the vocabulary's Module."""
    loss: Callable[[ModuleType, Any, Any], Any] | None
    """The workload's `loss(nn, outputs, targets)`: gives a scalar; None for inference only."""
    size: Size
    optimizer: Optimizer | None
    weights: Arrays
    """By canonical name, in canonical layout, float64; an engine converts them to its layout and precision."""
    state: Arrays = {}
    """The values of running statistics before the first step, in the same form; empty in a model that has none."""


class Samples(msgspec.Struct, frozen=True, kw_only=True):
    """What a framework's own way of input draws from: every sample of a trial, in the order of its batches.

    Shapes: x (samples, ...) float32 channels last; y (samples,) int32; the samples are a multiple of `batch_size`.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    batch_size: int
    seed: int
    """Of the order, where it is shuffled."""


class Feed(Protocol):
    """A framework's own way of input: `feed(step, samples, options)` in its folder's input.py gives it.

    A folder without that file has no option `input`: its batches are on the device before the clock starts.
    """

    def __iter__(self) -> Iterator[Any]:
        """Give itself."""

    def __next__(self) -> Any:
        """Give the next batch as `Step.run` takes it, without end; all of this is in the timed region."""

    def read(self, batch: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give a batch that it gave, or that the step has prepared, in the canonical layout; for checks only."""

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force: `input_call` names the framework's calls."""

    def processes(self) -> list[int]:
        """Give the processes that load for it: what they use is the contender's own."""

    def close(self) -> None:
        """End whatever loads in the background."""


class Step(Protocol):
    """One step of a workload in one scenario: forward, and in training loss, backward and optimiser."""

    def prepare(self, x: NDArray[Any], y: NDArray[Any]) -> Any:
        """Put one batch on the device in the framework's layout and precision, and wait until it is there."""

    def run(self, batch: Any) -> None:
        """Start one step on a prepared batch; may return before it is done. In training, the parameters change."""

    def wait(self) -> None:
        """Return when the results of all started steps exist, by waiting for the results themselves."""

    def result(self) -> float:
        """Give the loss of the last step that was run in training; for checks only, never in a timed region."""

    def outputs(self, batch: Any) -> NDArray[np.float64]:
        """Give the model's outputs in evaluation mode on a prepared batch, (batch, classes)."""

    def gradients(self, batch: Any) -> Arrays:
        """Give every parameter's gradient at the present parameters, by canonical name and layout; changes nothing.

        Computed by the same function, in the same mode, as `run` computes them, and nothing means the running
        statistics too. Called only on models whose Dropout
        drops nothing: draws are each framework's own, so the certificate runs without.
        """

    def parameters(self) -> Arrays:
        """Give every parameter as it is now, by canonical name and layout."""

    def state(self) -> Arrays:
        """Give every running statistic as it is now, by canonical name; empty in a model that has none."""

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is really in force: mode, precision, threads, device, TF32, layout, optimiser's class.

        Keys shared by all frameworks: mode, precision, device, threads, tf32_matmul, tf32_convolution, accumulation,
        layout, optimizer. None is "the framework does not tell". Further keys are the framework's own.
        """

    def compilation(self) -> Compilation:
        """Tell what this process has traced and compiled so far; read around the first step and around every block."""

    def profiled(self, work: Callable[[], None]) -> Profiled:
        """Do the work, which is steps of this object, under the framework's own profiler or device events.

        Gives the span that the framework itself has seen, to its last result and not to the end of `wait`. An engine
        may leave this method out.
        """

    def device_memory(self) -> DeviceMemory:
        """Tell what the allocator of an accelerator has held and reserved at most, and what it takes beforehand."""


class Engine(Protocol):
    """One framework in this process."""

    running_variance: Literal["biased", "unbiased"]
    """Which variance of the batch its BatchNorm moves the running one towards: biased divides by the number n of values
    that a channel has in the batch, unbiased by n - 1. The certificate holds it to what it says."""

    def configure(self, options: Mapping[str, str]) -> None:
        """Set device, precision and threads for this process, before anything is built; raise UnsupportedError."""

    def versions(self) -> dict[str, str]:
        """Give the versions of the framework's packages."""

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Tell whether this error says that the memory of the device, or of the host, is at its end."""

    def devices(self) -> list[str]:
        """Give the devices that can be used, by the names of the option `device`."""

    def build(self, model: Model, scenario: Scenario, options: Mapping[str, str]) -> Step:
        """Build the model, load its weights and make its step; nothing is traced or compiled yet."""

    def optimize(self, optimizer: Optimizer, parameters: Arrays, gradients: Sequence[Arrays]) -> list[Arrays]:
        """Apply the same optimiser that `build` makes to given gradients; give the parameters after each step."""

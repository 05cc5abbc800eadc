"""MLX as an engine: a step only notes what is to be computed, and mx.async_eval starts it, as mx.eval does for users.

MLX computes in order on one stream, and makes the caller wait when ten operations are under way, so a long block of
steps cannot pile up.
"""

from __future__ import annotations

import os
from importlib import metadata
from typing import TYPE_CHECKING, Any

import mlx.core as mx
import mlx.nn
import numpy as np
from mlx.utils import tree_flatten

from bakeoff.frameworks import denormals
from bakeoff.frameworks.mlx import (
    attention,
    blas,
    compilation,
    graphs,
    memory,
    nn,
    optimizers,
    peaks,
    recurrent,
    snapshots,
)
from bakeoff.frameworks.mlx.border import Border, once
from bakeoff.frameworks.mlx.compilation import executed
from bakeoff.frameworks.mlx.replicas import Replicas
from bakeoff.frameworks.steps import WithoutLoss, WithoutOutputs, for_scenario, on_device, training_parts
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.optimizer import trained_of
from bakeoff.spec.options import DEFAULT
from bakeoff.spec.selftest import Profiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.frameworks.steps import DeviceBatch
    from bakeoff.spec.batch import Batch
    from bakeoff.spec.group import Group
    from bakeoff.spec.optimizer import Optimizer
    from bakeoff.spec.record import Compilation, DeviceMemory
    from bakeoff.spec.scenario import Scenario

_MODES = ("compiled", "eager")
_DEVICES = {"cpu": mx.cpu, "mps": mx.gpu}
"""What the option `device` is for MLX; its GPU is Apple's where MLX was built for Metal."""


class Engine:
    """MLX in this process."""

    running_variance = nn.RUNNING_VARIANCE
    _mode = "eager"
    _group: Group | None = None

    def join(self, group: Group) -> None:
        """Note which process of a group this is: `configure` meets the others."""
        self._group = group

    def configure(self, options: Mapping[str, str]) -> None:
        """Set the device, whatever MLX takes by default; raise UnsupportedError for what this MLX or machine lacks."""
        for option, valid in (("mode", _MODES), ("device", _DEVICES), ("precision", ("float32",))):
            if options[option] not in valid:
                msg = f"MLX has no {option}={options[option]}; it has {', '.join(valid)}"
                raise UnsupportedError(msg)
        if reason := _why_unavailable(options["device"]):
            raise UnsupportedError(reason)
        compilation.keep_programs()
        mx.set_default_device(_DEVICES[options["device"]])
        self._replicas = Replicas(self._group)
        self._mode = options["mode"]
        if self._mode == "compiled" and not compilation.is_in_force():
            msg = (
                "mode=compiled: mx.compile leaves functions as they are here. On a processor it needs g++, which is "
                "not found, or MLX_DISABLE_COMPILE is set; install g++ or choose mode=eager"
            )
            raise UnsupportedError(msg)

    def versions(self) -> dict[str, str]:
        """Return the versions of MLX and of the package with its backend, by the names that they are installed by."""
        found = {}
        for name in ("mlx", "mlx-cpu", "mlx-metal"):
            try:
                found[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                continue
        return found

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Return whether MLX reports that memory is exhausted."""
        return memory.is_exhausted(error)

    def devices(self) -> list[str]:
        """Return the devices that can be used."""
        return [device for device in _DEVICES if not _why_unavailable(device)]

    def build(self, model: Model, scenario: Scenario, options: Mapping[str, str]) -> TrainStep | InferStep:
        """Build the model, load its weights and make its step; compiling is left to the first call."""
        from bakeoff.frameworks.mlx.collecting import CollectingStep  # it is made of the step here

        make = CollectingStep if model.size.collected else for_scenario(_steps(), scenario)
        return make(model, options, self._replicas)

    def optimize(self, optimizer: Optimizer, parameters: Arrays, gradients: Sequence[Arrays]) -> list[Arrays]:
        """Apply the optimiser to given gradients; return the parameters after each step."""
        trained = trained_of(optimizer, parameters)
        made = optimizers.make(optimizer, {name: name for name in trained})
        present = {name: _array(value) for name, value in parameters.items()}
        made.init({name: present[name] for name in trained})
        state = [present, made.state]

        def update(given: dict[str, mx.array]) -> None:
            present.update(made.apply_gradients(optimizers.clipped(optimizer, given), present))

        apply = executed(update, self._mode, reads=state, writes=state)
        trajectory = []
        for given in gradients:
            apply({name: _array(value) for name, value in given.items()})
            trajectory.append({name: np.array(value, np.float64) for name, value in present.items()})
        return trajectory

    def product(self, left: NDArray[np.float32], right: NDArray[np.float32]) -> peaks.Product:
        """Put two matrices on the device."""
        return peaks.Product(_array(left), _array(right))

    def sums(self, count: int) -> peaks.Sums:
        """Put arrays of ones on the device."""
        return peaks.Sums(count)


class Step:
    """What the steps of all scenarios have in common: the model, evaluation, and what is in force."""

    def __init__(self, model: Model, options: Mapping[str, str], replicas: Replicas) -> None:
        """Build the model and load its weights."""
        attention.forget()
        self._model = model.build(nn, model.size)
        once(self._model)
        self._border = Border(self._model)
        self._border.load(self._model, model.weights | model.state)
        self._mode, self._replicas = options["mode"], replicas
        self._forward = executed(lambda inputs: self._model(inputs), self._mode, reads=[self._model.state])  # noqa: PLW0108
        self._results: Any = self._model.parameters()
        """What only finished steps have: this is waited for."""

    def prepare(self, batch: Batch) -> DeviceBatch:
        """Copy a batch to the device."""
        prepared = on_device(batch, _array)
        mx.eval(prepared)
        return prepared

    def wait(self) -> None:
        """Return when the results of all started steps exist."""
        mx.eval(self._results)

    def outputs(self, batch: DeviceBatch) -> NDArray[np.float64]:
        """Return the model's outputs in evaluation mode."""
        training = self._model.training
        self._model.eval()
        outputs = self._forward(batch[0])
        self._model.train(training)
        return np.array(outputs, np.float64)

    def parameters(self) -> Arrays:
        """Return every parameter as it is now, in float64."""
        return self._border.parameters(self._model.parameters())

    def state(self) -> Arrays:
        """Return every running statistic as it is now, in float64."""
        return self._border.state(self._model.parameters())

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force; MLX takes TF32 on a GPU unless its variable forbids it."""
        device = _device()
        reduced = device != "cpu" and os.environ.get("MLX_ENABLE_TF32") != "0"
        compiled = self._mode == "compiled" and compilation.is_in_force()
        return {
            "mode": "compiled" if compiled else "eager",
            "device": device,
            "threads": blas.threads(),
            "blas": blas.library(),
            "precision": _precision(self._model),
            "tf32_matmul": reduced,
            "tf32_convolution": reduced,
            "accumulation": None,
            "layout": "nhwc",
            "optimizer_kernel": DEFAULT,
            "conv_algorithm": None,
            "graph_optimization": "on" if compiled else None,
            "onednn": None,
            "denormals": denormals.in_force(lambda *both: np.array(mx.multiply(*map(mx.array, both))), 1),
            "optimizer": None,
            "loss_scaling": None,
            "attention": attention.taken(),
            **recurrent.settings(self._model),
            **self._replicas.settings(),
            **graphs.in_force.settings(),
        }

    def compilation(self) -> Compilation:
        """Return what this process has traced and compiled so far."""
        return compilation.reading(self._mode)

    def profiled(self, work: Callable[[], None]) -> Profiled:  # noqa: ARG002 - the port's signature
        """Return no time: there is nothing to ask."""
        return Profiled(None, "MLX has no profiler of its own: on a GPU it writes captures for Xcode, else nothing")

    def device_memory(self) -> DeviceMemory:
        """Return what the GPU's allocator has held; a processor has none."""
        return memory.reading(_device())

    def reset_device_peak(self) -> None:
        """Count the GPU's peak from now on."""
        mx.reset_peak_memory()


class TrainStep(WithoutOutputs, Step):
    """Forward, loss, backward and optimiser in one function of the batch and the state."""

    def __init__(self, model: Model, options: Mapping[str, str], replicas: Replicas) -> None:
        """Add the workload's loss and optimiser; `gradients` has the same function but for the update."""
        super().__init__(model, options, replicas)
        loss, optimizer = training_parts(model)
        mx.random.seed(replicas.rank)  # each replica drops by draws of its own
        self._formula = optimizer
        self._optimizer = optimizers.make(optimizer, optimizers.trained(optimizer, self._model, self._border.names))
        self._optimizer.init(self._model.trainable_parameters())
        # As MLX's documents have it: all that a step changes, and Dropout draws from the last of them.
        self._state = [self._model.state, self._optimizer.state, mx.random.state]
        self._own_gradients = mlx.nn.value_and_grad(
            self._model, lambda inputs, targets: loss(nn, self._model(inputs), targets, inputs)
        )
        self._differentiate = executed(self._loss_and_gradients, self._mode, reads=self._state, writes=self._state)
        self._advance = executed(self._train, self._mode, reads=self._state, writes=self._state)

    def _loss_and_gradients(self, inputs: Any, targets: Any) -> tuple[mx.array, Any]:
        """Return the loss of this process's samples, and the mean of all replicas' gradients."""
        loss, gradients = self._own_gradients(inputs, targets)
        return loss, self._replicas.mean(gradients)

    def _train(self, inputs: Any, targets: Any) -> mx.array:
        """Train on one batch; return the loss before it."""
        loss, gradients = self._loss_and_gradients(inputs, targets)
        self._optimizer.update(self._model, optimizers.clipped(self._formula, gradients))
        return loss

    def run(self, batch: DeviceBatch) -> None:
        """Start one training step."""
        self._loss = self._advance(*batch)
        self._results = self._loss, self._state
        mx.async_eval(self._results)

    def result(self) -> float:
        """Return the loss of the last step."""
        return float(self._loss.item())

    def fetch_all(self) -> None:
        """Read all that the last step has left, in its place: MLX has the loss before the gradients."""
        for _, array in tree_flatten([self._loss, self._model.parameters(), self._optimizer.state]):
            memoryview(array)

    def gradients(self, batch: DeviceBatch) -> Arrays:
        """Return the gradient of every parameter that is trained, by the function that training runs."""
        before = self._model.parameters()
        _, gradients = self._differentiate(*batch)
        # What it leaves in the model are the arrays that it has differentiated by, and moved statistics.
        self._model.update(before)
        return self._border.parameters(gradients)

    def snapshot(self) -> snapshots.Snapshot:
        """Return references to all arrays; Dropout's random numbers start anew here, and again at `restore`."""
        return snapshots.take(self._model.state, self._optimizer.state)

    def restore(self, snapshot: snapshots.Snapshot) -> None:
        """Put the arrays of a snapshot back, once those that started steps still compute are there."""
        self.wait()
        snapshots.put_back(snapshot, self._model.state, self._optimizer.state)

    def optimizer_state(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Return the optimiser's arrays one by one."""
        return snapshots.optimizer_arrays(self._optimizer, self._border.names)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force, with the optimiser."""
        return super().settings() | {"optimizer": optimizers.describe(self._optimizer, self._formula)}


class InferStep(WithoutLoss, Step):
    """The forward pass in evaluation mode."""

    def __init__(self, model: Model, options: Mapping[str, str], replicas: Replicas) -> None:
        """Leave the model in evaluation mode."""
        super().__init__(model, options, replicas)
        self._model.eval()

    def run(self, batch: DeviceBatch) -> None:
        """Start one forward pass, and keep its outputs: they are computed after all earlier ones."""
        self._results = self._forward(batch[0])
        mx.async_eval(self._results)

    def last_outputs(self) -> NDArray[np.float64]:
        """Return what `run` has kept."""
        return np.array(self._results, np.float64)


def _steps() -> dict[Scenario, type[TrainStep | InferStep]]:
    """Return the step of each scenario."""
    from bakeoff.frameworks.mlx.per_sample import PerSampleStep  # it is made of the step here

    return {"train": TrainStep, "infer": InferStep, "per-sample-gradients": PerSampleStep}


def _array(values: NDArray[Any]) -> mx.array:
    """Copy values to the device: real numbers as float32, integers as int32."""
    return mx.array(values.astype({"i": np.int32, "f": np.float32}.get(values.dtype.kind, values.dtype)))


def _precision(model: Any) -> str | None:
    """Read back what the parameters are in; None where they differ."""
    found = {str(array.dtype).removeprefix("mlx.core.") for _, array in tree_flatten(model.parameters())}
    return found.pop() if len(found) == 1 else None


def _device() -> str:
    """Return the device that MLX computes on, by the name of the option `device`."""
    return "cpu" if mx.default_device() == mx.Device(mx.cpu) else "mps"


def _why_unavailable(device: str) -> str:
    """Return why a device cannot be used; nothing when it can."""
    if device == "mps" and not mx.metal.is_available():
        return f"no MPS device: MLX {metadata.version('mlx')} has no Metal here, which is on Apple's computers only"
    return ""

"""Jittor behind the port: one process, steps as its users write them.

Jittor executes lazily: an operation is noted when it is called, and run, fused with its neighbours, when somebody asks
for a result. An optimiser asks for the parameters of the step before; `wait` asks for all that is held.
"""

from __future__ import annotations

import ctypes
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.frameworks.jittor import home

home.settle()

import jittor as jt  # noqa: E402 - reads its settings when it is imported

from bakeoff.frameworks import denormals  # noqa: E402
from bakeoff.frameworks.jittor import compilation, graphs, nn, normalisation, optimizers, peaks, recurrent, snapshots  # noqa: E402
from bakeoff.frameworks.steps import WithoutLoss, WithoutOutputs, for_scenario, names_of, on_device, training_parts  # noqa: E402
from bakeoff.spec.errors import UnsupportedError  # noqa: E402
from bakeoff.spec.record import DeviceMemory  # noqa: E402
from bakeoff.spec.selftest import Profiled  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.frameworks.steps import DeviceBatch
    from bakeoff.spec.batch import Batch
    from bakeoff.spec.optimizer import Optimizer
    from bakeoff.spec.record import Compilation
    from bakeoff.spec.scenario import Scenario

_FEATURE_MAP_AXES = 4  # batch, height, width, channels
_VALUES = {"mode": "compiled", "precision": "float32", "device": "cpu"}


class Engine:
    """Jittor in this process."""

    running_variance = nn.RUNNING_VARIANCE

    def configure(self, options: Mapping[str, str]) -> None:
        """Take the only values that there are; OMP_NUM_THREADS has set the threads."""
        for option, value in _VALUES.items():
            if options[option] != value:
                msg = f"Jittor is run with {option}={value} only, not {options[option]}"
                raise UnsupportedError(msg)
        if (found := _threads()) != int(options["threads"]):
            msg = f"Jittor's OpenMP uses {found} threads where threads={options['threads']} was set"
            raise UnsupportedError(msg)
        jt.flags.use_cuda = 0
        jt.set_global_seed(0)  # of Dropout
        normalisation.in_force.choose(options["batch_norm"])
        compilation.settle()

    def versions(self) -> dict[str, str]:
        """Return the versions of Jittor and of the oneDNN that it has loaded."""
        onednn = home.onednn()
        return {"jittor": metadata.version("jittor")} | ({"oneDNN": onednn} if onednn else {})

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Return whether Jittor reports that memory is exhausted: it hands on what the system said."""
        return "bad_alloc" in str(error) or "out of memory" in str(error)

    def devices(self) -> list[str]:
        """Return the devices that can be used."""
        return ["cpu"]

    def build(self, model: Model, scenario: Scenario, options: Mapping[str, str]) -> TrainStep | InferStep:
        """Build the model, load its weights and make its step."""
        from bakeoff.frameworks.jittor.collecting import CollectingStep  # it is made of the step here

        make = CollectingStep if model.size.collected else for_scenario(_steps(), scenario)
        network = model.build(nn, model.size)
        nn.load(network, model.weights | model.state)
        step = make(network, model, options)
        jt.sync_all(True)  # noqa: FBT003 - wait for the device, too
        return step

    def optimize(self, optimizer: Optimizer, parameters: Arrays, gradients: Sequence[Arrays]) -> list[Arrays]:
        """Apply the optimiser to given gradients; return the parameters after each step."""
        arrays = {name: _array(value) for name, value in parameters.items()}
        native = optimizers.make(optimizer, arrays)
        trajectory = []
        for given in gradients:
            # The gradient of a sum of products with an array is that array.
            loss = sum(jt.sum(arrays[name] * _array(gradient)) for name, gradient in given.items())
            optimizers.step(native, optimizer, loss)
            trajectory.append({name: np.array(array.numpy()) for name, array in arrays.items()})
        return trajectory

    def product(self, left: NDArray[np.float32], right: NDArray[np.float32]) -> peaks.Product:
        """Make Jittor's arrays of two matrices."""
        return peaks.Product(left, right)

    def sums(self, count: int) -> peaks.Sums:
        """Make arrays of ones."""
        return peaks.Sums(count)


class Step:
    """What the steps of all scenarios have in common: a network, and its forward pass."""

    def __init__(self, network: Any, model: Model, options: Mapping[str, str]) -> None:
        """Take a network whose weights are loaded, the model that it was built from, and the options."""
        del model, options  # for steps that train
        self._network = network

    def prepare(self, batch: Batch) -> DeviceBatch:
        """Make Jittor's arrays of a batch: feature maps with channels first, real numbers in float32."""
        prepared = on_device(batch, lambda array: _array(channels_first(array)).stop_grad())
        jt.sync(names_of(batch).listed(prepared), True)  # noqa: FBT003 - wait for the device, too
        return prepared

    def wait(self) -> None:
        """Return when all that was noted is computed."""
        jt.sync_all(True)  # noqa: FBT003 - wait for the device, too

    def outputs(self, batch: DeviceBatch) -> NDArray[np.float64]:
        """Return the network's outputs in evaluation mode."""
        training = self._network.is_training()
        _set_training(self._network, training=False)
        with jt.no_grad():
            outputs = self._network(batch[0]).numpy()
        _set_training(self._network, training=training)
        return channels_last(np.array(outputs, np.float64))

    def parameters(self) -> Arrays:
        """Return every parameter as it is now."""
        return nn.read(self._network, lambda parameter: parameter)

    def state(self) -> Arrays:
        """Return every running statistic as it is now."""
        return {name: np.array(array.numpy()) for name, array in nn.state(self._network).items()}

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force."""
        arrays = [array for array, _ in nn.parameters(self._network).values()]
        return {
            "mode": "compiled",
            "precision": str(arrays[0].dtype),
            "parameters_dtype": str(arrays[0].dtype),
            "device": "cuda" if jt.flags.use_cuda else "cpu",
            "threads": _threads(),
            "tf32_matmul": None,
            "tf32_convolution": None,
            "accumulation": None,
            "layout": "nchw" if any(len(array.shape) == _FEATURE_MAP_AXES for array in arrays) else None,
            "onednn": "on" if jt.compile_extern.mkl_ops is not None and jt.flags.enable_tuner else "off",
            "batch_norm": normalisation.in_force.value,
            "attention": "jittor.attention.scaled_dot_product_attention",
            **recurrent.settings(self._network),
            **graphs.in_force.settings(),
            "denormals": denormals.in_force(_product, _threads()),
            "optimizer": None,
            "lazy_execution": int(jt.flags.lazy_execution),
            "compiler": _compiler(),
        }

    def compilation(self) -> Compilation:
        """Return which operations this process has compiled or loaded so far."""
        return compilation.compiled()

    def profiled(self, work: Callable[[], None]) -> Profiled:
        """Do the work and return no time: Jittor's profiler reports nothing to compare the clock with."""
        work()
        return Profiled(None, "jittor.profile_scope adds up each operation's time, and gives no moments of time")

    def device_memory(self) -> DeviceMemory:
        """Return nothing: a processor has no memory of its own."""
        return DeviceMemory()


class TrainStep(WithoutOutputs, Step):
    """Forward, loss, backward and optimiser."""

    def __init__(self, network: Any, model: Model, options: Mapping[str, str]) -> None:
        """Take the network with its workload's loss and optimiser."""
        super().__init__(network, model, options)
        self._loss_of, optimizer = training_parts(model)
        network.train()
        named = {name: array for name, (array, _) in nn.parameters(network).items()}
        optimizers.freeze(optimizer, named)
        self._formula, self._optimizer = optimizer, optimizers.make(optimizer, named)

    def run(self, batch: DeviceBatch) -> None:
        """Train on one batch, as Jittor's users do: the next step, or `wait`, has it computed."""
        inputs, targets = batch
        self._loss = self._loss_of(nn, self._network(inputs), targets, inputs)
        optimizers.step(self._optimizer, self._formula, self._loss)

    def result(self) -> float:
        """Return the loss of the last step."""
        return float(self._loss.item())

    def fetch_all(self) -> None:
        """Read all that the last step has left, in its place: for its loss alone Jittor computes no update."""
        for array in (self._loss, *snapshots.arrays(self._network, self._optimizer)):
            _ = array.data

    def gradients(self, batch: DeviceBatch) -> Arrays:
        """Return the gradient of every parameter that is trained, by the loss that `run` takes."""
        before = self.state()
        inputs, targets = batch
        loss = self._loss_of(nn, self._network(inputs), targets, inputs)
        arrays = [array for array, _ in nn.parameters(self._network).values() if not array.is_stop_grad()]
        gradients = {id(array): gradient for array, gradient in zip(arrays, jt.grad(loss, arrays), strict=True)}
        found = nn.read(self._network, lambda array: gradients.get(id(array)))
        for name, array in nn.state(self._network).items():
            nn.put(array, before[name])
        jt.sync_all(True)  # noqa: FBT003 - wait for the device, too
        return found

    def used_gradients(self) -> Arrays:
        """Return the gradients that the last step followed, which Jittor keeps.

        It fuses what it computes with what comes behind, so that those of `gradients` may be rounded otherwise.
        """
        used = optimizers.used(self._optimizer)
        trained = (array for array, _ in nn.parameters(self._network).values() if not array.is_stop_grad())
        found = {id(array): used[id(array)] if id(array) in used else jt.zeros(array.shape) for array in trained}
        return nn.read(self._network, lambda array: found.get(id(array)))

    def snapshot(self) -> snapshots.Snapshot:
        """Return copies of network and optimiser; Dropout's random numbers start anew here, and again at `restore`."""
        return snapshots.take(self._network, self._optimizer)

    def restore(self, snapshot: snapshots.Snapshot) -> None:
        """Copy a snapshot into the arrays that are there."""
        snapshots.put_back(snapshot, self._network, self._optimizer)

    def optimizer_state(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Return the optimiser's arrays one by one."""
        return snapshots.optimizer_arrays(self._network, self._optimizer)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force, with the optimiser."""
        return super().settings() | {"optimizer": optimizers.describe(self._optimizer, self._formula)}


class InferStep(WithoutLoss, Step):
    """The forward pass in evaluation mode, without gradients."""

    def __init__(self, network: Any, model: Model, options: Mapping[str, str]) -> None:
        """Take the network and leave it in evaluation mode."""
        super().__init__(network, model, options)
        network.eval()

    def run(self, batch: DeviceBatch) -> None:
        """Compute the outputs of one batch, and keep them: what nobody asks for, Jittor would never compute."""
        with jt.no_grad():
            self._outputs = self._network(batch[0])
        jt.sync([self._outputs])

    def last_outputs(self) -> NDArray[np.float64]:
        """Return what `run` has kept."""
        return channels_last(np.array(self._outputs.numpy(), np.float64))


def _steps() -> dict[Scenario, type[TrainStep | InferStep]]:
    """Return the step of each scenario."""
    from bakeoff.frameworks.jittor.per_sample import PerSampleStep  # it is made of the step here

    return {"train": TrainStep, "infer": InferStep, "per-sample-gradients": PerSampleStep}


def channels_first(array: NDArray[Any]) -> NDArray[Any]:
    """Return a canonical array in Jittor's order of axes."""
    return np.ascontiguousarray(array.transpose(0, 3, 1, 2)) if array.ndim == _FEATURE_MAP_AXES else array


def channels_last(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in Jittor's order of axes in canonical order."""
    return array.transpose(0, 2, 3, 1) if array.ndim == _FEATURE_MAP_AXES else array


def _array(values: NDArray[Any]) -> Any:
    """Make Jittor's array of values: real numbers in float32, integers as int32."""
    dtype = {"i": np.int32, "f": np.float32}.get(values.dtype.kind, values.dtype)
    return jt.array(values.astype(dtype, copy=False))


def _set_training(network: Any, *, training: bool) -> None:
    """Set the mode alone: Jittor's `eval` stops gradients too, and its `train` starts them again with other arrays."""
    for module in network.modules():
        module.is_train = training


def _product(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Multiply in Jittor."""
    return np.asarray((jt.array(left) * jt.array(right)).numpy())


def _compiler() -> str:
    """Read back what compiles the operations, and how it optimises."""
    flags = [flag for flag in str(jt.flags.cc_flags).split() if flag.startswith(("-O", "-m"))]
    return " ".join([str(jt.flags.cc_path), *flags])


def _threads() -> int:
    """Read back how many threads OpenMP gives to an operation."""
    return int(ctypes.CDLL("libgomp.so.1").omp_get_max_threads())

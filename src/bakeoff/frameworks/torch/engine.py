"""PyTorch behind the port: one process, one device, steps as its users write them."""

from __future__ import annotations

import importlib
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from bakeoff.frameworks import denormals
from bakeoff.frameworks.engine import BuildTargets
from bakeoff.frameworks.steps import WithoutLoss, WithoutOutputs, for_scenario, on_device, training_parts
from bakeoff.frameworks.torch import attention, devices, memory, nn, optimizers, peaks, profiling, snapshots, tf32
from bakeoff.frameworks.torch.compilation import compiled, graphs
from bakeoff.frameworks.torch.parts import Parts
from bakeoff.frameworks.torch.precision import Precision, Update
from bakeoff.frameworks.torch.replicas import Replicas
from bakeoff.frameworks.torch.rounding import Rounding
from bakeoff.frameworks.torch.switches import Switches, kernel_of
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.record import Compilation
from bakeoff.spec.scenario import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.frameworks.steps import DeviceBatch
    from bakeoff.spec.batch import Batch
    from bakeoff.spec.group import Group
    from bakeoff.spec.optimizer import Optimizer
    from bakeoff.spec.record import DeviceMemory
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.selftest import Profiled
    from bakeoff.spec.trial import Purpose

FEATURE_MAP_AXES = 4  # batch, height, width, channels
_MODES = ("eager", "compiled")


class Engine:
    """PyTorch in this process."""

    running_variance = nn.RUNNING_VARIANCE
    _device = "cpu"
    _group: Group | None = None
    rounding = Rounding
    _limit: tuple[int, int] | None = None
    """Of CUDA's allocator, and the GPU's memory, in bytes."""

    def preload(self, scenario: Scenario) -> None:
        """Import what making the first optimiser imports, a second's work: torch._dynamo and all that it needs."""
        if SCENARIOS[scenario].trains:
            importlib.import_module("torch._dynamo")

    def limit_memory(self, limit_bytes: int, total_bytes: int) -> None:
        """Have CUDA's allocator keep a limit, from `configure` on."""
        self._limit = limit_bytes, total_bytes

    def join(self, group: Group) -> None:
        """Note which replica this is."""
        self._group = group

    def configure(self, options: Mapping[str, str]) -> None:
        """Set device, precision and threads; raise UnsupportedError for what this PyTorch or machine lacks."""
        for option, valid in (("mode", _MODES), ("device", devices.SYNCHRONIZE)):
            if options[option] not in valid:
                msg = f"PyTorch has no {option}={options[option]}; it has {', '.join(valid)}"
                raise UnsupportedError(msg)
        self._device = options["device"]
        if reason := devices.why_unavailable(self._device):
            raise UnsupportedError(reason)
        if self._limit is not None:
            memory.limit(*self._limit)
        self._precision = Precision(options["precision"], self._device)
        _set_threads(int(options["threads"]))
        self._switches = Switches(options, Replicas(self._group, options))

    def versions(self) -> dict[str, str]:
        """Return PyTorch's version and, where it was built for them, those of CUDA and cuDNN."""
        found = {"torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}
        return {name: str(version) for name, version in found.items() if version is not None}

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Return whether PyTorch reports that memory is exhausted."""
        return memory.is_exhausted(error)

    def may_be_out_of_memory(self, error: BaseException) -> bool:
        """Return whether PyTorch may mean that, or something else."""
        return memory.may_be_exhausted(error)

    def devices(self) -> list[str]:
        """Return the devices that can be used."""
        return [device for device in devices.SYNCHRONIZE if not devices.why_unavailable(device)]

    def why_not(self, device: str) -> str:
        """Return why PyTorch cannot use a device."""
        return devices.why_unavailable(device)

    def built_for(self) -> BuildTargets:
        """Return PyTorch's CUDA and what its wheel was compiled for; both are there without a GPU, too."""
        return BuildTargets(cuda=torch.version.cuda or "", kernels=tuple(torch.cuda.get_arch_list()))

    def build(self, model: Model, scenario: Scenario, options: Mapping[str, str]) -> TrainStep | InferStep:
        """Build the model, load its weights and make its step; compiling is left to the first call."""
        from bakeoff.frameworks.torch.collecting import CollectingStep  # they are made of the steps here
        from bakeoff.frameworks.torch.per_sample import STEPS

        attention.forget()
        make = CollectingStep if model.size.collected else for_scenario(STEPS, scenario)
        if model.shards > 1 and model.per_sample is None:  # the reference alone, and it is made of the steps here
            make = importlib.import_module("bakeoff.frameworks.torch.sharded").ShardedTrainStep
        network = model.build(nn, model.size).to(device=self._device, dtype=self._precision.dtype)
        nn.load(self._switches.placed(network), model.weights | model.state)
        return make(network, model, options["mode"], self._precision, self._switches)

    def easing(self, purpose: Purpose) -> AbstractContextManager[Any]:
        """Return `Parts` for the reference."""
        return Parts() if purpose == "reference" else nullcontext()

    def optimize(self, optimizer: Optimizer, parameters: Arrays, gradients: Sequence[Arrays]) -> list[Arrays]:
        """Apply the optimiser to given gradients; return the parameters after each step."""
        tensors = {name: torch.nn.Parameter(self._tensor(array)) for name, array in parameters.items()}
        native = optimizers.make(optimizer, tensors, self._switches.kernel)
        update = Update(native, optimizers.clipping(optimizer, tensors.values()))  # given gradients are not scaled
        trajectory = []
        for step_gradients in gradients:
            for name, gradient in step_gradients.items():
                tensors[name].grad = self._tensor(gradient)
            update.step()
            trajectory.append({name: np.array(tensor.detach().cpu().numpy()) for name, tensor in tensors.items()})
        return trajectory

    def measured_tf32(self) -> dict[str, bool]:
        """Return whether products of float32 are less than that."""
        return tf32.measured(self._device)

    def product(self, left: NDArray[np.float32], right: NDArray[np.float32]) -> peaks.Product:
        """Put two matrices on the device in the precision of products."""
        first, second = (torch.tensor(m, dtype=self._precision.compute, device=self._device) for m in (left, right))
        return peaks.Product(first, second, devices.SYNCHRONIZE[self._device])

    def sums(self, count: int) -> peaks.Sums:
        """Put arrays of ones on the device."""
        return peaks.Sums(
            torch.ones(count, dtype=torch.float32, device=self._device), devices.SYNCHRONIZE[self._device]
        )

    def _tensor(self, array: NDArray[Any]) -> Any:
        """Copy an array to the device, in the parameters' precision."""
        return torch.tensor(array, dtype=self._precision.dtype, device=self._device)


class Step:
    """What the steps of all scenarios have in common: a network on its device, and its forward pass."""

    def __init__(self, network: Any, model: Model, mode: str, precision: Precision, switches: Switches) -> None:
        """Take a network whose weights are loaded, and the model that it was built from."""
        del model  # for steps that train
        self._network = network
        self._mode = mode
        self._precision, self._switches = precision, switches
        first = next(network.parameters())
        self._device, self._dtype = first.device, first.dtype
        self._synchronize = devices.SYNCHRONIZE[first.device.type]
        self._forward = self._executed(network)

    def _executed(self, function: Any) -> Any:
        """Return the function as the mode executes it, in the step's precision."""
        return self._precision.around(self._switches.compiled(function) if self._mode == "compiled" else function)

    def prepare(self, batch: Batch) -> DeviceBatch:
        """Put a batch on the device: feature maps in the layout, real numbers in the parameters' precision."""
        prepared = on_device(batch, self._placed)
        self._synchronize()
        return prepared

    def _placed(self, array: NDArray[Any]) -> Any:
        """Copy an array to the device, a feature map with channels first and in the layout."""
        if array.ndim == FEATURE_MAP_AXES:
            return self._switches.placed(self._tensor(channels_first(array)))
        return self._tensor(array)

    def _tensor(self, array: NDArray[Any]) -> Any:
        """Copy an array to the device; integers become int64, the type that PyTorch's losses take for labels."""
        dtype = {"i": torch.int64, "f": self._dtype}.get(array.dtype.kind)  # None: booleans stay what they are
        return torch.tensor(array, dtype=dtype, device=self._device)

    def wait(self) -> None:
        """Return when all that was started on the device is done."""
        self._synchronize()

    def outputs(self, batch: DeviceBatch) -> NDArray[np.float64]:
        """Return the network's outputs in evaluation mode."""
        training = self._network.training
        self._network.eval()
        with torch.inference_mode():
            outputs = self._forward(batch[0])
        self._network.train(training)
        return _read(outputs)

    def parameters(self) -> Arrays:
        """Return every parameter as it is now."""
        return nn.read(self._network, lambda parameter: parameter)

    def unequal(self) -> str:
        """Return nothing: a process has one device."""
        return ""

    def state(self) -> Arrays:
        """Return every running statistic as it is now."""
        return {name: np.array(tensor.cpu().numpy()) for name, tensor in nn.state(self._network).items()}

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force."""
        settings: dict[str, str | int | float | bool | None] = {
            "mode": self._mode,
            "device": self._device.type,
            "threads": torch.get_num_threads(),
            **self._precision.settings(),
            **self._switches.replicas.settings(self._switches.options),
            **self._switches.settings(self._network, self._device.type, self._mode),
            "denormals": denormals.in_force(self._product, torch.get_num_threads()),
            "optimizer": None,
            "device_memory": memory.policy(self._device),
        }
        if self._device.type == "cuda":
            settings["device_name"] = torch.cuda.get_device_name(self._device)
        if self._mode == "compiled":
            settings |= {"compiled_graphs": graphs(), "mode": "compiled" if graphs() else "eager"}
        return settings

    def _product(self, left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
        """Multiply by an operation of its own: compiled code runs on the same threads."""
        product = torch.from_numpy(left).to(self._device) * torch.from_numpy(right).to(self._device)
        return np.asarray(product.cpu().numpy())

    def compilation(self) -> Compilation:
        """Return what torch.compile has done so far."""
        return compiled() if self._mode == "compiled" else Compilation(trace_ns=0, compile_ns=0, count=0)

    def profiled(self, work: Callable[[], None]) -> Profiled:
        """Return the time that PyTorch's own clock measured for some steps."""
        return profiling.profiled(work, self._device.type)

    def device_memory(self) -> DeviceMemory:
        """Return what the device's allocator has held; a processor has none."""
        return memory.reading(self._device)

    def reset_device_peak(self) -> None:
        """Count the allocator's peaks from now on."""
        memory.reset_peak(self._device)


class TrainStep(WithoutOutputs, Step):
    """Forward, loss, backward and optimiser.

    In mode compiled, torch.compile takes the forward pass with the loss, and with them the backward pass that belongs
    to them; the optimiser stays PyTorch's own, as in its users' programs.
    """

    def __init__(self, network: Any, model: Model, mode: str, precision: Precision, switches: Switches) -> None:
        """Take the network with its workload's loss and optimiser."""
        super().__init__(network, model, mode, precision, switches)
        loss, optimizer = training_parts(model)
        named = optimizers.parameters(optimizer, network)
        self._loss_of = self._executed(_loss_function(self._replicated(network), loss))
        self._optimizer = optimizers.make(optimizer, named, switches.kernel)
        self._clip = optimizers.clipping(optimizer, network.parameters())
        self._update = precision.update(self._optimizer, self._clip)

    def _replicated(self, network: Any) -> Any:
        """Return the network as the loss calls it: on several devices its backward pass averages over them."""
        return self._switches.replicas.wrapped(network)

    def run(self, batch: DeviceBatch) -> None:
        """Train on one batch."""
        inputs, targets = batch
        self._optimizer.zero_grad()
        loss = self._loss_of(inputs, targets)
        self._update.backward(loss)
        self._update.step()
        self._loss = loss

    def result(self) -> float:
        """Return the loss of the last step."""
        return float(self._loss.detach())

    def gradients(self, batch: DeviceBatch) -> Arrays:
        """Return each trained parameter's gradient, by the loss that `run` calls; those of its last step stay."""
        statistics = nn.state(self._network)
        before = {name: tensor.clone() for name, tensor in statistics.items()}
        held = [(parameter, parameter.grad) for parameter in self._network.parameters()]
        self._update.differentiate(lambda: self._loss_of(*batch))
        gradients = nn.read(self._network, _gradient)
        for parameter, gradient in held:
            parameter.grad = gradient
        for name, tensor in statistics.items():
            tensor.copy_(before[name])
        return gradients

    def kept_gradients(self) -> Arrays:
        """Return each trained parameter's gradient that the last `run` has computed, clipped where it clips."""
        return nn.read(self._network, _gradient)

    def snapshot(self) -> snapshots.Snapshot:
        """Return a copy of network, optimiser, loss scaling and random state; Dropout draws the same after it."""
        taken = snapshots.take(self._network, self._optimizer, self._update.scale_state())
        self._synchronize()
        return taken

    def restore(self, snapshot: snapshots.Snapshot) -> None:
        """Copy a snapshot into the tensors that are there, which compiled code and CUDA know by their addresses."""
        snapshots.put_back(snapshot, self._network, self._optimizer)
        self._update.put_scale_back(snapshot.scaler)
        self._synchronize()

    def optimizer_state(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Return the optimiser's arrays one by one."""
        return snapshots.optimizer_arrays(self._network, self._optimizer)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force, with the optimiser; None for foreach or fused: PyTorch was not asked."""
        defaults = self._optimizer.defaults
        return super().settings() | {
            "loss_scaling": self._update.scaling(),
            "optimizer_kernel": kernel_of(self._optimizer),
            "optimizer": optimizers.describe(self._optimizer, self._clip),
            "optimizer_foreach": defaults["foreach"],
            "optimizer_fused": defaults.get("fused"),
        }


class InferStep(WithoutLoss, Step):
    """The forward pass in evaluation mode, without gradients."""

    def __init__(self, network: Any, model: Model, mode: str, precision: Precision, switches: Switches) -> None:
        """Take the network and leave it in evaluation mode."""
        super().__init__(network.eval(), model, mode, precision, switches)

    def run(self, batch: DeviceBatch) -> None:
        """Compute the outputs of one batch, and keep them."""
        with torch.inference_mode():
            self._outputs = self._forward(batch[0])

    def last_outputs(self) -> NDArray[np.float64]:
        """Return what `run` has kept."""
        return _read(self._outputs)


def channels_first(array: NDArray[Any]) -> NDArray[Any]:
    """Return a canonical array in PyTorch's order of axes."""
    return np.ascontiguousarray(array.transpose(0, 3, 1, 2)) if array.ndim == FEATURE_MAP_AXES else array


def channels_last(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in PyTorch's order of axes in canonical order."""
    return array.transpose(0, 2, 3, 1) if array.ndim == FEATURE_MAP_AXES else array


def _read(outputs: Any) -> NDArray[np.float64]:
    """Return outputs in canonical order; by way of double, because NumPy has no bfloat16."""
    return channels_last(outputs.cpu().double().numpy())


def _loss_function(network: Any, loss: Callable[[ModuleType, Any, Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return the function from a batch to its loss."""

    def loss_of(inputs: Any, targets: Any) -> Any:
        return loss(nn, network(inputs), targets, inputs)

    return loss_of


def _gradient(parameter: Any) -> Any:
    """Return a parameter's gradient, zero where the loss does not depend on it; None where it is not trained."""
    is_unused = parameter.grad is None and parameter.requires_grad  # PyTorch keeps None for both
    return torch.zeros_like(parameter) if is_unused else parameter.grad


def _set_threads(threads: int) -> None:
    """Set the threads within one operation; raise UnsupportedError where PyTorch does not obey."""
    torch.set_num_threads(threads)
    if torch.get_num_threads() != threads:
        msg = f"PyTorch uses {torch.get_num_threads()} threads where threads={threads} was set"
        raise UnsupportedError(msg)

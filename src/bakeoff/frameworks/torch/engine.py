"""PyTorch behind the port: one process, one device, steps as its users write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from bakeoff.frameworks.torch import memory, nn, optimizers, profiling
from bakeoff.frameworks.torch.compilation import compiled, graphs
from bakeoff.frameworks.torch.precision import Precision
from bakeoff.frameworks.torch.switches import Switches, kernel_of
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.record import Compilation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.frameworks.engine import Step as StepPort
    from bakeoff.spec.optimizer import Optimizer
    from bakeoff.spec.record import DeviceMemory
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.selftest import Profiled

_FEATURE_MAP_AXES = 4  # batch, height, width, channels
_MODES = ("eager", "compiled")


def _already_there() -> None:
    """Wait for nothing: on a processor an operation returns when its result is there."""


_SYNCHRONIZE: dict[str, Callable[[], None]] = {
    "cpu": _already_there,
    "cuda": torch.cuda.synchronize,
    "mps": torch.mps.synchronize,
}


class Engine:
    """PyTorch in this process."""

    running_variance = nn.RUNNING_VARIANCE
    _device = "cpu"

    def configure(self, options: Mapping[str, str]) -> None:
        """Set device, precision and threads; raise UnsupportedError for what this PyTorch or machine lacks."""
        for option, valid in (("mode", _MODES), ("device", _SYNCHRONIZE)):
            if options[option] not in valid:
                msg = f"PyTorch has no {option}={options[option]}; it has {', '.join(valid)}"
                raise UnsupportedError(msg)
        self._device = options["device"]
        if reason := _why_unavailable(self._device):
            raise UnsupportedError(reason)
        self._precision = Precision(options["precision"], self._device)
        self._switches = Switches(options)
        _set_threads(int(options["threads"]))

    def versions(self) -> dict[str, str]:
        """Give PyTorch's version and, where it was built for them, those of CUDA and cuDNN."""
        found = {"torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}
        return {name: str(version) for name, version in found.items() if version is not None}

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Tell whether PyTorch has found the memory at its end."""
        return memory.is_exhausted(error)

    def devices(self) -> list[str]:
        """Give the devices that can be used."""
        return [device for device in _SYNCHRONIZE if not _why_unavailable(device)]

    def build(self, model: Model, scenario: Scenario, options: Mapping[str, str]) -> StepPort:
        """Build the model, load its weights and make its step; compiling is left to the first call."""
        network = model.build(nn, model.size).to(device=self._device, dtype=self._precision.dtype)
        nn.load(self._switches.placed(network), model.weights | model.state)
        if scenario == "infer":
            return InferStep(network, options["mode"], self._precision, self._switches)
        return TrainStep(network, options["mode"], self._precision, self._switches, model)

    def optimize(self, optimizer: Optimizer, parameters: Arrays, gradients: Sequence[Arrays]) -> list[Arrays]:
        """Apply the optimiser to given gradients; give the parameters after each step."""
        tensors = {name: torch.nn.Parameter(self._tensor(array)) for name, array in parameters.items()}
        native = optimizers.make(optimizer, tensors.values(), self._switches.kernel)
        trajectory = []
        for step_gradients in gradients:
            for name, tensor in tensors.items():
                tensor.grad = self._tensor(step_gradients[name])
            native.step()
            trajectory.append({name: np.array(tensor.detach().cpu().numpy()) for name, tensor in tensors.items()})
        return trajectory

    def _tensor(self, array: NDArray[Any]) -> Any:
        """Copy an array to the device, in the parameters' precision."""
        return torch.tensor(array, dtype=self._precision.dtype, device=self._device)


class _Step:
    """What steps of both scenarios have in common: a network on its device, and its forward pass."""

    def __init__(self, network: Any, mode: str, precision: Precision, switches: Switches) -> None:
        """Take a network whose weights are loaded."""
        self._network = network
        self._mode = mode
        self._precision, self._switches = precision, switches
        first = next(network.parameters())
        self._device, self._dtype = first.device, first.dtype
        self._synchronize = _SYNCHRONIZE[first.device.type]
        self._forward = self._executed(network)

    def _executed(self, function: Any) -> Any:
        """Give the function as the mode executes it, in the step's precision."""
        return self._precision.around(self._switches.compiled(function) if self._mode == "compiled" else function)

    def prepare(self, x: NDArray[Any], y: NDArray[Any]) -> tuple[Any, Any]:
        """Put one batch on the device: feature maps in the layout, real numbers in the parameters' precision."""
        if x.ndim == _FEATURE_MAP_AXES:
            inputs = self._switches.placed(self._tensor(np.ascontiguousarray(x.transpose(0, 3, 1, 2))))
        else:
            inputs = self._tensor(x)
        batch = inputs, self._tensor(y)
        self._synchronize()
        return batch

    def _tensor(self, array: NDArray[Any]) -> Any:
        """Copy an array to the device; whole numbers become int64, the type that PyTorch's losses take for labels."""
        whole = np.issubdtype(array.dtype, np.integer)
        return torch.tensor(array, dtype=torch.int64 if whole else self._dtype, device=self._device)

    def wait(self) -> None:
        """Return when all that was started on the device is done."""
        self._synchronize()

    def outputs(self, batch: tuple[Any, Any]) -> NDArray[np.float64]:
        """Give the network's outputs in evaluation mode."""
        training = self._network.training
        self._network.eval()
        with torch.inference_mode():
            outputs = self._forward(batch[0])
        self._network.train(training)
        return outputs.cpu().double().numpy()  # NumPy has no bfloat16

    def parameters(self) -> Arrays:
        """Give every parameter as it is now."""
        return nn.read(self._network, lambda parameter: parameter)

    def state(self) -> Arrays:
        """Give every running statistic as it is now."""
        return {name: np.array(tensor.cpu().numpy()) for name, tensor in nn.state(self._network).items()}

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force."""
        settings: dict[str, str | int | float | bool | None] = {
            "mode": self._mode,
            "device": self._device.type,
            "threads": torch.get_num_threads(),
            **self._precision.settings(),
            **self._switches.settings(self._network, self._device.type, self._mode),
            "optimizer": None,
        }
        if self._device.type == "cuda":
            settings["device_name"] = torch.cuda.get_device_name(self._device)
        if self._mode == "compiled":
            settings["compiled_graphs"] = graphs()
        return settings

    def compilation(self) -> Compilation:
        """Tell what torch.compile has done so far."""
        if self._mode != "compiled":
            return Compilation(trace_ns=0, compile_ns=0, count=0)
        return compiled()

    def profiled(self, work: Callable[[], None]) -> Profiled:
        """Give what PyTorch's own clock tells of some steps."""
        return profiling.profiled(work, self._device.type)

    def device_memory(self) -> DeviceMemory:
        """Tell what CUDA's allocator has held; MPS tells no peak, a processor has none."""
        return memory.told(self._device)


class TrainStep(_Step):
    """Forward, loss, backward and optimiser.

    In mode compiled, torch.compile takes the forward pass with the loss, and with them the backward pass that belongs
    to them; the optimiser stays PyTorch's own, as in its users' programs.
    """

    def __init__(self, network: Any, mode: str, precision: Precision, switches: Switches, model: Model) -> None:
        """Take the network with its workload's loss and optimiser."""
        super().__init__(network, mode, precision, switches)
        if model.loss is None or model.optimizer is None:
            msg = "the workload has no loss or no optimiser: it is for inference only"
            raise UnsupportedError(msg)
        self._loss_of = self._executed(_loss_function(network, model.loss))
        self._optimizer = optimizers.make(model.optimizer, network.parameters(), switches.kernel)
        self._update = precision.update(self._optimizer)

    def run(self, batch: tuple[Any, Any]) -> None:
        """Train on one batch."""
        x, y = batch
        self._optimizer.zero_grad()
        loss = self._loss_of(x, y)
        self._update.backward(loss)
        self._update.step()
        self._loss = loss

    def result(self) -> float:
        """Give the loss of the last step."""
        return float(self._loss.detach())

    def gradients(self, batch: tuple[Any, Any]) -> Arrays:
        """Give every parameter's gradient, by the loss function that `run` calls."""
        statistics = nn.state(self._network)
        before = {name: tensor.clone() for name, tensor in statistics.items()}
        self._update.differentiate(lambda: self._loss_of(*batch))
        gradients = nn.read(self._network, _gradient)
        self._optimizer.zero_grad()
        for name, tensor in statistics.items():
            tensor.copy_(before[name])
        return gradients

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force, with the optimiser; None for foreach or fused: PyTorch chooses by the device."""
        defaults = self._optimizer.defaults
        return super().settings() | {
            "loss_scaling": self._update.scaling(),
            "optimizer_kernel": kernel_of(self._optimizer),
            "optimizer": type(self._optimizer).__name__,
            "optimizer_foreach": defaults["foreach"],
            "optimizer_fused": defaults.get("fused"),
        }


class InferStep(_Step):
    """The forward pass in evaluation mode, without gradients."""

    def __init__(self, network: Any, mode: str, precision: Precision, switches: Switches) -> None:
        """Take the network and leave it in evaluation mode."""
        super().__init__(network.eval(), mode, precision, switches)

    def run(self, batch: tuple[Any, Any]) -> None:
        """Compute the outputs of one batch, and keep them."""
        with torch.inference_mode():
            self._outputs = self._forward(batch[0])

    def result(self) -> float:
        """Refuse: nothing has a loss here."""
        msg = "a step of the scenario infer has no loss"
        raise UnsupportedError(msg)

    def gradients(self, batch: tuple[Any, Any]) -> Arrays:
        """Refuse: nothing has a gradient here."""
        del batch
        msg = "a step of the scenario infer has no gradients"
        raise UnsupportedError(msg)


def _loss_function(network: Any, loss: Callable[[ModuleType, Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Give the function from a batch to its loss."""

    def loss_of(x: Any, y: Any) -> Any:
        return loss(nn, network(x), y)

    return loss_of


def _gradient(parameter: Any) -> Any:
    """Give a parameter's gradient; zero where the loss does not depend on it, for which PyTorch keeps None."""
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def _set_threads(threads: int) -> None:
    """Set the threads within one operation; raise UnsupportedError where PyTorch does not obey."""
    torch.set_num_threads(threads)
    if torch.get_num_threads() != threads:
        msg = f"PyTorch uses {torch.get_num_threads()} threads where threads={threads} was set"
        raise UnsupportedError(msg)


def _why_unavailable(device: str) -> str:
    """Say why a device cannot be used; nothing when it can."""
    if device == "cuda" and not torch.cuda.is_available():
        cause = "is built without CUDA" if torch.version.cuda is None else f"with CUDA {torch.version.cuda} finds none"
        return f"no CUDA device: PyTorch {torch.__version__} {cause}"
    if device == "mps" and not torch.backends.mps.is_available():
        cause = "finds none" if torch.backends.mps.is_built() else "is built without MPS, which only macOS has"
        return f"no MPS device: PyTorch {torch.__version__} {cause}"
    return ""

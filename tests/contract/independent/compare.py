"""Hold a workload against its independent implementation: the same weights and batch in float64, and what comes out."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch

from bakeoff.data.sources import synthetic
from bakeoff.frameworks.torch import functions, nn, torchvision_models
from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import Optimizer
from bakeoff.workloads import plan
from bakeoff.workloads.load import LoadedWorkload, load
from bakeoff.workloads.losses import given_inputs
from independent.implementation import Implementation
from independent.messages import Answer

LIMIT = 1e-10
"""How far two orders of the same sums in float64 may lie apart, relative to the largest magnitude in an array: honest
ones are within 1e-12, and the smallest of the planted errors is far above."""

NO_GRADIENT = 1e-4
"""Of the largest gradient: one that is smaller is held against this much. That of a key's bias in attention is 0 in
exact arithmetic, as that of a bias before a normalisation, and nothing but rounding in this one."""

GRADIENT = "gradient of "

SEED = 0

NORMALISATIONS = (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.LayerNorm)
CANONICAL = {"weight": "scale", "running_var": "running_variance"}
"""The canonical last names of a normalisation's arrays, where they are not PyTorch's."""


def compare(name: str, path: Path, size_name: str) -> Answer:
    """Return in what the file of a workload, or one that stands for it, differs from the implementation `name`."""
    torchvision_models.imported()  # torchvision, also where its operators for detection are of another build of PyTorch
    implementations = importlib.import_module(f"independent.{name.replace('-', '_')}")
    if size_name not in {"small", *implementations.SIZES}:
        return Answer(is_missing=True)
    loaded = load(path)
    is_small = size_name == "small"
    implementation = getattr(implementations, "SMALL", None) if is_small else implementations.SIZES[size_name]
    declared = _declared(loaded, implementations)
    if implementation is None:
        return Answer(declared=declared)
    torch.set_default_dtype(torch.float64)
    functions.settle("cpu", torch.float64)
    differences = _Pair(loaded, "full" if is_small else size_name, implementations, implementation).differences()
    computed = [f"{what}: {difference:.1e}" for what, difference in differences.items() if not difference <= LIMIT]
    return Answer(declared=declared, computed=computed, compared=len(differences), largest=max(differences.values()))


def _declared(loaded: LoadedWorkload, implementations: Any) -> list[str]:
    """Return how the declared optimiser and sizes differ from the document's."""
    optimizer = msgspec.convert(implementations.OPTIMIZER, Optimizer | None)
    sizes = sorted(loaded.workload.sizes.keys() - {"reduced"})
    both = sorted(implementations.SIZES.keys() & loaded.workload.sizes.keys())
    return [
        *_differing(
            {"optimizer": (loaded.workload.optimizer, optimizer), "sizes": (sizes, sorted(implementations.SIZES))}
        ),
        *chain.from_iterable(_declared_of_size(loaded, name, implementations.SIZES[name]) for name in both),
    ]


def _declared_of_size(loaded: LoadedWorkload, name: str, implementation: Implementation) -> list[str]:
    """Return how one declared size differs from the document's."""
    size = loaded.size(name)
    fields = ("batch_size", "input_shape", "classes", "inputs", "targets", "parameters")
    return _differing({f"{name}: {field}": (getattr(size, field), getattr(implementation, field)) for field in fields})


def _differing(pairs: dict[str, tuple[Any, Any]]) -> list[str]:
    """Return a sentence for each pair whose two values differ."""
    return [f"{what} is {value}, not {expected}" for what, (value, expected) in pairs.items() if value != expected]


class _Pair:
    """A workload's model in bakeoff's vocabulary of PyTorch, and the independent one, with the same weights."""

    def __init__(
        self, loaded: LoadedWorkload, size_name: str, implementations: Any, implementation: Implementation
    ) -> None:
        """Draw weights and batch; models are made one after the other, since each holds up to a gigabyte."""
        self.size = msgspec.structs.replace(
            loaded.size(size_name),
            input_shape=implementation.computed_shape or implementation.input_shape,
            classes=implementation.classes,
            batch_size=implementation.computed_batch,
            inputs=_smaller(loaded.size(size_name).inputs, implementation.computed),
            targets=_smaller(loaded.size(size_name).targets, implementation.computed),
            config=loaded.size(size_name).config | implementation.config,
        )
        self.loaded, self.implementations, self.implementation = loaded, implementations, implementation
        self.arrays = plan.weights(loaded.build, self.size, SEED) | plan.state_values(loaded.build, self.size, SEED)
        self.arrays |= {name: by * self.arrays[name] for name, by in implementation.magnified.items()}
        drawn = synthetic.load(self.size, self.size.batch_size, SEED, None).train
        self.inputs, self.targets = (_tensors(arrays) for arrays in (drawn.inputs, drawn.targets))

    def differences(self) -> dict[str, float]:
        """Return the largest relative difference of each array that the two compute, by what it is."""
        other = _uninitialised(self.implementation.network)
        names = _names(other, self.implementations.layers(other))
        self.kinds = {name: type(other.get_submodule(name.rpartition(".")[0])) for name in names}
        if differing := _only_in_one(self.arrays, names.values()):
            return differing
        own = other.state_dict()
        if differing := [c for name, c in names.items() if self._native(name, self.arrays[c]).shape != own[name].shape]:
            return {f"the shape of {name}": float("inf") for name in differing}
        expected = self._of_the_independent(other, names)
        del other
        computed = self._of_the_workload(names)
        gradients = [np.abs(array).max() for what, array in expected.items() if what.startswith(GRADIENT)]
        least = NO_GRADIENT * max(gradients, default=0.0)
        return _only_in_one(computed, expected) | {
            what: _difference(computed[what], expected[what], least if what.startswith(GRADIENT) else 0.0)
            for what in computed.keys() & expected.keys()
        }

    def _of_the_independent(self, network: Any, names: dict[str, str]) -> dict[str, Any]:
        """Return what the independent implementation computes."""
        own = network.state_dict()
        for name in own.keys() - names.keys():
            own[name].zero_()
        for name, canonical in names.items():
            own[name].copy_(torch.from_numpy(self._native(name, self.arrays[canonical])))
        loss = getattr(self.implementations, "loss", None)
        found = self._computed(network, loss and _given(loss))
        gradients = {
            f"{GRADIENT}{names[name]}": parameter.grad.numpy()
            for name, parameter in network.named_parameters()
            if parameter.grad is not None and name in names
        }
        buffers = {names[name]: tensor.numpy() for name, tensor in network.named_buffers() if name in names}
        return found | gradients | buffers

    def _of_the_workload(self, names: dict[str, str]) -> dict[str, Any]:
        """Return what the workload's file computes; gradients are in the independent implementation's layout."""
        network = _uninitialised(lambda: self.loaded.build(nn, self.size))
        nn.load(network, self.arrays)
        loss = self.loaded.loss
        found = self._computed(network, partial(given_inputs(loss), nn) if loss else None)
        if loss is not None:
            native = {canonical: name for name, canonical in names.items()}
            gradients = nn.read(
                network, lambda tensor: torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
            )
            found |= {f"{GRADIENT}{name}": self._native(native[name], array) for name, array in gradients.items()}
        return found | {name: tensor.numpy() for name, tensor in nn.state(network).items()}

    def _computed(self, network: Any, loss: Any) -> dict[str, Any]:
        """Compute in evaluation, then one training step's forward and backward pass.

        Dropout is on, and both draw the same masks from the same seed: its rates and places are compared, too.
        """
        with torch.no_grad():
            collected = network.collect(self.inputs) if self.size.collected else {}
            found = {f"collected {name}": tensor.numpy() for name, tensor in collected.items()}
            inputs = self.inputs | _moved(collected) if collected else self.inputs
            found |= _named("outputs in evaluation", network.eval()(inputs))
        if loss is None:
            return found
        torch.manual_seed(SEED)
        outputs = network.train()(inputs)
        value = loss(outputs, self.targets, inputs)
        value.backward()
        return found | _named("outputs in training", outputs) | {"loss": value.detach().numpy()}

    def _native(self, name: str, array: Any) -> Any:
        """Bring a canonical array into the layout of torch.nn: outputs first, channels before height and width."""
        if array.ndim == 4:
            return array.transpose(3, 2, 0, 1)
        if self.kinds[name] is torch.nn.Conv1d and array.ndim == 3:
            return array.transpose(2, 1, 0)
        if array.ndim != 2 or self.kinds[name] is torch.nn.Embedding:
            return array
        if (unfolded := self.implementation.flattened.get(name)) is None:
            return array.T
        return array.reshape(*unfolded, -1).transpose(3, 2, 0, 1).reshape(array.shape[1], -1)


def _moved(collected: dict[str, Any]) -> dict[str, Any]:
    """Return what is collected as by other parameters: after the first update of a step these have moved on."""
    stream = np.random.RandomState(SEED)
    factors = {name: 1.0 + 0.2 * stream.standard_normal(tensor.shape) for name, tensor in sorted(collected.items())}
    return {name: tensor * torch.from_numpy(factors[name]) for name, tensor in collected.items()}


def _given(loss: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loss as a function of (outputs, targets, inputs)."""
    sees_inputs = len(inspect.signature(loss).parameters) == len(("outputs", "targets", "inputs"))
    return loss if sees_inputs else lambda outputs, targets, _: loss(outputs, targets)


def _smaller(declared: dict[str, ArraySpec], computed: dict[str, ArraySpec]) -> dict[str, ArraySpec]:
    """Return what is declared, with some arrays in another size."""
    return {name: computed.get(name, array) for name, array in declared.items()}


def _tensors(arrays: dict[str, Any]) -> Any:
    """Return arrays as PyTorch's, maps with channels first: the one that there is, or several by name."""
    found = {}
    for name, array in arrays.items():
        tensor = torch.tensor(array, dtype={"f": torch.float64, "i": torch.int64}.get(array.dtype.kind))
        found[name] = tensor.permute(0, 3, 1, 2).contiguous() if tensor.ndim == 4 else tensor
    return next(iter(found.values())) if len(found) == 1 else found


def _uninitialised(make: Callable[[], Any]) -> Any:
    """Make a model without drawing the weights that are replaced at once: that would take half of all the time.

    One that holds constants, which nothing replaces, is made as it is.
    """
    with torch.device("meta"):
        network = make()
    if {name for name, _ in network.named_buffers()} <= network.state_dict().keys():
        return network.to_empty(device="cpu")
    return make().double()


def _names(network: Any, layers: dict[str, str | None]) -> dict[str, str]:
    """Return the canonical name of each of the network's arrays, by the network's own name; None stays zero."""
    names = {}
    for name in network.state_dict():
        path, _, last = name.rpartition(".")
        if last == "num_batches_tracked" or layers.get(name, "") is None:  # counts, and computes nothing
            continue
        if isinstance(network.get_submodule(path), NORMALISATIONS):
            last = CANONICAL.get(last, last)
        names[name] = layers[name] if name in layers else f"{layers[path]}.{last}"
    return names


def _named(name: str, outputs: Any) -> dict[str, Any]:
    """Return each output of a network, of which it may have several, by a name."""
    several = outputs if isinstance(outputs, tuple) else (outputs,)
    return {f"{name}, {place}": output.detach().numpy() for place, output in enumerate(several)}


def _only_in_one(these: Iterable[str], those: Iterable[str]) -> dict[str, float]:
    """Return an infinite difference for each name that only one of the two has."""
    return {f"only one of the two has {name}": float("inf") for name in sorted(set(these) ^ set(those))}


def _difference(found: Any, expected: Any, least: float) -> float:
    """Return the largest difference of two arrays over the largest magnitude of the expected one, or `least`."""
    if found.shape != expected.shape:
        return float("inf")
    difference = float(np.max(np.abs(found - expected)) / max(np.max(np.abs(expected)), least))
    return difference if np.isfinite(difference) else float("inf")

"""What the steps of all frameworks have in common, whatever the framework: scenarios, and batches by name.

A batch on the device is a pair (inputs, targets) of the framework's own arrays. Each of the two is the array itself
where there is one, else a dict of arrays by name: that is what the model and the loss are called with, and what
torch.compile, jax.jit, tf.function and mx.compile take as one argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from bakeoff.spec.batch import Batch
from bakeoff.spec.errors import UnsupportedError
from bakeoff.workloads.losses import given_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.spec.optimizer import Optimizer
    from bakeoff.spec.scenario import Scenario

T = TypeVar("T")

DeviceBatch = tuple[Any, Any]
"""Inputs and targets on the device, each an array or a dict of arrays by name."""


def for_scenario(steps: Mapping[Scenario, T], scenario: Scenario) -> T:
    """Return an engine's step for a scenario; raise UnsupportedError for a scenario that it has none for."""
    if scenario not in steps:
        msg = f"this engine has no step for the scenario {scenario!r}; it has {', '.join(steps)}"
        raise UnsupportedError(msg)
    return steps[scenario]


def training_parts(model: Model) -> tuple[Callable[..., Any], Optimizer]:
    """Return the loss, of (nn, outputs, targets, inputs), and the optimiser; raise UnsupportedError for none."""
    if model.loss is None or model.optimizer is None:
        msg = "the workload has no loss or no optimiser: it is for inference only"
        raise UnsupportedError(msg)
    return given_inputs(model.loss), model.optimizer


def are_equal(arrays: Sequence[NDArray[Any]]) -> bool:
    """Return whether arrays, such as the copies of one on several devices, are the same in every bit."""
    first = arrays[0].tobytes()
    return all(one.tobytes() == first for one in arrays[1:])


NO_LOSS = "a step that computes outputs only has no loss"
NO_NORMS = "a step that takes the gradient of the whole batch has no norms of samples' gradients, and adds no noise"
NO_OUTPUTS = "a step that trains keeps no outputs"


class WithoutNorms:
    """The refusals of a step that has no per-sample gradients."""

    def norms(self, batch: Any) -> NDArray[np.float64]:
        """Raise UnsupportedError: nothing is clipped."""
        del batch
        raise UnsupportedError(NO_NORMS)

    def noisy_gradients(self, batch: Any) -> Arrays:
        """Raise UnsupportedError: no noise is added."""
        del batch
        raise UnsupportedError(NO_NORMS)


class WithoutLoss(WithoutNorms):
    """The refusals of a step that computes outputs only; the first base of every InferStep."""

    def result(self) -> NoReturn:
        """Raise UnsupportedError: there is no loss."""
        raise UnsupportedError(NO_LOSS)

    def gradients(self, batch: Any) -> Arrays:
        """Raise UnsupportedError: there is no loss to differentiate."""
        del batch
        msg = "a step that computes outputs only has no gradients"
        raise UnsupportedError(msg)

    def snapshot(self) -> Any:
        """Return None: steps change nothing."""
        return None

    def restore(self, snapshot: Any) -> None:
        """Do nothing: there is nothing to put back."""

    def optimizer_state(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Return nothing: there is no optimiser."""
        return iter(())


class WithoutOutputs(WithoutNorms):
    """The refusal of a step that trains; the first base of every TrainStep."""

    def last_outputs(self) -> NoReturn:
        """Raise UnsupportedError: a training step keeps its loss."""
        raise UnsupportedError(NO_OUTPUTS)


class Names(NamedTuple):
    """The names of a batch's arrays: how a list of arrays, inputs first, becomes a batch on the device and back."""

    inputs: tuple[str, ...]
    targets: tuple[str, ...]

    def paired(self, arrays: Sequence[Any]) -> DeviceBatch:
        """Return the batch of these arrays."""
        count = len(self.inputs)
        return _alone_or_named(self.inputs, arrays[:count]), _alone_or_named(self.targets, arrays[count:])

    def listed(self, batch: DeviceBatch) -> list[Any]:
        """Return the arrays of a batch, inputs first."""
        inputs, targets = batch
        return [*_listed(self.inputs, inputs), *_listed(self.targets, targets)]

    def batch(self, arrays: Sequence[NDArray[Any]]) -> Batch:
        """Return the batch of these arrays as NumPy has them."""
        named = dict(zip(self.inputs + self.targets, arrays, strict=True))
        return Batch({name: named[name] for name in self.inputs}, {name: named[name] for name in self.targets})


def names_of(batch: Batch) -> Names:
    """Return the names of a batch's arrays."""
    return Names(tuple(batch.inputs), tuple(batch.targets))


def on_device(batch: Batch, convert: Callable[[NDArray[Any]], Any]) -> DeviceBatch:
    """Return the batch with each array converted to the framework's own."""
    return names_of(batch).paired([convert(array) for array in batch.arrays.values()])


def _alone_or_named(names: tuple[str, ...], arrays: Sequence[Any]) -> Any:
    """Return the one array itself, or several by name."""
    return arrays[0] if len(names) == 1 else dict(zip(names, arrays, strict=True))


def _listed(names: tuple[str, ...], arrays: Any) -> Iterable[Any]:
    """Return the arrays in the order of their names."""
    return (arrays,) if len(names) == 1 else (arrays[name] for name in names)

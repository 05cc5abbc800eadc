"""JAX as an engine: a step is a pure function of its state and a batch, jitted whole or run operation by operation.

JAX starts work asynchronously, on a processor too, and in order: the last result is there after all earlier ones. Its
CPU client lets 32 computations wait and then makes the caller wait, so a long block of steps cannot pile up.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from bakeoff.frameworks import denormals
from bakeoff.frameworks.engine import BuildTargets
from bakeoff.frameworks.jax import (
    attention,
    border,
    convolution,
    devices,
    functions,
    graphs,
    memory,
    nn,
    optimizers,
    peaks,
    phase,
    profiling,
    recurrent,
    snapshots,
    tf32,
    variance,
)
from bakeoff.frameworks.jax.compilation import compiled
from bakeoff.frameworks.jax.precision import Precision, differentiated, kept, scaling
from bakeoff.frameworks.jax.replicas import AXIS, Replicas, copies, in_shards
from bakeoff.frameworks.jax.switches import Switches
from bakeoff.frameworks.steps import WithoutLoss, WithoutOutputs, are_equal, for_scenario, on_device, training_parts
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.optimizer import frozen_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.frameworks.steps import DeviceBatch
    from bakeoff.spec.batch import Batch
    from bakeoff.spec.group import Group
    from bakeoff.spec.optimizer import Optimizer
    from bakeoff.spec.record import Compilation, DeviceMemory
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.selftest import Profiled
    from bakeoff.spec.trial import Purpose

_MODES = ("compiled", "eager")


class State(NamedTuple):
    """What a training step changes, as plain containers that jax.jit takes apart without Python."""

    parameters: dict[str, jax.Array]
    optimizer: Any
    statistics: dict[str, jax.Array]
    """Running means and variances; empty in a model that has none."""
    key: jax.Array | None
    """For Dropout; None in a model without one."""
    scale: Any = None
    """The loss scaling of float16; None in all other precisions."""


class Engine:
    """JAX in this process."""

    running_variance = nn.RUNNING_VARIANCE
    _group: Group | None = None

    def join(self, group: Group) -> None:
        """Note which process of a group this is: `configure` meets the others."""
        self._group = group

    def limit_memory(self, limit_bytes: int, total_bytes: int) -> None:
        """Have the GPU's allocator keep a limit: its client, which `configure` makes, reads it from a variable."""
        memory.limit(limit_bytes, total_bytes)

    def configure(self, options: Mapping[str, str]) -> None:
        """Set platform and precision, whatever the user's environment says of them; NPROC has set the threads."""
        for option, valid in (("mode", _MODES), ("device", devices.PLATFORMS)):
            if options[option] not in valid:
                msg = f"JAX has no {option}={options[option]}; it has {', '.join(valid)}"
                raise UnsupportedError(msg)
        self._switches = Switches(options)
        convolution.in_force.choose(options.get("convolution", "xla"))
        variance.in_force.choose(options.get("variance", "one-pass"))
        recurrent.in_force.choose(options["lstm"])
        graphs.in_force.choose(options["aggregate"])
        self._precision = Precision(options["precision"])
        jax.config.update("jax_disable_jit", val=False)
        try:
            self._replicas = Replicas(options, self._group)
        except RuntimeError as error:
            if memory.is_exhausted(error):
                raise
            raise UnsupportedError(devices.in_words(options["device"], error)) from error
        self._precision.check(self._replicas.first)

    def versions(self) -> dict[str, str]:
        """Return the versions of jax, jaxlib, flax and optax."""
        return {name: metadata.version(name) for name in ("jax", "jaxlib", "flax", "optax")}

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Return whether JAX reports that memory is exhausted."""
        return memory.is_exhausted(error)

    def may_be_out_of_memory(self, error: BaseException) -> bool:
        """Return whether JAX may mean that, or something else."""
        return memory.may_be_exhausted(error)

    def devices(self) -> list[str]:
        """Return the devices whose backend starts."""
        return [device for device in devices.PLATFORMS if not devices.problem(device)]

    def why_not(self, device: str) -> str:
        """Return why a backend does not start."""
        return devices.problem(device)

    def built_for(self) -> BuildTargets:
        """Return the CUDA of JAX's plug-in; XLA compiles its kernels for the GPU that there is."""
        return BuildTargets(cuda=devices.built_for_cuda())

    def build(self, model: Model, scenario: Scenario, options: Mapping[str, str]) -> TrainStep | InferStep:
        """Build the model, load its weights and make its step; the options are those of `configure`."""
        del options
        from bakeoff.frameworks.jax.collecting import CollectingStep  # they are made of the steps here
        from bakeoff.frameworks.jax.per_sample import STEPS

        attention.forget()
        make = CollectingStep if model.size.collected else for_scenario(STEPS, scenario)
        return make(model, self._precision, self._switches, self._replicas)

    def easing(self, purpose: Purpose) -> AbstractContextManager[None]:
        """Return `convolution.quickly` for what is in float64 and nobody times."""
        return convolution.quickly() if purpose in {"program", "reference"} else nullcontext()

    def optimize(self, optimizer: Optimizer, parameters: Arrays, gradients: Sequence[Arrays]) -> list[Arrays]:
        """Apply the optimiser to given gradients; return the parameters after each step, in float64."""
        transformation = optimizers.make(optimizer)
        applied = self._switches.executed(partial(optimizers.apply, transformation))
        present = {name: jnp.array(value, self._precision.dtype) for name, value in parameters.items()}
        state = transformation.init(optimizers.trained(optimizer, present))
        trajectory = []
        for given in gradients:
            gradient = {name: jnp.array(value, self._precision.dtype) for name, value in given.items()}
            present, state = applied(present, state, gradient)
            trajectory.append(border.export(present))
        return trajectory

    def measured_tf32(self) -> dict[str, bool]:
        """Return whether products of float32 are less than that."""
        return tf32.measured(self._switches.executed)

    def product(self, left: NDArray[np.float32], right: NDArray[np.float32]) -> peaks.Product:
        """Put two matrices on the device in the precision of products."""
        return peaks.Product(*(jnp.array(one, self._precision.compute) for one in (left, right)))

    def sums(self, count: int) -> peaks.Sums:
        """Put arrays of ones on the device."""
        return peaks.Sums(count)


class Step:
    """What the steps of all scenarios have in common: the model, its state, evaluation, and what is in force."""

    def __init__(self, model: Model, precision: Precision, switches: Switches, replicas: Replicas) -> None:
        """Build the model and load its weights."""
        self._split = border.Split(model.build(nn, model.size))
        self._precision, self._switches, self._replicas = precision, switches, replicas
        self._forward = switches.executed(self._evaluate)
        loaded = border.load(self._split, model.weights | model.state, precision.dtype)
        parameters, statistics = self._split.part(replicas.replicated(loaded))
        self._state = State(parameters, None, statistics, None)

    def _evaluate(self, parameters: dict[str, jax.Array], statistics: dict[str, jax.Array], inputs: Any) -> jax.Array:
        """Compute the model's outputs as in evaluation."""
        return self._precision.called(self._split.merge(self._precision.reduced(parameters), statistics), inputs)

    def _timed(self) -> Any:
        """Return the function that `run` calls."""
        return self._forward

    def prepare(self, batch: Batch) -> DeviceBatch:
        """Copy a batch to the device."""
        return jax.block_until_ready(on_device(batch, self._array))

    def _array(self, values: NDArray[Any]) -> jax.Array:
        """Copy values to the devices: real numbers in the parameters' precision, integers as int32."""
        dtypes: dict[str, Any] = {"i": np.int32, "f": self._precision.dtype}
        return self._replicas.sharded(values.astype(dtypes.get(values.dtype.kind, values.dtype)))

    def outputs(self, batch: DeviceBatch) -> NDArray[np.float64]:
        """Return the model's outputs in evaluation mode."""
        state = self._state
        return np.array(self._forward(*self._replicas.own((state.parameters, state.statistics, batch[0]))), np.float64)

    def parameters(self) -> Arrays:
        """Return every parameter as it is now, in float64."""
        return border.export(self._state.parameters)

    def unequal(self) -> str:
        """Return a parameter whose copies differ."""
        return next((name for name, array in self._state.parameters.items() if not are_equal(copies(array))), "")

    def state(self) -> Arrays:
        """Return every running statistic as it is now, in float64."""
        return border.export(self._state.statistics)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force."""
        device = devices.holding(next(iter(self._state.parameters.values())))
        mode = "compiled" if hasattr(self._timed(), "lower") and not jax.config.jax_disable_jit else "eager"
        return {
            "mode": mode,
            "device": device,
            "threads": devices.threads(self._replicas.in_process),
            **self._precision.settings(device),
            "accumulation": None,
            **self._switches.settings(device, mode),
            "convolution": convolution.in_force.value,
            "variance": variance.in_force.value,
            **recurrent.in_force.settings(),
            **graphs.in_force.settings(),
            "denormals": denormals.in_force(self._switches.executed(jnp.multiply), devices.threads(1)),
            "optimizer": None,
            "device_memory": memory.policy() if device == "cuda" else None,
            "matmul_precision": jax.config.jax_default_matmul_precision,
            "jax_enable_x64": bool(jax.config.jax_enable_x64),
            "NPROC": os.environ.get("NPROC"),
            "XLA_FLAGS": os.environ.get("XLA_FLAGS"),
            **self._replicas.settings(),
        }

    def compilation(self) -> Compilation:
        """Return what this process has traced and compiled so far."""
        return compiled()

    def profiled(self, work: Callable[[], None]) -> Profiled:
        """Return the time that JAX's profiler measured for some steps."""
        device = devices.holding(next(iter(self._state.parameters.values())))
        return profiling.profiled(work, lambda: jax.device_get(self._results()), device)

    def _results(self) -> tuple[jax.Array | None, ...]:
        """Return what only a finished step has: the smallest parameter is as good as all of them."""
        return (min(self._state.parameters.values(), key=lambda parameter: parameter.size),)

    def device_memory(self) -> DeviceMemory:
        """Return what the allocator of the first device has held; JAX reports it on accelerators only."""
        return memory.reading(self._replicas.first)


class TrainStep(WithoutOutputs, Step):
    """Forward, loss, backward and optimiser in one function of the state and a batch."""

    def __init__(self, model: Model, precision: Precision, switches: Switches, replicas: Replicas) -> None:
        """Make the state and the function that changes it."""
        super().__init__(model, precision, switches, replicas)
        loss, optimizer = training_parts(model)
        self._loss_of = partial(loss, nn)
        self._optimizer_name = optimizers.native_name(optimizer)
        self._transformation = optimizers.make(optimizer)
        self._apply = partial(optimizers.apply, self._transformation)
        frozen = frozen_of(optimizer, self._state.parameters)
        differentiate = differentiated(self._compute_loss, AXIS if replicas.apart else None, frozen)
        self._differentiate = replicas.differentiated(in_shards(differentiate, model.shards))
        self._gradients = switches.executed(self._differentiate)
        # The old state is never needed again, so the new one takes its memory, as in a training loop by hand.
        self._advance = switches.executed(self._next, donate_argnums=0)
        trained = optimizers.trained(optimizer, self._state.parameters)
        self._first_parameter = next(iter(trained.values()))
        key = jax.random.key(0) if self._split.has(nn.Dropout, functions.RandomNormal) else None
        optimizer_state = self._transformation.init(replicas.own(trained))
        rest = replicas.replicated((optimizer_state, key, precision.scale()))
        self._state = State(self._state.parameters, rest[0], self._state.statistics, *rest[1:])
        # Put there, not computed: with JAX_DEBUG_NANS set, JAX refuses to compute one.
        self._loss: jax.Array = jax.device_put(np.float32(np.nan))

    def _compute_loss(
        self,
        parameters: dict[str, jax.Array],
        statistics: dict[str, jax.Array],
        key: jax.Array | None,
        batch: DeviceBatch,
    ) -> tuple[jax.Array, dict[str, jax.Array]]:
        """Return the loss, and what the forward pass made of the running statistics."""
        inputs, targets = batch
        model = self._split.merge(self._precision.reduced(parameters), statistics)
        with phase.training(key):
            loss = self._loss_of(self._precision.called(model, inputs), targets, inputs)
        return loss, self._split.statistics(model)

    def _next(self, state: State, batch: DeviceBatch) -> tuple[State, jax.Array]:
        """Return the state after one step, and the loss before it."""
        key, draw = (None, None) if state.key is None else jax.random.split(state.key)
        scale, finite, (loss, statistics), gradients = self._differentiate(
            state.scale, state.parameters, state.statistics, draw, batch
        )
        new = self._apply(state.parameters, state.optimizer, gradients)
        parameters, optimizer = kept(finite, new, (state.parameters, state.optimizer))
        return self._replicas.settled(State(parameters, optimizer, statistics, key, scale)), loss

    def _timed(self) -> Any:
        """Return the function that `run` calls."""
        return self._advance

    def rename(self, loss: Callable[[Any], Any], update: Callable[[Any], Any]) -> None:
        """Put scopes around the loss, which is a `partial` of its vocabulary, and the update, before the first step."""
        self._loss_of, self._apply = loss(self._loss_of), update(self._apply)

    def call(self, batch: DeviceBatch) -> tuple[Any, tuple[Any, ...]]:
        """Return the function that `run` calls, and what it would be given now."""
        return self._timed(), (self._state, batch)

    def run(self, batch: DeviceBatch) -> None:
        """Start one training step."""
        self._state, self._loss = self._advance(self._state, batch)
        if self._replicas.waits:
            self.wait()

    def wait(self) -> None:
        """Return when loss, parameters and the optimiser's state of the last step exist."""
        jax.block_until_ready((self._state, self._loss))

    def result(self) -> float:
        """Return the loss of the last step, of this process's samples."""
        return float(np.mean([shard.data for shard in self._loss.addressable_shards]))

    def gradients(self, batch: DeviceBatch) -> Arrays:
        """Return each trained parameter's gradient in float64, without dropout; a scale that is too large shrinks."""
        while True:
            state = self._state
            scale, finite, _, gradients = self._gradients(state.scale, state.parameters, state.statistics, None, batch)
            if finite is None or finite or state.scale.scale <= 1:
                return border.export(gradients)
            self._state = state._replace(scale=scale)

    def snapshot(self) -> State:
        """Return a copy of the state: parameters, optimiser, statistics, the key of Dropout and the loss scaling."""
        return snapshots.copied(self._state)

    def restore(self, snapshot: State) -> None:
        """Put a copy of a snapshot in the state's place: the next step consumes it."""
        self._state = snapshots.copied(snapshot)

    def optimizer_state(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Return the optimiser's arrays one by one."""
        return snapshots.optimizer_arrays(self._state.optimizer)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force; `donation` is whether a step has really consumed the arrays it was given."""
        return super().settings() | {
            "optimizer": self._optimizer_name,
            "loss_scaling": scaling(self._state.scale),
            "donation": self._first_parameter.is_deleted(),
        }


class InferStep(WithoutLoss, Step):
    """The forward pass in evaluation mode."""

    def __init__(self, model: Model, precision: Precision, switches: Switches, replicas: Replicas) -> None:
        """Start without outputs."""
        super().__init__(model, precision, switches, replicas)
        self._outputs: jax.Array | None = None

    def call(self, batch: DeviceBatch) -> tuple[Any, tuple[Any, ...]]:
        """Return the function that `run` calls, and what it is given."""
        return self._timed(), (self._state.parameters, self._state.statistics, batch[0])

    def run(self, batch: DeviceBatch) -> None:
        """Start one forward pass."""
        state = self._state
        self._outputs = self._forward(state.parameters, state.statistics, batch[0])

    def wait(self) -> None:
        """Return when the last outputs exist: they are computed after all earlier ones."""
        jax.block_until_ready(self._outputs)

    def last_outputs(self) -> NDArray[np.float64]:
        """Return what `run` has kept."""
        return np.array(self._outputs, np.float64)

    def _results(self) -> tuple[jax.Array | None, ...]:
        """Return what only a finished step has."""
        return (self._outputs,)

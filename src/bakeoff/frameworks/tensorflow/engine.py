"""TensorFlow's engine: forward, loss, GradientTape and the Keras optimiser in one tf.function."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from bakeoff.frameworks import keras_optimizers
from bakeoff.frameworks.engine import BuildTargets
from bakeoff.frameworks.steps import WithoutLoss, WithoutOutputs, are_equal, for_scenario, on_device, training_parts
from bakeoff.frameworks.tensorflow import (
    border,
    devices,
    memory,
    nn,
    optimizers,
    peaks,
    phase,
    profiling,
    sequence_losses,
    snapshots,
    switches,
    tf32,
)
from bakeoff.frameworks.tensorflow.modes import in_mode, tracing
from bakeoff.frameworks.tensorflow.precision import Precision, scaling, settled
from bakeoff.frameworks.tensorflow.replicas import Replicas, components, in_shards
from bakeoff.spec.record import Compilation, DeviceMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.frameworks.steps import DeviceBatch
    from bakeoff.spec.batch import Batch
    from bakeoff.spec.group import Group
    from bakeoff.spec.optimizer import Optimizer
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.selftest import Profiled


class Engine:
    """TensorFlow in this process."""

    running_variance = nn.RUNNING_VARIANCE
    _mode = "graph"
    _limit_bytes: int | None = None
    """Of the GPU's allocator."""
    _group: Group | None = None

    def join(self, group: Group) -> None:
        """Note which process of a group this is: `configure` meets the others."""
        self._group = group

    def limit_memory(self, limit_bytes: int, total_bytes: int) -> None:
        """Have the GPU's allocator keep a limit, from `configure` on."""
        del total_bytes
        self._limit_bytes = limit_bytes

    def configure(self, options: Mapping[str, str]) -> None:
        """Set device, precision and threads, before TensorFlow's runtime starts."""
        self._mode = options["mode"]
        devices_here = 1 if self._group is not None else int(options.get("devices", "1"))
        devices.show(options["device"], 0 if self._group is None else self._group.rank, devices_here)
        if self._limit_bytes is not None:
            memory.limit(devices.physical_gpus()[0], self._limit_bytes)
        # Both pools, because one thread in each operation still leaves several operations side by side.
        # All of a process's devices share them.
        threads = int(options["threads"]) * devices_here
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
        self._replicas = Replicas(options, self._group)
        self._precision = Precision(options["precision"])
        sequence_losses.Way.by_kernel = self._mode != "compiled"
        switches.switch(options)

    def versions(self) -> dict[str, str]:
        """Return the versions of the packages."""
        return {"tensorflow": tf.__version__, "keras": keras.__version__, "numpy": np.__version__}

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Return whether TensorFlow reports that memory is exhausted."""
        return memory.is_exhausted(error)

    def may_be_out_of_memory(self, error: BaseException) -> bool:
        """Return whether TensorFlow may mean that, or something else."""
        return memory.may_be_exhausted(error)

    def devices(self) -> list[str]:
        """Return the devices that can be used."""
        return [device for device in ("cpu", "cuda") if not devices.why_unavailable(device)]

    def why_not(self, device: str) -> str:
        """Return why TensorFlow cannot use a device."""
        return devices.why_unavailable(device)

    def built_for(self) -> BuildTargets:
        """Return TensorFlow's CUDA and the GPUs that its wheel was compiled for."""
        build = tf.sysconfig.get_build_info()
        cuda = ".".join(str(build.get("cuda_version", "")).split(".")[:2])
        return BuildTargets(cuda=cuda, kernels=tuple(build.get("cuda_compute_capabilities", ())))

    def build(self, model: Model, scenario: Scenario, options: Mapping[str, str]) -> TrainStep | InferStep:
        """Build the model, load its weights and make its step; nothing is traced yet."""
        from bakeoff.frameworks.tensorflow.collecting import CollectingStep  # it is made of the step here

        make = CollectingStep if model.size.collected else for_scenario(_steps(), scenario)
        return make(model, options, self._precision, self._replicas)

    def optimize(self, optimizer: Optimizer, parameters: Arrays, gradients: Sequence[Arrays]) -> list[Arrays]:
        """Apply the optimiser to given gradients; return the parameters after each step."""
        dtype = keras.config.floatx()
        variables = {name: keras.Variable(value, dtype=dtype) for name, value in parameters.items()}
        trained = optimizers.trained(optimizer, variables)
        native = optimizers.make(optimizer, trained)
        native.build(list(trained.values()))
        apply = in_mode(native.apply, self._mode)
        trajectory = []
        for step_gradients in gradients:
            apply([tf.constant(step_gradients[name], dtype) for name in trained])
            trajectory.append({name: variable.numpy() for name, variable in variables.items()})
        return trajectory

    def measured_tf32(self) -> dict[str, bool]:
        """Return whether products of float32 are less than that."""
        return tf32.measured(lambda function: in_mode(function, self._mode))

    def product(self, left: NDArray[np.float32], right: NDArray[np.float32]) -> peaks.Product:
        """Put two matrices on the device in the precision of products."""
        dtype = keras.config.dtype_policy().compute_dtype
        return peaks.Product(*(tf.cast(tf.constant(one), dtype) for one in (left, right)))

    def sums(self, count: int) -> peaks.Sums:
        """Put arrays of ones on the device."""
        return peaks.Sums(count)


class Step:
    """What the steps of all scenarios have in common: the model, its batches and its forward pass."""

    _run: Any
    """The function that is timed."""
    _last: Any = None
    """What it gave last."""

    def __init__(self, model: Model, options: Mapping[str, str], precision: Precision, replicas: Replicas) -> None:
        """Build the model with its weights."""
        self._precision, self._replicas = precision, replicas
        with replicas.scope():
            self._net = model.build(nn, model.size)
        border.load(self._net, model.weights | model.state)
        self._parameters = border.parameters(self._net)
        self._statistics = border.state(self._net)
        self._variables = list(self._parameters.values())
        self._forward = in_mode(replicas.each(self._evaluate), options["mode"])
        self._on_gpu = devices.has_gpu()
        if self._on_gpu:
            self._synchronize = devices.gpu_waiting()
        self._batch_on_gpu: bool | None = None

    def _evaluate(self, inputs: Any) -> Any:
        """Return the outputs in evaluation mode: tf.function calls one of fixed signature faster than the model."""
        return self._precision.called(self._net, inputs)

    def prepare(self, batch: Batch) -> DeviceBatch:
        """Put a batch on the device and wait until it is there."""
        real = self._variables[0].dtype
        prepared = on_device(
            batch, lambda array: self._replicas.shared(array, lambda shard: devices.placed(shard, real))
        )
        devices.synchronize()
        if self._on_gpu:
            self._batch_on_gpu = devices.lies_on_gpu(prepared)
        return prepared

    def wait(self) -> None:
        """Return when the results of all started steps exist.

        A GPU works on after the call. On a processor a call returns when its results exist and its variables are
        assigned, so that asking for the results costs nothing.
        """
        if self._on_gpu:
            self._synchronize()
        elif self._last is not None:
            self._finished()

    def _finished(self) -> list[NDArray[Any]]:
        """Return what each replica has given last, once it is there."""
        return [last.numpy() for last in self._replicas.local(self._last)]

    def outputs(self, batch: DeviceBatch) -> NDArray[np.float64]:
        """Return the model's outputs in evaluation mode."""
        found = self._replicas.local(self._forward(batch[0]))
        return np.concatenate([part.numpy() for part in found]).astype(np.float64)

    def parameters(self) -> Arrays:
        """Return every parameter as it is now."""
        return {name: components(variable)[0].numpy() for name, variable in self._parameters.items()}

    def unequal(self) -> str:
        """Return a parameter whose components differ."""
        each = ((name, [one.numpy() for one in components(one_of)]) for name, one_of in self._parameters.items())
        return next((name for name, found in each if not are_equal(found)), "")

    def state(self) -> Arrays:
        """Return every running statistic as it is now."""
        each = {name: components(variable) for name, variable in self._statistics.items()}
        return {name: np.mean([one.numpy() for one in own], 0) for name, own in each.items()}

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force."""
        traced = hasattr(self._run, "experimental_get_tracing_count") and not tf.config.functions_run_eagerly()
        jit_compile = traced and bool(self._run._jit_compile)  # noqa: SLF001 - it has no public name
        device = "cuda" if "GPU" in self._variables[0].value.device else "cpu"
        mode = "compiled" if jit_compile else "graph" if traced else "eager"
        return {
            "mode": mode,
            "device": device,
            "threads": tf.config.threading.get_intra_op_parallelism_threads() // self._replicas.in_process,
            "inter_op_threads": tf.config.threading.get_inter_op_parallelism_threads(),
            **self._precision.settings(device),
            "accumulation": None,
            **switches.settings(device, mode),
            "denormals": switches.denormals(mode),
            "optimizer": None,
            "device_memory": memory.policy() if device == "cuda" else None,
            "jit_compile": jit_compile,
            "traces": self._run.experimental_get_tracing_count() if traced else None,
            "XLA_FLAGS": os.environ.get("XLA_FLAGS"),
            "TF_XLA_FLAGS": os.environ.get("TF_XLA_FLAGS"),
            **self._replicas.settings(),
        } | ({"batch_on_gpu": self._batch_on_gpu} if self._on_gpu else {})

    def compilation(self) -> Compilation:
        """Return what was traced so far; TensorFlow compiles within the first call and does not report how long."""
        if not hasattr(self._run, "experimental_get_tracing_count"):
            return Compilation(trace_ns=0, compile_ns=0, count=0)
        return Compilation(trace_ns=tracing.total_ns, count=self._run.experimental_get_tracing_count())

    def profiled(self, work: Callable[[], None]) -> Profiled:
        """Return the time that TensorFlow's profiler measured for some steps."""
        return profiling.profiled(work, self._finished, devices.device_name())

    def device_memory(self) -> DeviceMemory:
        """Return what the GPU's allocator has held; a processor has none."""
        return memory.reading() if self._on_gpu else DeviceMemory()

    def reset_device_peak(self) -> None:
        """Count the allocator's peak from now on."""
        if self._on_gpu:
            memory.reset_peak()


class TrainStep(WithoutOutputs, Step):
    """Forward, loss, backward and optimiser, all in one function."""

    def __init__(self, model: Model, options: Mapping[str, str], precision: Precision, replicas: Replicas) -> None:
        """Add the workload's loss and optimiser."""
        super().__init__(model, options, precision, replicas)
        self._loss_of, optimizer = training_parts(model)
        self._learning = optimizers.trained(optimizer, self._parameters)
        with replicas.scope():
            self._native = replicas.taken_as_mean(optimizers.make(optimizer, self._learning))
            self._optimizer = precision.optimizer(self._native)
            self._optimizer.build(list(self._learning.values()))
        statistics, draws = self._statistics.values(), border.generators(self._net)
        self._changing = [*self._variables, *statistics, *self._optimizer.variables, *draws]  # by steps
        self._trained = [variable.value for variable in self._learning.values()]
        """As TensorFlow's own: of Keras', it knows no type for the gradient of a parameter that the loss never uses."""
        self._compute = in_shards(self._loss_and_gradients, model.shards, list(statistics))
        self._run = in_mode(replicas.each(self._train), options["mode"])
        self._differentiate = in_mode(replicas.each(self._reduced), options["mode"])

    def _train(self, inputs: Any, targets: Any) -> Any:
        """Train on one batch; return the loss before it."""
        loss, gradients = self._reduced(inputs, targets)
        self._optimizer.apply(gradients)
        return loss

    def _reduced(self, inputs: Any, targets: Any) -> tuple[Any, list[Any]]:
        """Return the loss of a replica's own samples, and the mean of all replicas' gradients."""
        loss, gradients = self._compute(inputs, targets)
        return loss, self._replicas.mean(gradients)

    def _loss_and_gradients(self, inputs: Any, targets: Any) -> tuple[Any, list[Any]]:
        """Return the loss, and its gradient by what is trained, as the optimiser takes it: scaled in float16."""
        is_whole = len(self._trained) == len(self._variables)
        with phase.training(), tf.GradientTape(watch_accessed_variables=is_whole) as tape:
            if not is_whole:
                tape.watch(self._trained)
            loss = self._loss_of(nn, self._precision.called(self._net, inputs), targets, inputs)
            scaled = self._optimizer.scale_loss(loss)
        gradients = tape.gradient(scaled, self._trained, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return loss, [_summed(gradient) for gradient in gradients]

    def run(self, batch: DeviceBatch) -> None:
        """Start one training step."""
        self._last = self._run(*batch)

    def result(self) -> float:
        """Return the loss of the last step, of this process's samples."""
        return float(np.mean(self._finished()))

    def gradients(self, batch: DeviceBatch) -> Arrays:
        """Return the gradient of every parameter that is trained, by the function that training runs."""
        statistics = list(self._statistics.values())
        before = snapshots.copies(statistics)
        gradients = settled(self._optimizer, lambda: self._of_first(self._differentiate(*batch)[1]))
        snapshots.put_back(statistics, before)
        return {name: gradient.numpy() for name, gradient in zip(self._learning, gradients, strict=True)}

    def _of_first(self, gradients: list[Any]) -> list[Any]:
        """Return the gradients that the first replica has: all have the same."""
        return [self._replicas.local(gradient)[0] for gradient in gradients]

    def snapshot(self) -> list[Any]:
        """Return copies of all variables, those of the optimiser, its loss scaling and Dropout's generators too."""
        return snapshots.copies(self._changing)

    def restore(self, snapshot: list[Any]) -> None:
        """Put copies of a snapshot's values into the variables."""
        snapshots.put_back(self._changing, snapshot)

    def optimizer_state(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Return the optimiser's arrays one by one."""
        return keras_optimizers.arrays(self._native, self._learning)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force, with the optimiser."""
        return super().settings() | {
            "optimizer": optimizers.describe(self._native),
            "loss_scaling": scaling(self._optimizer),
        }


class InferStep(WithoutLoss, Step):
    """The forward pass in evaluation mode."""

    def __init__(self, model: Model, options: Mapping[str, str], precision: Precision, replicas: Replicas) -> None:
        """Time the function that `outputs` calls."""
        super().__init__(model, options, precision, replicas)
        self._run = self._forward

    def run(self, batch: DeviceBatch) -> None:
        """Start one forward pass and keep its outputs."""
        self._last = self._run(batch[0])

    def last_outputs(self) -> NDArray[np.float64]:
        """Return what `run` has kept."""
        return np.asarray(self._last.numpy(), np.float64)


def _steps() -> dict[Scenario, type[TrainStep | InferStep]]:
    """Return the step of each scenario."""
    from bakeoff.frameworks.tensorflow.per_sample import PerSampleStep  # it is made of the step here

    return {"train": TrainStep, "infer": InferStep, "per-sample-gradients": PerSampleStep}


def _summed(gradient: Any) -> Any:
    """Return a gradient with one value for each element of its parameter.

    That of an embedding comes as a row for each time that an entry was taken. Keras' optimisers square these rows one
    by one, so that an entry which a batch has twice would get another second moment than the sum of its rows has.
    """
    return tf.convert_to_tensor(gradient) if isinstance(gradient, tf.IndexedSlices) else gradient

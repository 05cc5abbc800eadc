"""The scripted engine: it answers the port with a script instead of arithmetic."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from bakeoff.frameworks import denormals, exhaustion
from bakeoff.frameworks.fake import peaks, replicas
from bakeoff.frameworks.fake.digits import factor, shortened
from bakeoff.frameworks.fake.exhaustion import SIGNS
from bakeoff.frameworks.fake.faults import strike
from bakeoff.frameworks.fake.gpu import PretendedGpu, on_gpu, visible_gpus
from bakeoff.frameworks.fake.parts import planted_ns
from bakeoff.frameworks.fake.stream import DISPATCH, Stream, ThreadStream, VirtualStream
from bakeoff.frameworks.fake.training import MOVING, Training, crept
from bakeoff.frameworks.slots import FIRST_MOMENT, slot_name
from bakeoff.frameworks.steps import WithoutLoss, WithoutNorms, for_scenario
from bakeoff.spec.optimizer import trained_of
from bakeoff.spec.record import Compilation, DeviceMemory
from bakeoff.spec.selftest import Profiled
from bakeoff.workloads.optimizers import trajectory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.spec.batch import Batch
    from bakeoff.spec.optimizer import Optimizer
    from bakeoff.spec.scenario import Scenario

WRONG_STEP = 4
"""The step whose loss is wrong, where that is asked for: not the first, so that every step has to be looked at."""

CACHE = "BAKEOFF_FAKE_CACHE"
"""The variable that names the folder of the cache; without it nothing is kept."""

LATE = 50
"""Training steps after which an optimiser holds denormal numbers, where steps slow down with training."""

LEARNED_STEPS = 10
"""Training steps after which the outputs name the labels."""


class _Time:
    """The script's time: it passes in steps only, or really."""

    def __init__(self) -> None:
        self.real = False
        self.passed_ns = 0
        """In all steps so far: the script's own ledger, and what its profiler reads."""
        self._now_ns = 0

    def now_ns(self) -> int:
        return time.perf_counter_ns() if self.real else self._now_ns

    def let_pass(self, duration_ns: int) -> None:
        began_ns = self.now_ns()
        if self.real:
            time.sleep(duration_ns / 1e9)
        else:
            self._now_ns += duration_ns
        self.passed_ns += self.now_ns() - began_ns


class _Device:
    """Where this process computes."""

    gpu: PretendedGpu | None = None
    """None: on the processor."""


_device = _Device()
_time = _Time()
virtual_clock = _time.now_ns
pass_time = _time.let_pass
"""Let so many nanoseconds pass."""


def _stream() -> Stream:
    """Make the stream of a step, in the time that the script has."""
    return ThreadStream() if _time.real else VirtualStream(virtual_clock, pass_time)


class Step(WithoutNorms, replicas.Copies):
    """One scripted step."""

    _trains = True
    _last: Batch | None = None
    """The batch of the last step."""

    def __init__(self, model: Model, options: Mapping[str, str]) -> None:
        """Draw what belongs to this process."""
        self._model, self._options, self.options = model, options, options
        # Seeded by the system: each process is a draw of its own, as with a real framework.
        self._random = np.random.default_rng()
        process = math.exp(self._random.normal(0.0, self._number("process_noise")))
        self._cache = os.environ.pop(CACHE, "")
        self._compilation = Compilation(trace_ns=0, compile_ns=0, count=0)
        step_ns = self._number("step_ms") * 1e6 + planted_ns(options)
        self._step_ns = step_ns * process * factor(options) * replicas.cost(options)
        self._held: NDArray[Any] | None = None
        """The memory of the last step."""
        self._steps = 0
        """In this process so far."""
        self._shapes: set[Any] = set()  # of the batches so far: each is compiled for
        self._trained = 0
        """Steps that are in the parameters: `restore` sets them back."""
        self._path: Training | None = None
        """Of the parameters, as far as they were asked for."""
        self._started = 0
        """Steps since the last wait: two of them only in a block."""
        self._calls = 0
        self._seen: list[float] = []
        """A number that the first batch gives, and the last: losses hang on them where training moves nothing."""
        self._pending_ns = 0
        """Of started steps, where the fault is that `wait` does not wait for them."""
        self._stream = _stream() if options["stream"] == "device" else None

    def _number(self, name: str) -> float:
        return float(self._options[name])

    def prepare(self, batch: Batch) -> Batch:
        """Keep the batch as it is."""
        return batch

    def run(self, batch: Batch) -> None:
        """Let a step's time pass."""
        self._started += 1
        self._last = batch
        self._calls += 1
        if self._options["fault"] == "idle" or (self._options["fault"] == "skips" and self._calls % 2 == 0):
            return
        if self._options["fault"] == "frozen":
            self._seen = [*self._seen[:1], float(np.mean(next(iter(batch.inputs.values()))))]
        if self._steps > 1:
            strike(self._options, "run")
        if self._started > 1:
            strike(self._options, "block")
        duration_ns = self._step_ns * math.exp(self._random.normal(0.0, self._number("noise")))
        duration_ns *= 1.0 + self._number("drift") * self._steps + self._number("slows") * self._trained
        self._held = None  # Before the next is taken: twice as much would be held else.
        self._held = self._allocate(len(batch))
        if self._random.random() < self._number("outliers"):
            duration_ns *= 10.0
        if self._steps == 0:
            duration_ns += self._number("first_ms") * 1e6
        self._steps += 1
        self._trained += 1
        shapes = tuple(array.shape for array in batch.arrays.values())
        if self._options["mode"] == "compiled":
            is_due = shapes not in self._shapes or self._steps == self._number("recompile_at")
            duration_ns += self._compile() if is_due else 0
        self._shapes.add(shapes)
        if self._stream:
            self._stream.start(int(duration_ns))
            duration_ns *= DISPATCH
        elif self._options["fault"] == "asynchronous":
            self._pending_ns += int(duration_ns * (1.0 - DISPATCH))
            duration_ns *= DISPATCH
        _time.let_pass(int(duration_ns))

    def _compile(self) -> int:
        """Compile, unless an earlier process has left that in the cache; return how long it takes."""
        kept = Path(self._cache) / "compiled" if self._cache else None
        took_ns = 0 if kept and kept.exists() else int(self._number("compile_ms") * 1e6)
        if kept:
            kept.parent.mkdir(exist_ok=True)
            kept.touch()
        before = self._compilation
        compile_ns, count = (before.compile_ns or 0) + took_ns, (before.count or 0) + 1
        self._compilation = Compilation(trace_ns=0, compile_ns=compile_ns, count=count)
        return took_ns

    def _allocate(self, samples: int) -> NDArray[Any]:
        """Take what a step on so many samples needs; refuse beyond the memory that the script has."""
        kibibytes = samples * int(self._options["sample_kib"])
        if _device.gpu is not None:
            _device.gpu.take(kibibytes << 10)
            return np.ones(0, np.uint8)
        if kibibytes > self._number("capacity_kib"):
            msg = f"the script has {self._options['capacity_kib']} KiB, and a step needs {kibibytes}"
            raise MemoryError(msg)
        return np.ones(kibibytes << 10, np.uint8)

    def compilation(self) -> Compilation:
        """Return what the script has compiled."""
        return self._compilation

    def wait(self) -> None:
        """Join the stream, if there is one; else a step is done when `run` returns, but for an asynchronous fault."""
        self._started = 0
        if self._stream and self._options["fault"] != "asynchronous":
            self._stream.join()

    def _finish(self) -> None:
        """Let the time of steps pass that `wait` has not waited for."""
        if self._stream:
            self._stream.join()
        if self._pending_ns:
            _time.let_pass(self._pending_ns)
            self._pending_ns = 0

    def profiled(self, work: Callable[[], None]) -> Profiled:
        """Return the time that has passed in steps, by the script's own ledger."""
        before_ns = self._ledger_ns()
        work()
        self._finish()
        if self._ledger_ns() == before_ns:
            return Profiled(None, "the script's own ledger saw no step", empty=True)
        return Profiled(self._ledger_ns() - before_ns, "the script's own ledger")

    def _ledger_ns(self) -> int:
        """Return the time that has passed in steps: on the device, where there is one."""
        return self._stream.spent_ns if self._stream else _time.passed_ns

    def result(self) -> float:
        """Return a loss that falls from step to step."""
        self._finish()
        if self._options["wrong"] == "nan":
            return math.nan
        if self._options["fault"] == "frozen":
            return 2.3 * 0.98 * (1.0 + self._seen[-1] - self._seen[0])
        wrong = 1.01 if self._options["wrong"] == "loss" and self._trained == WRONG_STEP else 1.0
        return 2.3 * 0.98**self._trained * wrong

    def outputs(self, batch: Batch) -> NDArray[np.float64]:
        """Return outputs that follow from the inputs; after some training they name the labels."""
        self._finish()
        self._held = self._allocate(len(batch))
        flat = np.concatenate([np.asarray(x, np.float64).reshape(len(x), -1) for x in batch.inputs.values()], axis=1)
        classes = self._model.size.classes
        means = [flat[:, k :: classes or 1].mean(axis=1) for k in range(classes or 1)]
        outputs = np.stack(means, axis=1)
        if self._options["wrong"] == "outputs":
            outputs = outputs[:, ::-1]
        if not self._trains or self._trained <= LEARNED_STEPS or not classes:
            return outputs
        (labels,) = batch.targets.values()
        return outputs + 100.0 * np.eye(classes)[labels]

    def last_outputs(self) -> NDArray[np.float64]:
        """Return the outputs of the last step's batch; by its fault, those of the first half of it, twice."""
        assert self._last is not None
        outputs = self.outputs(self._last)
        if self._options["wrong"] == "kept":
            half = (len(outputs) + 1) // 2
            return np.concatenate([outputs[:half], outputs[:half]])[: len(outputs)]
        return outputs

    def gradients(self, batch: Batch) -> Arrays:
        """Return arrays that follow from the weights."""
        self._held = self._allocate(len(batch))
        strike(self._options, "certify")
        return self.kept_gradients()

    def kept_gradients(self) -> Arrays:
        """Return what every step's gradients are."""
        wrong, weights = 1.01 if self._options["wrong"] == "gradients" else 1.0, self._model.weights
        trained = trained_of(self._model.optimizer, weights)
        return {name: shortened(0.1 * weights[name] * wrong, self._options) for name in trained}

    def parameters(self) -> Arrays:
        """Return the weights, and what so many steps have made of them."""
        weights = self._moved() if self._trains and self._trained else dict(self._model.weights)
        if self._options["wrong"] == "parameters":
            weights["extra"] = np.zeros(3)
        return weights

    def _moved(self) -> Arrays:
        """Return the weights after the steps so far, or after those that a fault leaves of them."""
        wrong, optimizer = self._options["wrong"], self._model.optimizer
        steps = {"frozen": 0, "skipped": (self._trained + 1) // 2}.get(wrong, self._trained)
        if optimizer is None or not steps:
            return dict(self._model.weights)
        if wrong == "rate":
            optimizer = msgspec.structs.replace(optimizer, learning_rate=0.5 * optimizer.learning_rate)
        return crept(self._after(min(steps, MOVING), optimizer), steps, trained_of(optimizer, self._model.weights))

    def _after(self, steps: int, optimizer: Optimizer) -> Arrays:
        """Return the weights after so many steps."""
        if self._path is None or steps < self._path.steps:
            self._path = Training(self._model.weights)
        return self._path.until(steps, optimizer, self.kept_gradients())

    def state(self) -> Arrays:
        """Return the state."""
        return dict(self._model.state)

    def snapshot(self) -> int:
        """Return all that the script's parameters follow from."""
        return self._trained

    def restore(self, snapshot: int) -> None:
        """Set it back; what belongs to the process, such as its drift, goes on."""
        self._trained = snapshot

    def optimizer_state(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Return an array for each parameter; where steps slow down, half of each is denormal late in training."""
        for name, gradient in self.kept_gradients().items():
            array = np.asarray(gradient, np.float32).ravel()
            if self._number("slows") and self._trained >= LATE:
                array[::2] = np.uint32(1).view(np.float32)  # the smallest of all, by its bits
            yield slot_name(FIRST_MOMENT, name), array

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Return the options back."""
        options = self._options
        return {
            "mode": options["mode"],
            "precision": options["precision"],
            "device": options["device"],
            "threads": int(options["threads"]),
            "tf32_matmul": False,
            "tf32_convolution": False,
            "layout": "NHWC",
            "denormals": denormals.in_force(np.multiply, None, fewest=1),
            "optimizer": type(self._model.optimizer).__name__,
            **on_gpu(_device.gpu),
            **replicas.settings(options),
        }

    def device_memory(self) -> DeviceMemory:
        """Return what the pretended GPU's allocator has held; a processor has none."""
        strike(self._options, "memory")
        return DeviceMemory() if _device.gpu is None else _device.gpu.reading()


class InferStep(WithoutLoss, Step):
    """One scripted step without a loss."""

    _trains = False


class Engine(replicas.Member):
    """The scripted framework in this process."""

    running_variance = "biased"
    _limit_bytes: int | None = None

    def limit_memory(self, limit_bytes: int, total_bytes: int) -> None:
        """Have the pretended GPU's allocator reserve no more than this."""
        del total_bytes
        self._limit_bytes = limit_bytes

    def configure(self, options: Mapping[str, str]) -> None:
        """Choose the clock and the device; raise UnsupportedError where no GPU is pretended."""
        options = replicas.own(options, self._group)
        _time.real = options["clock"] == "real"
        strike(options, "import")
        _device.gpu = PretendedGpu(options, self._limit_bytes) if options["device"] == "cuda" else None
        self._rates = {name: float(options[name]) for name in ("peak_gmacs", "peak_gb")}

    def product(self, left: NDArray[np.float32], right: NDArray[np.float32]) -> peaks.Product:
        """Make a scripted product."""
        return peaks.Product(left, right, self._rates["peak_gmacs"], _time.let_pass)

    def sums(self, count: int) -> peaks.Sums:
        """Make a scripted sum."""
        return peaks.Sums(count, self._rates["peak_gb"], _time.let_pass)

    def versions(self) -> dict[str, str]:
        """Return the script's version."""
        return {"fake": "1.0"}

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Return whether it is Python's own error, or one of the pretended GPU."""
        return exhaustion.is_sure(SIGNS, error)

    def may_be_out_of_memory(self, error: BaseException) -> bool:
        """Return whether it is in the words of a library that may have another cause."""
        return exhaustion.is_likely(SIGNS, error)

    def devices(self) -> list[str]:
        """Return the processor, and a GPU where one is pretended."""
        return ["cpu", "cuda"] if visible_gpus() else ["cpu"]

    def build(self, model: Model, scenario: Scenario, options: Mapping[str, str]) -> Step:
        """Make a scripted step."""
        from bakeoff.frameworks.fake.per_sample import STEPS  # they are made of the steps here

        self._options = options = replicas.own(options, self._group)
        strike(options, "build")
        return for_scenario(STEPS, scenario)(model, options)

    def optimize(self, optimizer: Optimizer, parameters: Arrays, gradients: Sequence[Arrays]) -> list[Arrays]:
        """Compute the formula itself."""
        states = trajectory(optimizer, parameters, gradients)
        if self._options["wrong"] == "optimizer":
            return [{name: value * 1.001 for name, value in state.items()} for state in states]
        return states

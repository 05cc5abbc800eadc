"""Steps of a workload as they are, and as trials that explain have them: equal numbers, the same program, a trace."""

from __future__ import annotations

import importlib
import importlib.util
import tempfile
import time
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from bakeoff.frameworks.engine import Engine, Model
from bakeoff.spec.batch import labelled
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size
from bakeoff.trial.sweep import shares, swept
from bakeoff.workloads import plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from bakeoff.frameworks.tracing import Trace

STEPS = 4
"""In a trace."""
BEFORE = 3
"""Steps before it: what compiles has compiled."""

SLEEP_S = 0.02
"""Of a layer, some hundred times as long as all others of its model."""

SIZE = Size(batch_size=4, input_shape=(5,), classes=3)

WIDE = 512
BODY_SIZE = Size(batch_size=256, input_shape=(WIDE,), classes=3)
"""Wide enough that what is planted in one layer is more than what a busy machine does to the others."""

MANY = 100
"""Transpositions of a layer's input: some times all else that a step does."""

TRACES = 3
"""Of each, by turns: of each part the least counts, which another process has not made longer."""

PLANTS = Path(__file__).parents[3] / "benchmarks" / "planted"


def compared(
    framework: str, engine: Engine, model: Model, options: dict[str, str], batches: list[Any]
) -> dict[str, Any]:
    """Return what three steps give without scopes and with them, and both programs; the trace with scopes."""
    found: dict[str, Any] = {}
    programs = []
    for name in ("plain", "scoped"):
        tracer = importlib.import_module(f"bakeoff.frameworks.{framework}.tracing").Tracer()
        build = tracer.scoped(model.build) if name == "scoped" else model.build
        step = engine.build(msgspec.structs.replace(model, build=build), "train", options)
        tracer.attach(step)
        trace = _traced(tracer, step, [step.prepare(batch) for batch in batches])
        found |= {f"{name}/{key}": value for key, value in step.parameters().items()}
        found[f"{name}/loss"] = step.result()
        programs.append(str(trace.facts.get("program_sha256", "")))
    found["hooks"] = np.array(_hooks(step) if framework == "torch" else 0)
    return found | {"programs": np.array(programs, "U")} | _written(trace, tracer.level, tracer.reason)


def _hooks(step: Any) -> int:
    """Return how many hooks the modules of PyTorch's step have."""
    return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in step._network.modules())


def traced(framework: str, engine: Engine, model: Model, options: dict[str, str], batches: list[Any]) -> dict[str, Any]:
    """Return the trace of steps with scopes."""
    return _Scoped(framework, engine, model, options).traced(batches)


class _Scoped:
    """A model's step with scopes, and the tracer that it is for."""

    def __init__(
        self, framework: str, engine: Engine, model: Model, options: dict[str, str], plant: Any = lambda build: build
    ) -> None:
        """Build the step; `plant` changes a build that has scopes."""
        self._tracer = importlib.import_module(f"bakeoff.frameworks.{framework}.tracing").Tracer()
        build = plant(self._tracer.scoped(model.build))
        self._step = engine.build(msgspec.structs.replace(model, build=build), "train", options)
        self._tracer.attach(self._step)

    def traced(self, batches: list[Any]) -> dict[str, Any]:
        """Return a trace with the length of its step in the middle."""
        trace = _traced(self._tracer, self._step, [self._step.prepare(batch) for batch in batches])
        lengths_ns = sorted(end_ns - start_ns for start_ns, end_ns in trace.steps)
        told = _written(trace, self._tracer.level, self._tracer.reason)
        return told | {"step_ns": np.array(lengths_ns[len(lengths_ns) // 2])}


def planted(framework: str, engine: Engine, options: dict[str, str], plant: str) -> dict[str, Any]:
    """Return the traces of a model without and with a cause of benchmarks/planted in its layer `body`."""
    path = PLANTS / f"{framework}_planted" / "engine.py"
    spec = importlib.util.spec_from_file_location(f"{framework}_planted", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = np.random.default_rng(0).standard_normal((BODY_SIZE.batch_size, WIDE)).astype(np.float32)
    model = Model(
        build=_with_a_body,
        loss=lambda nn, outputs, targets: nn.cross_entropy(outputs, targets),
        size=BODY_SIZE,
        optimizer=SGD(learning_rate=0.1),
        weights=plan.weights(_with_a_body, BODY_SIZE, 0),
    )
    batches = [labelled(rows, np.arange(BODY_SIZE.batch_size, dtype=np.int32) % BODY_SIZE.classes)]
    module.SLEEP_S, module.TRANSPOSITIONS = SLEEP_S, MANY
    with getattr(module, "allowing_float64", nullcontext)():
        steps = {
            name: _Scoped(
                framework, engine, model, options, partial(module.planted, plant=module.PLANTS[cause], path="body")
            )
            for name, cause in (("without", "none"), ("with", plant))
        }
        traces = {f"{name}/{number}": step.traced(batches) for number in range(TRACES) for name, step in steps.items()}
    return {f"{name}/{key}": value for name, trace in traces.items() for key, value in trace.items()}


def _with_a_body(nn: Any, size: Size) -> Any:
    """Make a model of three layers, of which the second does most of the work."""

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(*size.input_shape, WIDE)
            self.body = nn.Linear(WIDE, WIDE)
            self.head = nn.Linear(WIDE, size.classes)

        def forward(self, x: Any) -> Any:
            return self.head(nn.relu(self.body(nn.relu(self.first(x)))))

    return Network()


def sleeping(framework: str, engine: Engine, options: dict[str, str]) -> dict[str, Any]:
    """Return the trace of a model of which one layer sleeps in its forward pass."""
    model = Model(
        build=_with_a_sleep,
        loss=lambda nn, outputs, targets: nn.cross_entropy(outputs, targets),
        size=SIZE,
        optimizer=SGD(learning_rate=0.1),
        weights=plan.weights(_with_a_sleep, SIZE, 0),
    )
    rows = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)
    return traced(framework, engine, model, options, [labelled(rows, np.arange(4, dtype=np.int32) % 3)])


def _with_a_sleep(nn: Any, size: Size) -> Any:
    """Make a model of three layers, the second of which sleeps."""

    class Slow(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(8, 8)

        def forward(self, x: Any) -> Any:
            time.sleep(SLEEP_S)
            return self.inner(x)

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(*size.input_shape, 8)
            self.slow = Slow()
            self.head = nn.Linear(8, size.classes)

        def forward(self, x: Any) -> Any:
            return self.head(self.slow(self.first(x)))

    return Network()


def _traced(tracer: Any, step: Any, batches: list[Any]) -> Trace:
    """Run some steps, and some more under the profiler."""
    for count in range(BEFORE):
        step.run(batches[count % len(batches)])
        step.wait()

    def work(mark: Callable[[], AbstractContextManager[Any]]) -> None:
        for count in range(STEPS):
            with mark():
                step.run(batches[count % len(batches)])
                step.wait()

    with tempfile.TemporaryDirectory() as folder:
        trace: Trace = tracer.trace(step, work, Path(folder))
        assert all((Path(folder) / name).stat().st_size for name in trace.files)
    return trace


def _written(trace: Trace, level: str, reason: str) -> dict[str, Any]:
    """Return what a trace says, as text."""
    spent = msgspec.json.encode(shares(swept(trace, 1))).decode()
    texts = {"shares": spent, "level": level, "reason": reason}
    texts |= {name: msgspec.json.encode(getattr(trace, name)).decode() for name in ("facts", "stages")}
    return {name: np.array(text, "U") for name, text in texts.items()}

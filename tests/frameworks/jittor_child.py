"""Run in Jittor's interpreter: what three steps say that they compiled, and a trace of three more, as JSON.

The third step is of another shape.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from bakeoff.frameworks.engine import Model
from bakeoff.frameworks.jittor.engine import Engine
from bakeoff.frameworks.jittor.tracing import Tracer
from bakeoff.spec.batch import labelled
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size

SIZE = Size(batch_size=4, input_shape=(5,), classes=3)
OPTIONS = {"mode": "compiled", "precision": "float32", "device": "cpu", "threads": "1", "batch_norm": "staged"}


def told() -> dict[str, Any]:
    """Return the readings after each step, with how long it took, and what its profiler sees of such steps."""
    engine = Engine()
    engine.configure(OPTIONS)
    random = np.random.default_rng(0)
    model = Model(
        build=lambda nn, size: nn.Linear(5, size.classes),
        loss=lambda nn, outputs, targets: nn.cross_entropy(outputs, targets),
        size=SIZE,
        optimizer=SGD(learning_rate=0.1),
        weights={"weight": random.normal(size=(5, 3)), "bias": np.zeros(3)},
    )
    step = engine.build(model, "train", OPTIONS)
    batches = [
        step.prepare(labelled(random.normal(size=(count, 5)).astype(np.float32), np.arange(count, dtype=np.int32) % 3))
        for count in (4, 4, 7)
    ]
    before = step.compilation()
    readings = []
    for batch in batches:
        began = time.perf_counter_ns()
        step.run(batch)
        step.wait()
        took_ns = time.perf_counter_ns() - began
        after = step.compilation()
        assert None not in (before.count, before.compile_ns, after.count, after.compile_ns)
        readings.append(
            {"count": after.count - before.count, "compile_ns": after.compile_ns - before.compile_ns, "ns": took_ns}
        )
        before = after
    return {"steps": readings, "trace": traced(step, batches[0])}


def traced(step: Any, batch: Any) -> dict[str, Any]:
    """Return a trace, with its raw file."""
    tracer = Tracer()

    def work(mark: Any) -> None:
        for _ in range(3):
            with mark():
                step.run(batch)
                step.wait()

    with tempfile.TemporaryDirectory() as folder:
        trace = tracer.trace(step, work, Path(folder))
        (raw,) = [(Path(folder) / name).read_text() for name in trace.files]
    return {**msgspec.to_builtins(trace), "level": tracer.level, "reason": tracer.reason, "raw": raw}


if __name__ == "__main__":
    sys.stdout.write(f"\n{json.dumps(told())}\n")

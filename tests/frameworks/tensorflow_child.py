"""Run in TensorFlow's interpreter: `PYTHON tensorflow_child.py TASK ...` prints what its tasks give, as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from bakeoff.frameworks.engine import Model
from bakeoff.spec.batch import ArraySpec, Batch, labelled
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.optimizer import SGD, Adam, AdamW, RMSprop
from bakeoff.spec.workload import Size
from bakeoff.trial.framework import import_engine

if TYPE_CHECKING:
    from bakeoff.frameworks.engine import Engine

FOLDER = Path(sys.modules[Model.__module__].__file__).parent / "tensorflow"
OPTIONS = {
    "mode": "graph",
    "precision": "float32",
    "device": "cpu",
    "threads": "1",
    "conv_algorithm": "default",
    "graph_optimization": "on",
    "onednn": "default",
    "attention": "default",
    "lstm": "cell",
    "aggregate": "segment",
    "grappler": "default",
}
SIZE = Size(batch_size=2, input_shape=(4, 4, 3), classes=5)
BATCHES = 3


def build(nn: Any, size: Size) -> Any:
    """Make a model whose layers have names that a keras.Layer keeps for itself."""
    del size

    class Net(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.input = nn.Conv2d(3, 2, 3, padding=1)
            self.output = nn.Linear((4, 4, 2), 5)

        def forward(self, x: Any) -> Any:
            return self.output(nn.flatten(nn.relu(self.input(x))))

    return Net()


def model() -> Model:
    """Return the model with weights that differ from one another."""
    shapes = {"input.weight": (3, 3, 3, 2), "input.bias": (2,), "output.weight": (32, 5), "output.bias": (5,)}
    return Model(
        build=build,
        loss=lambda nn, outputs, targets: nn.cross_entropy(outputs, targets),
        size=SIZE,
        optimizer=Adam(learning_rate=1e-3),
        weights={name: np.linspace(-1, 1, int(np.prod(shape))).reshape(shape) for name, shape in shapes.items()},
    )


def traces(engine: Engine) -> dict[str, Any]:
    """Run several batches in each mode and scenario; return how often the step was traced."""
    found = {}
    for mode in ("eager", "graph", "compiled"):
        for scenario in ("train", "infer"):
            step = engine.build(model(), scenario, OPTIONS | {"mode": mode})
            for seed in range(BATCHES):
                x = np.full((2, 4, 4, 3), seed, np.float32)
                step.run(step.prepare(labelled(x, np.array([seed, 0], np.int32))))
                step.wait()
            found[f"{mode} {scenario}"] = step.settings()["traces"]
    return found


def cuda(engine: Engine) -> str:
    """Ask for a GPU; return the answer."""
    try:
        engine.configure(OPTIONS | {"device": "cuda"})
    except UnsupportedError as error:
        return str(error)
    return "configured"


def settings(engine: Engine) -> dict[str, Any]:
    """Run one step; return what was in force, and the outputs' sum as text."""
    step = engine.build(model(), "train", OPTIONS)
    batch = step.prepare(labelled(np.ones((2, 4, 4, 3)), np.zeros(2, np.int32)))
    outputs = step.outputs(batch)
    step.run(batch)
    step.wait()
    return step.settings() | {"outputs": f"{outputs.sum():.5f}"}


def float64(engine: Engine) -> dict[str, float]:
    """Apply every optimiser in float64 to a gradient of one; return the parameter after the second step."""
    engine.configure(OPTIONS | {"precision": "float64"})
    kinds = {
        "sgd": SGD(learning_rate=0.1, momentum=0.9, weight_decay=0.3),
        "adam": Adam(learning_rate=0.1, epsilon=0.1),
        "adamw": AdamW(learning_rate=0.1, epsilon=0.1, weight_decay=0.3),
        "rmsprop": RMSprop(learning_rate=0.1, epsilon=0.1),
    }
    ones = {"p": np.ones(1)}
    return {name: float(engine.optimize(kind, ones, [ones, ones])[-1]["p"][0]) for name, kind in kinds.items()}


def passes(engine: Engine) -> dict[str, Any]:
    """Run a step with each value of `grappler`; return what was read back, and the nodes that have run."""
    import tensorflow as tf

    from bakeoff.frameworks.tensorflow import grappler
    from bakeoff.frameworks.tensorflow.tracing import FirstCall

    found: dict[str, Any] = {"options": {}}
    words = ["default", "none", *(f"no-{name}" for name in grappler.PASSES), *grappler.PASSES]
    on = {one.switch: not one.off for one in grappler.PASSES.values()}
    for word in words:
        tf.config.optimizer.set_experimental_options(on)
        grappler.switch(word)
        step = engine.build(model(), "train", OPTIONS)
        first = FirstCall(step)
        step.run(step.prepare(labelled(np.ones((2, 4, 4, 3), np.float32), np.zeros(2, np.int32))))
        step.wait()
        found["options"][word] = [step.settings()["grappler"], first.facts()["instructions_after"]]
        if word == "default":
            found["stages"] = [[one.passes, one.nodes, one.removed] for one in first.stages()]
    # The fault: a pass is on again that was said to be off.
    grappler.switch("none")
    tf.config.optimizer.set_experimental_options({grappler.PASSES["folding"].switch: True})
    return found | {"planted": grappler.setting()}


def build_collecting(nn: Any, size: Size) -> Any:
    """Make a model of one layer, whose ReLU is in what it collects alone."""
    del size

    class Net(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(3, 3)

        def collect(self, x: Any) -> dict[str, Any]:
            return {"seen": nn.relu(self.first(x["x"]) + x["noise"])}

        def forward(self, x: Any) -> Any:
            return self.first(x["seen"])

    return Net()


def collecting(engine: Engine) -> dict[str, Any]:
    """Trace steps that collect; return how far each mode tells them, and which of its graphs' nodes are known."""
    from bakeoff.frameworks.tensorflow.tracing import Tracer

    row = ArraySpec(shape=(3,))
    size = Size(batch_size=2, inputs={"x": row, "noise": row}, classes=3, collected={"seen": row}, updates=2)
    made = Model(
        build=build_collecting,
        loss=lambda nn, outputs, targets: nn.cross_entropy(outputs, targets),
        size=size,
        optimizer=SGD(learning_rate=0.1),
        weights={"first.weight": np.eye(3), "first.bias": np.zeros(3)},
    )
    ones = np.ones((2, 3), np.float32)
    found = {}
    for mode in ("graph", "compiled"):
        tracer = Tracer()
        scoped = msgspec.structs.replace(made, build=tracer.scoped(build_collecting))
        step = engine.build(scoped, "train", OPTIONS | {"mode": mode})
        tracer.attach(step)
        step.run(step.prepare(Batch({"x": ones, "noise": ones}, {"y": np.zeros(2, np.int32)})))
        step.wait()
        names = "\n".join(tracer.graph())
        found[mode] = [tracer.level, tracer.reason, "F.relu" in names, "gradient_tape" in names]
    return found


if __name__ == "__main__":
    engine = import_engine(FOLDER).Engine()
    engine.configure(OPTIONS)
    print(json.dumps({task: globals()[task](engine) for task in sys.argv[1:]}))  # noqa: T201 - its answer

"""Run in a framework's interpreter: a model with BatchNorm and a Parameter in a reduced precision, as JSON.

PYTHON reduced_child.py FRAMEWORK OPTIONS
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import bakeoff.frameworks
from bakeoff.frameworks.engine import Model
from bakeoff.measure.peaks import matrix
from bakeoff.spec.batch import labelled
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size
from bakeoff.trial.framework import import_engine
from bakeoff.workloads import plan

PRODUCT = 256
"""Rows of a product's matrices."""
SIZE = Size(batch_size=4, input_shape=(6, 6, 2), classes=3)


def build(nn: Any, size: Size) -> Any:
    """Make a convolution with BatchNorm, a token beside those of the map, and a dense layer."""

    class Small(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(2, 4, 3, padding=1)
            self.norm = nn.BatchNorm(4)
            self.token = nn.Parameter((1, 1, 4))
            self.head = nn.Linear(4, size.classes)

        def forward(self, x: Any) -> Any:
            x = nn.tokens(nn.relu(self.norm(self.conv(x))))
            x = nn.concat([nn.broadcast_to(self.token, (x.shape[0], 1, 4)), x], axis=1)
            return self.head(nn.mean(x, 1))

    return Small()


def main(framework: str, options: str) -> None:
    """Train one step, and tell."""
    chosen = json.loads(options)
    engine = import_engine(Path(bakeoff.frameworks.__file__).parent / framework).Engine()
    engine.configure(chosen)
    model = Model(
        build=build,
        loss=lambda nn, outputs, targets: nn.cross_entropy(outputs, targets),
        size=SIZE,
        optimizer=SGD(learning_rate=0.1),
        weights=plan.weights(build, SIZE, 0),
        state=plan.state_values(build, SIZE, 0),
    )
    step = engine.build(model, "train", chosen)
    x = np.random.RandomState(0).standard_normal((4, *SIZE.input_shape)).astype(np.float32)
    batch = step.prepare(labelled(x, np.arange(4, dtype=np.int32) % 3))
    step.run(batch)
    step.wait()
    state = step.state()
    left, right = matrix(PRODUCT, 1), matrix(PRODUCT, 2)
    product = engine.product(left, right)
    product.run(None)
    product.wait()
    expected = left[0].astype(np.float64) @ right
    told = {
        "loss": step.result(),
        "product": float(np.abs(product.read() - expected).max() / np.abs(expected).max()),
        "precision": step.settings()["precision"],
        "exact": all(
            len(np.unique(np.asarray(value, np.float32).view(np.int32) & 0xFFFF)) > 1 for value in state.values()
        ),
    }
    sys.stdout.write(f"\n{json.dumps(told)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Run in a framework's interpreter: what its ready-made ResNet-50 for CIFAR-10 is and does, as JSON.

PYTHON ready_made_child.py FRAMEWORK SCENARIO OPTIONS
"""

from __future__ import annotations

import importlib
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

import bakeoff.frameworks
from bakeoff.frameworks.engine import Model
from bakeoff.spec.batch import labelled
from bakeoff.spec.errors import UnsupportedError
from bakeoff.trial.framework import import_engine
from bakeoff.workloads.load import load

WORKLOAD = "resnet50-cifar10"
BATCH = 2


def main(framework: str, scenario: Any, options: str) -> None:
    """Build it, run it, and tell."""
    chosen = json.loads(options)
    import_engine(Path(bakeoff.frameworks.__file__).parent / framework).Engine().configure(chosen)
    library = importlib.import_module(f"bakeoff.frameworks.{framework}.ready_made").ReadyMadeModels()
    loaded = load(WORKLOAD)
    models = {
        size: Model(
            build=loaded.build,
            loss=loaded.loss,
            size=loaded.size(size),
            optimizer=loaded.workload.optimizer,
            weights={},
        )
        for size in ("full", "reduced")
    }
    refused = ""
    try:
        library.build(WORKLOAD, models["reduced"], scenario, chosen)
    except UnsupportedError as error:
        refused = str(error)
    step = library.build(WORKLOAD, models["full"], scenario, chosen)
    random = np.random.RandomState(0)
    x = random.standard_normal((BATCH, *models["full"].size.input_shape)).astype(np.float32)
    batch = step.prepare(labelled(x, np.arange(BATCH, dtype=np.int32)))
    snapshot = step.snapshot()
    losses = _losses(step, batch, scenario)
    step.restore(snapshot)
    again = _losses(step, batch, scenario)
    outputs = step.outputs(batch)
    told = {
        "name": library.name(WORKLOAD),
        "holes": _reasons(library, ("mlp-mnist", "vit-b16")),
        "refused": refused,
        "parameters": sum(math.prod(value.shape) for value in step.parameters().values()),
        "losses": losses,
        "again": again,
        "optimizer": sum(array.size for _, array in step.optimizer_state()),
        "shape": outputs.shape,
        "finite": bool(np.isfinite(outputs).all()),
        "settings": step.settings(),
        "frozen": _frozen(step),
    }
    sys.stdout.write(f"\n{json.dumps(told)}\n")


def _losses(step: Any, batch: Any, scenario: str) -> list[float]:
    """Run two steps and return their losses."""
    losses = []
    for _ in range(2):
        step.run(batch)
        step.wait()
        losses += [step.result()] if scenario == "train" else []
    return losses


def _frozen(step: Any) -> int | None:
    """Set all layers but the last not to be trained, as Keras' users do; return the size of all parameters then."""
    layers = getattr(step._network, "layers", None)
    if layers is None:
        return None
    for layer in layers[:-1]:
        layer.trainable = False
    return sum(math.prod(value.shape) for value in step.parameters().values())


def _reasons(library: Any, workloads: tuple[str, ...]) -> dict[str, str]:
    """Give why there is no model for a workload."""
    found = {}
    for workload in workloads:
        try:
            library.name(workload)
        except UnsupportedError as error:
            found[workload] = str(error)
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What benchmarks need that run themselves with a framework's interpreter: its options, and a workload's model."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any


def run_inside(framework: str, file: str, *arguments: str, **variables: str) -> Any:
    """Run a file with a framework's interpreter, and give what it has written as JSON into the path after --into.

    It has the variables that a worker sets for a contender that says nothing, and these. The framework may name its
    environment: torch@/path/to/python.
    """
    import bakeoff
    from bakeoff.environments.declared import frameworks
    from bakeoff.environments.interpreters import resolve
    from bakeoff.environments.options import variables_of
    from bakeoff.spec.contender import Contender

    framework, _, environment = framework.partition("@")
    declared, options = frameworks()[framework], options_of(framework)
    contender = Contender(framework=framework, label=framework, environment=environment or None)
    interpreter = resolve(contender, declared)
    with tempfile.TemporaryDirectory() as folder:
        into, cache = Path(folder) / "found.json", Path(folder) / "cache"
        own = variables_of(declared.info, options)
        own = {name: value.format(threads=options["threads"], cache=cache) for name, value in own.items()}
        own["PYTHONPATH"] = str(Path(bakeoff.__file__).parents[1])
        command = [interpreter, file, *arguments, "--into", str(into)]
        subprocess.run(command, check=True, env=os.environ | own | variables)
        return json.loads(into.read_text())


def options_of(framework: str) -> dict[str, str]:
    """Give the values of a contender that says nothing, with all cores."""
    from bakeoff.environments.declared import frameworks
    from bakeoff.environments.options import resolve_options
    from bakeoff.spec.contender import Contender

    contender = Contender(framework=framework, label=framework)
    return resolve_options(frameworks()[framework].info, contender, {}, len(os.sched_getaffinity(0)))


def engine_of(framework: str) -> Any:
    """Give a framework's engine, configured with these values."""
    import bakeoff.frameworks
    from bakeoff.trial.framework import import_engine

    engine = import_engine(Path(bakeoff.frameworks.__file__).parent / framework).Engine()
    engine.configure(options_of(framework))
    return engine


def ready_made_of(framework: str) -> Any:
    """Give a framework's ready-made models, once its engine is configured."""
    import importlib

    return importlib.import_module(f"bakeoff.frameworks.{framework}.ready_made").ReadyMadeModels()


def model_of(workload: str, side: int) -> Any:
    """Give a workload's model at its full width, for images of this side."""
    import msgspec

    from bakeoff.workloads.load import load

    loaded = load(workload)
    full = loaded.size("full")
    return _model(loaded, msgspec.structs.replace(full, input_shape=(side, side, full.input_shape[-1])))


def model_in(path: str) -> Any:
    """Give the model of a workload by its name or file, at full size."""
    from bakeoff.workloads.load import load

    loaded = load(path)
    return _model(loaded, loaded.size("full"))


def _model(loaded: Any, size: Any) -> Any:
    """Give the model of a size with its weights."""
    from bakeoff.frameworks.engine import Model
    from bakeoff.workloads import plan

    return Model(
        build=loaded.build,
        loss=loaded.loss,
        size=size,
        optimizer=loaded.workload.optimizer,
        weights=plan.weights(loaded.build, size, 0),
        state=plan.state_values(loaded.build, size, 0),
    )


def drawn(model: Any, count: int) -> Any:
    """Give a batch as it is drawn from a seed."""
    from bakeoff.data.sources import synthetic

    return synthetic.load(model.size, count, 0, None).train


def batch_of(step: Any, model: Any, count: int) -> Any:
    """Give a batch of noise on the device."""
    import numpy as np

    from bakeoff.spec.batch import labelled

    random = np.random.default_rng(0)
    x = random.standard_normal((count, *model.size.input_shape), np.float32)
    return step.prepare(labelled(x, np.arange(count, dtype=np.int32)))

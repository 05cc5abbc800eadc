"""What the certificate is judged from: computed by the contender itself, in the settings that are timed."""

from __future__ import annotations

import hashlib
import io
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.certify.probe import probe_gradients, probe_parameters
from bakeoff.certify.sample import sample
from bakeoff.certify.state import added
from bakeoff.spec.record import Evidence
from bakeoff.store.files import EVIDENCE_FILE, write_atomically
from bakeoff.trial import ready_made
from bakeoff.workloads import plan

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from bakeoff.frameworks.engine import Arrays, Engine, Model, Step
    from bakeoff.spec.trial import TrialSpec
    from bakeoff.trial.inputs import Batches

OUTPUT_BATCHES = 2
"""Batches whose outputs are kept: two, so that an output that ignores its input is seen."""


def gather(engine: Engine, step: Step, model: Model, trial: TrialSpec, batches: Batches, folder: Path) -> Evidence:
    """Run the checks' computations, write the arrays to evidence.npz and give the rest."""
    name = ready_made.name(trial)
    prepared = [step.prepare(*batches.at(index)) for index in range(batches.count)]
    shapes = _shapes(step.parameters())
    arrays: Arrays = {
        f"output/{index}": np.asarray(step.outputs(prepared[index % len(prepared)]), np.float64)
        for index in range(OUTPUT_BATCHES)
    }
    losses: list[float] = []
    accuracy = None
    if trial.scenario == "train" and not name:  # No reference has the gradients of a ready-made model.
        arrays |= {f"gradient/{name}": sample(value) for name, value in step.gradients(prepared[0]).items()}
        arrays |= _optimizer_arrays(engine, model)
    state = {} if name else plan.state(model.build, model.size)
    if trial.scenario == "train":
        losses = _train(step, prepared, 0, 1)
        arrays |= _state_arrays(step, model, state)
        losses += _train(step, prepared, 1, trial.certify_steps)
        if batches.test is not None and trial.learning_steps:
            _train(step, prepared, len(losses), trial.learning_steps - len(losses))
            accuracy = accuracy_of(step, *batches.test, batch_size=trial.batch_size)
    return Evidence(
        parameter_shapes=shapes,
        state_shapes=_shapes(step.state()),
        running_variance=engine.running_variance if state else "",
        losses=[loss if math.isfinite(loss) else None for loss in losses],
        outputs=OUTPUT_BATCHES,
        ready_made=name,
        accuracy=accuracy,
        learning_steps=trial.learning_steps if accuracy is not None else 0,
        arrays_sha256=_save(arrays, folder / EVIDENCE_FILE),
    )


def _shapes(arrays: Arrays) -> dict[str, tuple[int, ...]]:
    """Give the shape of each array."""
    return {name: tuple(int(n) for n in value.shape) for name, value in arrays.items()}


def _train(step: Step, prepared: list[Any], first: int, count: int) -> list[float]:
    """Run `count` training steps from step `first` on; give the loss of each."""
    losses = []
    for index in range(first, first + count):
        step.run(prepared[index % len(prepared)])
        step.wait()
        losses.append(float(step.result()))
    return losses


def _state_arrays(step: Step, model: Model, state: dict[str, plan.Array]) -> Arrays:
    """Give what the one step that was run has added to each running statistic."""
    momentum = {name: array.momentum for name, array in state.items() if array.momentum is not None}
    after = step.state() if momentum else {}
    return {f"state/{name}": sample(value) for name, value in added(after, model.state, momentum)}


def _optimizer_arrays(engine: Engine, model: Model) -> Arrays:
    """Apply the workload's optimiser, as this framework makes it, to given gradients."""
    assert model.optimizer is not None
    trajectory = engine.optimize(model.optimizer, probe_parameters(), probe_gradients())
    return {f"optimizer/{t}/{name}": value for t, state in enumerate(trajectory) for name, value in state.items()}


def accuracy_of(step: Step, x: NDArray[Any], y: NDArray[Any], *, batch_size: int) -> float:
    """Give the share of held-out samples whose largest output is their label.

    The last batch is filled up with the first samples, whose answers are dropped: one shape, one compilation.
    """
    right = 0
    for start in range(0, len(x), batch_size):
        index = np.arange(start, start + batch_size) % len(x)
        outputs = step.outputs(step.prepare(x[index], y[index]))
        counted = min(batch_size, len(x) - start)
        right += int((outputs.argmax(axis=1) == y[index])[:counted].sum())
    return right / len(x)


def _save(arrays: Arrays, path: Path) -> str:
    """Write the arrays; give the file's SHA-256."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    write_atomically(path, file.getvalue())
    return hashlib.sha256(file.getvalue()).hexdigest()

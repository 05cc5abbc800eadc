"""What the certificate is judged from: computed by the contender itself, in the settings that are timed."""

from __future__ import annotations

import hashlib
import io
import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bakeoff.certify.checksum import checksums
from bakeoff.certify.probe import probe_gradients, probe_parameters
from bakeoff.certify.sample import sample
from bakeoff.certify.state import added
from bakeoff.spec.record import EVIDENCE_VERSION, Evidence
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.store.evidence import EVIDENCE_FILE
from bakeoff.store.files import write_atomically
from bakeoff.trial.ready_made import ready_made_name
from bakeoff.trial.updates import Updates
from bakeoff.workloads import plan

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.frameworks.engine import Arrays, Engine, Model, Step
    from bakeoff.spec.batch import Batch
    from bakeoff.spec.scenario import EvidencePart
    from bakeoff.spec.trial import TrialSpec
    from bakeoff.trial.inputs import Batches

OUTPUT_BATCHES = 2
"""Batches whose outputs are kept: two, so that an output that ignores its input is seen."""


WITHOUT_REFERENCE: frozenset[EvidencePart] = frozenset({"gradients", "optimizer", "updates", "state"})
"""What a ready-made model does not owe: there is no reference that has its parameters."""


def gather(engine: Engine, step: Step, model: Model, trial: TrialSpec, batches: Batches, folder: Path) -> Evidence:
    """Compute all that the trial's scenario owes, write the arrays to evidence.npz and return the rest."""
    name = ready_made_name(trial)
    scenario = SCENARIOS[trial.scenario]
    owed = scenario.evidence - WITHOUT_REFERENCE if name else scenario.evidence
    prepared = [step.prepare(batches.at(index)) for index in range(batches.count)]
    shapes = _shapes(step.parameters())
    arrays: Arrays = {
        f"output/{index}": np.asarray(step.outputs(prepared[index % len(prepared)]), np.float64)
        for index in range(OUTPUT_BATCHES)
    }
    if "ran" in owed:
        arrays |= _ran_arrays(step, prepared)
    losses: list[float] = []
    accuracy = None
    # In this order: gradients are those before the first step, and what that step adds to a state is read after it.
    if "gradients" in owed:
        arrays |= {f"gradient/{name}": sample(value) for name, value in step.gradients(prepared[0]).items()}
    if "optimizer" in owed:
        arrays |= _optimizer_arrays(engine, model)
    state = {} if name else plan.state(model.build, model.size)
    if scenario.has_loss:
        updates = Updates(step) if "updates" in owed else None
        losses = _losses(step, prepared, 0, 1, updates)
        if "state" in owed:
            arrays |= _state_arrays(step, model, state)
        losses += _losses(step, prepared, 1, trial.certify_steps, updates)
        arrays |= updates.arrays() if updates else {}
        if scenario.trains and batches.test is not None and trial.learning_steps:
            _losses(step, prepared, len(losses), trial.learning_steps - len(losses))
            accuracy = accuracy_of(step, batches.test, batch_size=trial.batch_size)
    return Evidence(
        version=EVIDENCE_VERSION,
        parameter_shapes=shapes,
        state_shapes=_shapes(step.state()),
        running_variance=engine.running_variance if state else "",
        losses=[loss if math.isfinite(loss) else None for loss in losses],
        outputs=OUTPUT_BATCHES,
        checksums=_finite(checksums(arrays["output/0"])),
        ready_made=name,
        accuracy=accuracy,
        learning_steps=trial.learning_steps if accuracy is not None else 0,
        arrays_sha256=_save(arrays, folder / EVIDENCE_FILE),
    )


def _finite(sums: list[float]) -> list[float]:
    """Return checksums that JSON can hold; none where one is not finite."""
    return sums if all(map(math.isfinite, sums)) else []


def _shapes(arrays: Arrays) -> dict[str, tuple[int, ...]]:
    """Return the shape of each array."""
    return {name: tuple(int(n) for n in value.shape) for name, value in arrays.items()}


def _ran_arrays(step: Step, prepared: list[Any]) -> Arrays:
    """Run timed steps; return what each has kept."""
    arrays = {}
    for index in range(OUTPUT_BATCHES):
        step.run(prepared[index % len(prepared)])
        step.wait()
        arrays[f"ran/{index}"] = np.asarray(step.last_outputs(), np.float64)
    return arrays


def _losses(step: Step, prepared: list[Any], first: int, count: int, updates: Updates | None = None) -> list[float]:
    """Run `count` steps from step `first` on; return the loss of each."""
    losses = []
    for index in range(first, first + count):
        batch = prepared[index % len(prepared)]
        if updates:
            updates.before(batch)
        step.run(batch)
        step.wait()
        if updates:
            updates.after()
        losses.append(float(step.result()))
    return losses


def _state_arrays(step: Step, model: Model, state: dict[str, plan.Array]) -> Arrays:
    """Return what the one step that was run has added to each running statistic."""
    momentum = {name: array.momentum for name, array in state.items() if array.momentum is not None}
    after = step.state() if momentum else {}
    return {f"state/{name}": sample(value) for name, value in added(after, model.state, momentum)}


def _optimizer_arrays(engine: Engine, model: Model) -> Arrays:
    """Apply the workload's optimiser, as this framework makes it, to given gradients."""
    assert model.optimizer is not None
    trajectory = engine.optimize(model.optimizer, probe_parameters(), probe_gradients())
    return {f"optimizer/{t}/{name}": value for t, state in enumerate(trajectory) for name, value in state.items()}


def accuracy_of(step: Step, test: Batch, *, batch_size: int) -> float | None:
    """Return the share of held-out labels that are the class with the largest output; None where there are no labels.

    Labels are the one target, integers of the outputs' shape without its last axis. The last batch is filled up with
    the first samples, whose answers are dropped: one shape, one compilation.
    """
    if len(test.targets) != 1:
        return None
    (labels,) = test.targets.values()
    right = 0
    for start in range(0, len(test), batch_size):
        index = np.arange(start, start + batch_size) % len(test)
        outputs = step.outputs(step.prepare(test.taken(index)))
        if labels.dtype.kind != "i" or outputs.shape[:-1] != (batch_size, *labels.shape[1:]):
            return None
        counted = min(batch_size, len(test) - start)
        right += int((outputs.argmax(axis=-1) == labels[index])[:counted].sum())
    return right / labels.size


def _save(arrays: Arrays, path: Path) -> str:
    """Write the arrays; return the file's SHA-256."""
    file = io.BytesIO()
    # NumPy 1.26, which Jittor has, would take allow_pickle=False for one more array.
    assert not any(np.asarray(array).dtype.hasobject for array in arrays.values())
    np.savez(file, **cast("dict[str, Any]", arrays))
    write_atomically(path, file.getvalue())
    return hashlib.sha256(file.getvalue()).hexdigest()

"""What the certificate is judged from: computed by the contender itself, in the settings that are timed."""

from __future__ import annotations

import gc
import hashlib
import io
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, cast

import msgspec
import numpy as np

from bakeoff.certify.checksum import checksums
from bakeoff.certify.errors import finite
from bakeoff.certify.probe import probe_gradients, probe_parameters, probed
from bakeoff.certify.sample import sample, sampled_outputs
from bakeoff.certify.spread import Results, moved, moved_statistics, spread
from bakeoff.certify.state import added
from bakeoff.certify.tolerances import OPERATION_ROUNDINGS, UNIT_ROUNDOFF, amplitude
from bakeoff.spec.evidence import EVIDENCE_VERSION, Evidence
from bakeoff.spec.optimizer import frozen_of
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.store.evidence import EVIDENCE_FILE, read_arrays
from bakeoff.store.files import write_atomically
from bakeoff.trial.lines import Watch
from bakeoff.trial.model import metric_of
from bakeoff.trial.ready_made import ready_made_name
from bakeoff.trial.updates import Changes, Updates, sampled_gradients
from bakeoff.workloads import layers, plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from bakeoff.frameworks.engine import Arrays, CollectingStep, Engine, KeepingStep, Model, ShardedStep, Step
    from bakeoff.spec.batch import Batch
    from bakeoff.spec.scenario import EvidencePart
    from bakeoff.spec.trial import TrialSpec
    from bakeoff.trial.inputs import Batches

LARGE_BYTES = 100_000_000
"""Of parameters, from where on looking for rings is worth its seventh of a second."""

WITHOUT_REFERENCE: frozenset[EvidencePart] = frozenset({"gradients", "optimizer", "updates", "state", "norms", "noise"})
"""What a ready-made model does not owe: there is no reference that has its parameters."""


class Gathering:
    """What is computed of one model on the trial's batches, by what the trial's scenario owes."""

    def __init__(
        self, engine: Engine, step: Step, model: Model, trial: TrialSpec, batches: Batches, *, is_draw: bool = False
    ) -> None:
        """Take a step that never ran, and put the batches on its device."""
        self._engine, self._step, self._model, self._trial, self._batches = engine, step, model, trial, batches
        self._is_draw = is_draw
        self.ready_made = ready_made_name(trial)
        self._scenario = SCENARIOS[trial.scenario]
        # The reference is the yardstick: its own gradients are those that it has followed, and a pass each is saved.
        is_plain = self._scenario.trains and not self._scenario.per_sample
        self._keeps = trial.purpose == "reference" and is_plain and keeps_gradients(step, model)
        # Of a draw the parameters alone are compared; a large program is held by where its steps lead, to 1e-9.
        self.first_alone = is_draw or (trial.purpose == "program" and trial.is_large and is_plain)
        self._owed = self._scenario.evidence - WITHOUT_REFERENCE if self.ready_made else self._scenario.evidence
        self._prepared = [step.prepare(batches.at(index)) for index in range(batches.count)]
        self._ends = [self._prepared[index] for index in batches.ends]
        self.state = {} if self.ready_made else plan.state(model.build, model.size)
        self._metric = metric_of(trial, model.size)
        self.arrays: Arrays = {}
        self.losses: list[float] = []
        self.metric: float | None = None
        self.changed: int | None = None

    def compute(
        self, *, updates: bool = True, noting: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        """Compute outputs, gradients, losses, statistics, the metric and, unless they are left out, updates.

        In this order: what is timed in inference runs first, as in a timed trial, since a compiler may give a later
        call the program of an earlier one; gradients are those before the first step, and what that step adds to a
        state is read after it. With `noting` the first call of each is run.
        """
        step, prepared, owed = self._step, self._prepared, self._owed
        with noting():
            kept, changes = self._compute_first(updates=updates)
        if not self._scenario.has_loss:
            return
        before: Arrays = {}
        if "state" in owed:
            self.arrays |= _state_arrays(step, self._model, self.state)
            self.arrays |= _first_shards(step, self._model, self.state)
            before = {name: np.array(value, np.float64) for name, value in step.state().items()}
        self.losses += _losses(step, prepared, 1, self._trial.certify_steps, kept)
        self.arrays |= _later_state_arrays(step, before, self.state, self._trial.certify_steps)
        self.arrays |= kept.arrays() if kept else {}
        self.changed = changes.count() if changes else None
        self.metric = self._metric(step.parameters()).value if self._metric else None

    def _compute_first(self, *, updates: bool) -> tuple[Updates | None, Changes | None]:
        """Compute outputs, first gradients and the first step; return what keeps updates, and what counts changes."""
        step, prepared, owed = self._step, self._prepared, self._owed
        if "ran" in owed and not self._is_draw:  # a draw tells how far outputs move, whichever function gives them
            self.arrays |= _ran_arrays(step, self._ends)
        for index, batch in enumerate(self._ends):
            # No name holds them: at its own batch GPT-2's outputs are 5 GB in float64, and would be there to the end.
            self.arrays[f"output/{index}"] = sampled_outputs(np.asarray(step.outputs(batch)))
        kept = self._updates() if updates and "updates" in owed else None
        # The gradients that the first update follows are the same, unless a step is made of parts.
        is_same = kept is not None and not hasattr(step, "parts")
        is_kept = self._keeps and kept is None and "gradients" in owed
        if "gradients" in owed and not is_same and not is_kept:
            self.arrays |= sampled_gradients(step.gradients(prepared[0]))
        if "norms" in owed:
            self.arrays |= _norms_arrays(step, self._ends)
        if not self._scenario.has_loss:
            return kept, None
        changes = Changes(step) if self.ready_made else None
        self.losses = _losses(step, prepared, 0, 1, kept)
        if kept is not None and is_same:
            self.arrays |= kept.first
        if is_kept:
            self.arrays |= sampled_gradients(cast("KeepingStep", step).kept_gradients())
        return kept, changes

    def _updates(self) -> Updates:
        """Return what keeps the changes of the parameters."""
        asked = self._trial.per_sample
        noisy = "noise" in self._owed and asked is not None and asked.is_noisy
        # Parameters are read, which copies them all, only where some are not trained.
        is_whole = self._is_draw or self._model.optimizer is None or not self._model.optimizer.frozen
        frozen = [] if is_whole else frozen_of(self._model.optimizer, self._step.parameters())
        return Updates(
            self._step,
            clips=_clips(self._model),
            noisy=noisy,
            first_alone=self.first_alone,
            keeps=self._keeps,
            frozen=frozen,
        )

    def apply_optimizer(self) -> None:
        """Apply the workload's optimiser to given gradients, where that is owed."""
        if "optimizer" in self._owed:
            self.arrays |= _optimizer_arrays(self._engine, self._model)

    def learn(self) -> float | None:
        """Go on training as far as the trial asks; return the accuracy on held-out data, where there is any."""
        steps, test = self._trial.learning_steps, self._batches.test
        if not self._scenario.trains or test is None or not steps:
            return None
        _losses(self._step, self._prepared, len(self.losses), steps - len(self.losses))
        return accuracy_of(self._step, test, batch_size=self._trial.batch_size)


def gather(  # noqa: PLR0913 - what evidence is computed of, and who looks on
    engine: Engine,
    step: Step,
    model: Model,
    trial: TrialSpec,
    batches: Batches,
    folder: Path,
    *,
    watch: Watch | None = None,
) -> Evidence:
    """Compute all that the trial's scenario owes, write the arrays to evidence.npz and return the rest.

    Raises ModelFileError where the workload's file runs other lines than over shapes.
    """
    shapes = _shapes(step.parameters())
    watch = watch or Watch(trial)
    found = Gathering(engine, step, model, trial, batches)
    found.compute(noting=watch.noting)
    watch.check()
    found.apply_optimizer()
    accuracy = found.learn()
    return Evidence(
        version=EVIDENCE_VERSION,
        parameter_shapes=shapes,
        state_shapes=_shapes(step.state()),
        running_variance=engine.running_variance if found.state else "",
        losses=list(map(finite, found.losses)),
        shards=model.shards,
        outputs=len(batches.ends),
        checksums=checksums(found.arrays["output/0"]),
        others=checksums(found.arrays["output/1"]),
        ready_made=found.ready_made,
        changed=found.changed,
        accuracy=accuracy,
        learning_steps=trial.learning_steps if accuracy is not None else 0,
        test_samples=len(batches.test) if accuracy is not None and batches.test is not None else 0,
        metric=found.metric,
        own_gradients=1 if found.first_alone else None,
        arrays_sha256=save(found.arrays, folder / EVIDENCE_FILE),
    )


def with_spread(  # noqa: PLR0913 - what evidence is computed of, and the precision
    evidence: Evidence,
    engine: Engine,
    model: Model,
    trial: TrialSpec,
    batches: Batches,
    folder: Path,
    *,
    precision: str,
) -> Evidence:
    """Return evidence, whose arrays are in the folder, with how far it moves with the parameters for a precision."""
    for other, found in evidence.spreads.items():
        if amplitude(other) == amplitude(precision):  # float16 has as many bits as TF32: the draws would be the same
            return msgspec.structs.replace(evidence, spreads=evidence.spreads | {precision: found})
    reference = Results(read_arrays(folder / EVIDENCE_FILE, evidence.arrays_sha256), evidence.losses, evidence.metric)
    draws: list[Results] = []
    bare = msgspec.structs.replace(model, weights={})
    for weights in moved(model.weights, precision):
        step = engine.build(msgspec.structs.replace(model, weights=weights), trial.scenario, trial.options)
        del weights  # a step has copies of its own, and of a large model one more is too many
        beside = Gathering(engine, step, bare, trial, batches, is_draw=True)
        with _rounding(engine, precision, len(draws)):
            beside.compute(updates=precision == "float64")  # in which alone parameters are held step by step
        draws.append(Results(beside.arrays, list(map(finite, beside.losses)), beside.metric))
        del step, beside  # two models at a time are enough: the reference's own is one
        free_at_once(model.weights)
    is_padded = any(array.length for array in model.size.inputs.values())
    statistics = _of_statistics(engine, model, trial, batches) if is_padded and precision == "float32" else []
    spreads = evidence.spreads | {precision: spread(precision, reference, draws, statistics, optimizer=model.optimizer)}
    return msgspec.structs.replace(evidence, spreads=spreads)


def free_at_once(weights: Arrays) -> None:
    """Free the memory of steps that nothing refers to any more, where a model is so large that it counts.

    Optimisers refer to themselves in rings, which Python looks for by the number of new objects and not by their size:
    bert-base with Adam's state was there once more for every draw, until the kernel ended the process.
    """
    if sum(value.nbytes for value in weights.values()) >= LARGE_BYTES:
        gc.collect()


def _rounding(engine: Engine, precision: str, draw: int) -> AbstractContextManager[Any]:
    """Return the context in which a draw's operations are moved: in float32, by an engine that can do that."""
    if precision != "float32" or not hasattr(engine, "rounding"):
        return nullcontext()
    return engine.rounding(OPERATION_ROUNDINGS * UNIT_ROUNDOFF[precision], draw)


def _of_statistics(engine: Engine, model: Model, trial: TrialSpec, batches: Batches) -> list[Results]:
    """Return the gradients of each draw in which the statistics of a batch are off; none where nothing has them."""
    if not model.state or "gradients" not in SCENARIOS[trial.scenario].evidence:
        return []
    found = []
    for weights in moved_statistics(model.weights, model.state):
        step = engine.build(msgspec.structs.replace(model, weights=weights), trial.scenario, trial.options)
        found.append(Results(sampled_gradients(step.gradients(step.prepare(batches.at(0)))), ()))
    return found


def _shapes(arrays: Arrays) -> dict[str, tuple[int, ...]]:
    """Return the shape of each array."""
    return {name: tuple(int(n) for n in value.shape) for name, value in arrays.items()}


def _ran_arrays(step: Step, batches: list[Any]) -> Arrays:
    """Run timed steps; return what each has kept."""
    arrays = {}
    for index, batch in enumerate(batches):
        step.run(batch)
        step.wait()
        arrays[f"ran/{index}"] = sampled_outputs(np.asarray(step.last_outputs()))
    return arrays


def _norms_arrays(step: Step, batches: list[Any]) -> Arrays:
    """Return the norms of the samples of some batches."""
    return {f"norms/{index}": np.asarray(step.norms(batch), np.float64) for index, batch in enumerate(batches)}


def _losses(step: Step, prepared: list[Any], first: int, count: int, updates: Updates | None = None) -> list[float]:
    """Run `count` steps from step `first` on; return the loss of each."""
    losses = []
    for index in range(first, first + count):
        batch = prepared[index % len(prepared)]
        for part in _parts(step, batch):
            if updates:
                updates.before(part)
            step.run(part)
            step.wait()
            if updates:
                updates.after()
        losses.append(float(step.result()))
    return losses


def _parts(step: Step, batch: Any) -> list[Any]:
    """Return what a step on a batch consists of: itself, or each update where it collects."""
    return cast("CollectingStep", step).parts(batch) if hasattr(step, "parts") else [batch]


def _state_arrays(step: Step, model: Model, state: dict[str, layers.Array]) -> Arrays:
    """Return what the one step that was run has added to each running statistic."""
    momentum = _momenta(state)
    after = step.state() if momentum else {}
    return {f"state/{name}": sample(value) for name, value in added(after, model.state, momentum)}


def _later_state_arrays(step: Step, before: Arrays, state: dict[str, layers.Array], steps: int) -> Arrays:
    """Return what the steps after the first have added to each running statistic, all of them together."""
    momentum = {name: 1 - (1 - each) ** steps for name, each in _momenta(state).items() if name in before}
    after = step.state() if momentum else {}
    return {f"later/{name}": sample(value) for name, value in added(after, before, momentum)}


def _first_shards(step: Step, model: Model, state: dict[str, layers.Array]) -> Arrays:
    """Return what the first of several shards has added to each running statistic by itself."""
    momentum = _momenta(state)
    after = cast("ShardedStep", step).first_state() if momentum and model.shards > 1 else {}
    return {f"first/{name}": sample(value) for name, value in added(after, model.state, momentum)}


def _momenta(state: dict[str, layers.Array]) -> dict[str, float]:
    """Return the momentum of each running statistic."""
    return {name: array.momentum for name, array in state.items() if array.momentum is not None}


def _optimizer_arrays(engine: Engine, model: Model) -> Arrays:
    """Apply the workload's optimiser, as this framework makes it, to given gradients."""
    assert model.optimizer is not None
    gradients = probe_gradients(model.optimizer.clip_norm)
    trajectory = engine.optimize(probed(model.optimizer), probe_parameters(model.optimizer), gradients)
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


def _clips(model: Model) -> bool:
    """Return whether the workload's optimiser clips gradients by their norm."""
    return model.optimizer is not None and model.optimizer.clip_norm is not None


def keeps_gradients(step: Step, model: Model) -> bool:
    """Return whether a step keeps the whole gradients of its batch, as `gradients` returns them.

    Clipping writes others in their place, and so does Nesterov's step by the kernels that PyTorch takes on a GPU.
    """
    is_whole = hasattr(step, "kept_gradients") and not hasattr(step, "parts")
    return is_whole and not _clips(model) and not getattr(model.optimizer, "nesterov", False)


def save(arrays: Arrays, path: Path) -> str:
    """Write the arrays; return the file's SHA-256."""
    file = io.BytesIO()
    # NumPy 1.26, which Jittor has, would take allow_pickle=False for one more array.
    assert not any(np.asarray(array).dtype.hasobject for array in arrays.values())
    np.savez(file, **cast("dict[str, Any]", arrays))
    write_atomically(path, file.getvalue())
    return hashlib.sha256(file.getvalue()).hexdigest()

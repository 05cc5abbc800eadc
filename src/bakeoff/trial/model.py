"""What an engine needs to build a workload, drawn from the same seed for every framework, and the workload's metric."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.frameworks.dropping import standing_for
from bakeoff.frameworks.engine import Model
from bakeoff.spec.metric import MetricReading
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.spec.trial import KINDS
from bakeoff.spec.vocabulary import DROPPING, VOCABULARY, GivenNames
from bakeoff.store.fingerprints import check_unchanged
from bakeoff.trial.draws import fixed_normal
from bakeoff.trial.ready_made import ready_made_name
from bakeoff.workloads import plan
from bakeoff.workloads.likewise import check_likewise
from bakeoff.workloads.load import load
from bakeoff.workloads.metric import measured

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.frameworks.engine import Arrays
    from bakeoff.spec.trial import TrialSpec
    from bakeoff.spec.workload import Size
    from bakeoff.workloads.load import LoadedWorkload


def make_model(trial: TrialSpec) -> Model:
    """Put together what the engine needs; for the certificate with draws that are no framework's own.

    Raises ChangedError for a workload that is not the one that the comparison was fixed with, and ModelFileError for
    one that does something else in this process.
    """
    loaded = loaded_of(trial)
    size = loaded.size(trial.size)
    check_likewise(loaded, size, trial.scenario, trial.steps_sha256)
    return Model(
        build=loaded.build if KINDS[trial.purpose].steps else _with_fixed_draws(loaded.build, trial.own_layers),
        loss=loaded.loss,
        size=size,
        optimizer=loaded.workload.optimizer,
        weights=plan.weights(loaded.build, size, trial.seed),
        state=plan.state_values(loaded.build, size, trial.seed),
        per_sample=trial.per_sample,
        shards=trial.shards,
    )


def metric_of(trial: TrialSpec, size: Size) -> Callable[[Arrays], MetricReading] | None:
    """Return what reads the workload's metric of parameters; None without one, or where the trial trains none of them.

    The file is read at once, so that it may change while the trial runs. Raises as `make_model` does.
    """
    # A ready-made model has parameters of its own.
    if size.metric is None or not SCENARIOS[trial.scenario].trains or ready_made_name(trial):
        return None
    loaded, told = loaded_of(trial), msgspec.structs.asdict(size.metric)
    return lambda parameters: MetricReading(**told, value=measured(loaded, size, parameters))


def loaded_of(trial: TrialSpec) -> LoadedWorkload:
    """Return the trial's workload; raise ChangedError where it is not the one that the comparison was fixed with."""
    loaded = load(trial.workload_path)
    check_unchanged(f"the workload's file {trial.workload_path}", trial.workload_sha256, loaded.sha256)
    return loaded


def _with_fixed_draws(build: Callable[[Any, Any], Any], own: tuple[str, ...]) -> Callable[[Any, Any], Any]:
    """Build with a vocabulary whose layers drop nothing, and whose RandomNormal gives the same in all frameworks.

    Layers in `own` are those that the framework's folder has for the reference.
    """

    def build_with(nn: Any, size: Any) -> Any:
        names = {name: getattr(nn, name) for name in VOCABULARY if hasattr(nn, name)}
        dropping = {name: partial(_checked, names[name]) for name in DROPPING if name in names}
        # The plan, which counts over shapes, has its own layers alone.
        layers = {name: layer for name, layer in getattr(nn, "reference_layers", {}).items() if name in own}
        return build(GivenNames(**names | layers | dropping | {"RandomNormal": fixed_normal(nn)}), size)

    return build_with


def _checked(layer: Any, rate: float) -> Any:
    """Make the framework's own layer with the given rate, so that a bad one is refused, and return one of rate 0."""
    layer(rate)
    return standing_for(rate, layer(0.0))

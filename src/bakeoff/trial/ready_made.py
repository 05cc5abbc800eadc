"""The tier `native` in the worker: a framework's ready-made model in place of the workload's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.spec.errors import UnsupportedError
from bakeoff.trial.framework import part_of

if TYPE_CHECKING:
    from bakeoff.frameworks.engine import Model, Step
    from bakeoff.frameworks.ready_made import ReadyMadeModels
    from bakeoff.spec.trial import TrialSpec


def ready_made_name(trial: TrialSpec) -> str:
    """Return what the framework's users would take for the workload; empty where the workload's own model is run.

    Raises UnsupportedError where the framework names none.
    """
    return _models(trial).name(trial.workload_name) if trial.contender.options.get("tier") == "native" else ""


def build_ready_made(trial: TrialSpec, model: Model) -> Step:
    """Return the ready-made model's step; the framework's engine was imported and configured before."""
    return _models(trial).build(trial.workload_name, model, trial.scenario, trial.contender.options)


def _models(trial: TrialSpec) -> ReadyMadeModels:
    """Return what ready_made.py of the framework's folder provides."""
    folder = Path(trial.framework_path)
    module = part_of(folder, "ready_made")
    if module is None:
        msg = f"{folder.name} names no ready-made models: its folder has no ready_made.py"
        raise UnsupportedError(msg)
    models: ReadyMadeModels = module.ReadyMadeModels()
    return models

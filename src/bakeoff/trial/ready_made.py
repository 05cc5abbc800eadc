"""The tier `native` in the worker: a framework's ready-made model in place of the workload's."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import bakeoff.frameworks
from bakeoff.spec.errors import UnsupportedError

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
    """Import ready_made.py of the framework's folder."""
    folder = Path(trial.framework_path)
    module = f"{bakeoff.frameworks.__name__}.{folder.name}.ready_made"
    if importlib.util.find_spec(module) is None:
        msg = f"{folder.name} names no ready-made models: its folder has no ready_made.py"
        raise UnsupportedError(msg)
    models: ReadyMadeModels = importlib.import_module(module).ReadyMadeModels()
    return models

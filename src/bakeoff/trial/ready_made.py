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
    from bakeoff.frameworks.zoo import Zoo
    from bakeoff.spec.trial import TrialSpec


def name(trial: TrialSpec) -> str:
    """Give what the framework's users would take for the workload; empty in trials that run the workload's own model.

    Raise UnsupportedError where the framework names none.
    """
    return _zoo(trial).name(trial.workload_name) if trial.contender.options.get("tier") == "native" else ""


def build(trial: TrialSpec, model: Model) -> Step:
    """Make the ready-made model's step; the framework's engine was imported and configured before."""
    return _zoo(trial).build(trial.workload_name, model, trial.scenario, trial.contender.options)


def _zoo(trial: TrialSpec) -> Zoo:
    """Import zoo.py of the framework's folder."""
    folder = Path(trial.framework_path)
    module = f"{bakeoff.frameworks.__name__}.{folder.name}.zoo"
    if importlib.util.find_spec(module) is None:
        msg = f"{folder.name} names no ready-made models: its folder has no zoo.py"
        raise UnsupportedError(msg)
    zoo: Zoo = importlib.import_module(module).Zoo()
    return zoo

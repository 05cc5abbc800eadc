"""The scripted framework's ready-made model: the script itself, with one parameter more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from bakeoff.frameworks.fake.engine import InferStep, Step
from bakeoff.frameworks.steps import for_scenario
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.spec.scenario import Scenario

WORKLOADS = ("mlp-mnist", "cnn-apx")
"""Those that it has a model for."""


class ReadyMadeModels:
    """The ready-made models of the script."""

    def name(self, workload: str) -> str:
        """Name the model."""
        if workload not in WORKLOADS:
            msg = f"the script has no ready-made model for {workload}; it has them for {', '.join(WORKLOADS)}"
            raise UnsupportedError(msg)
        return f"fake.models.{workload}"

    def build(self, workload: str, model: Model, scenario: Scenario, options: Mapping[str, str]) -> Step:
        """Make its step: one parameter more than the workload's model."""
        del workload
        weights: Arrays = model.weights | {"extra": np.zeros(1)}
        return for_scenario(_STEPS, scenario)(msgspec.structs.replace(model, weights=weights), options)


class _WithoutGradients:
    """The promise that nobody asks for a ready-made model's gradients."""

    def gradients(self, batch: object) -> Arrays:
        """Raise AssertionError: no reference has these."""
        del batch
        msg = "the certificate of a ready-made model has asked for its gradients"
        raise AssertionError(msg)


class ReadyMadeStep(_WithoutGradients, Step):
    """A scripted step that trains."""


class ReadyMadeInferStep(_WithoutGradients, InferStep):
    """A scripted step without a loss."""


_STEPS: dict[Scenario, type[Step]] = {"train": ReadyMadeStep, "infer": ReadyMadeInferStep}

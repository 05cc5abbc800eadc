"""The scripted framework's ready-made model: the script itself, with one parameter more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from bakeoff.frameworks.fake.engine import Step
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.frameworks.engine import Arrays, Model
    from bakeoff.spec.scenario import Scenario

WORKLOADS = ("mlp-mnist", "cnn-apx")
"""Those that it has a model for."""


class Zoo:
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
        return ReadyMade(msgspec.structs.replace(model, weights=weights), scenario, options)


class ReadyMade(Step):
    """A scripted step whose gradients nobody may ask for."""

    def gradients(self, batch: object) -> Arrays:
        """Refuse: no reference has these."""
        del batch
        msg = "the certificate of a ready-made model has asked for its gradients"
        raise AssertionError(msg)

"""The ready-made models: what a framework folder's zoo.py may provide, for the tier `native`.

zoo.py has a class `Zoo`, constructed without arguments after the folder's engine is configured. Its module may import
what its models come from; a package that is not there is an UnsupportedError of `build`, with how to install it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.frameworks.engine import Model, Step
    from bakeoff.spec.workload import Scenario


class Zoo(Protocol):
    """What users of one framework would take ready-made for a workload."""

    def name(self, workload: str) -> str:
        """Give what a user would write to have the model: "torchvision.models.resnet50".

        Raise UnsupportedError with the reason where there is none for this workload.
        """

    def build(self, workload: str, model: Model, scenario: Scenario, options: Mapping[str, str]) -> Step:
        """Make the ready-made model's step, run as its users would run it.

        `model` gives the size, the loss and the optimiser with its settings; its `build` and `weights` are not used:
        the ready-made model has its own parameters and initial values. The step's `gradients` is never called, and its
        `parameters` have the names and the layout that the ready-made model has.
        """

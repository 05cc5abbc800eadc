"""The ready-made models: what a framework folder's ready_made.py may provide, for the tier `native`.

The file has a class `ReadyMadeModels`, constructed without arguments after the folder's engine is configured. It may
import what its models come from; a package that is not there is an UnsupportedError of `build`, with how to install it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.workload import Size

if TYPE_CHECKING:
    from bakeoff.frameworks.engine import Model, Step
    from bakeoff.spec.scenario import Scenario


class ReadyMadeModels(Protocol):
    """The models that users of one framework would take ready-made for a workload."""

    def name(self, workload: str) -> str:
        """Return what a user would write to have the model: "torchvision.models.resnet50".

        Raises UnsupportedError with the reason where there is none for this workload.
        """

    def build(self, workload: str, model: Model, scenario: Scenario, options: Mapping[str, str]) -> Step:
        """Return the ready-made model's step, which runs as its users would run it.

        `model` has the size, the loss and the optimiser with its settings; its `build` and `weights` are not used:
        the ready-made model has its own parameters and initial values. The step's `gradients` is never called, and its
        `parameters` have the names and the layout that the ready-made model has.
        """


class ReadyMadeModel(msgspec.Struct, frozen=True, kw_only=True):
    """A ready-made model for one size of a workload."""

    name: str
    """What a user would write to have it."""
    parameters: int | None = None
    """Of the one size of the workload that it stands for; the model itself may have another number, and the report
    states both. None: it is made by a size's `config`, and stands for any."""
    make: Callable[[Size], Any]
    """Returns the model with fresh values; nothing is downloaded."""
    no_decay: tuple[str, ...] = ()
    """What the workload's `no_decay` is in the ready-made model's own names of its parameters."""

    def made(self, size: Size) -> Any:
        """Return the model; raise UnsupportedError for another size, whose time it would not be."""
        if self.parameters is not None and size.parameters != self.parameters:
            asked = "another number" if size.parameters is None else f"{size.parameters:,}"
            msg = f"{self.name} stands for the size with {self.parameters:,} parameters; this one has {asked}"
            raise UnsupportedError(msg)
        return self.make(size)

    def trained_by(self, model: Model) -> Model:
        """Return the workload with its optimiser in the ready-made model's names.

        Raise UnsupportedError where the optimiser names parameters, and nothing says which those are here.
        """
        if model.optimizer is None:
            return model
        for field in ("frozen", "rates"):
            if getattr(model.optimizer, field):
                msg = f"the workload's {field} names its own parameters, and {self.name} calls its own otherwise"
                raise UnsupportedError(msg)
        if not model.optimizer.no_decay:
            return model
        if not self.no_decay:
            msg = f"the workload's no_decay names its own parameters, and {self.name} calls its own otherwise"
            raise UnsupportedError(msg)
        optimizer = msgspec.structs.replace(model.optimizer, no_decay=self.no_decay)
        return msgspec.structs.replace(model, optimizer=optimizer)


def find(models: Mapping[str, ReadyMadeModel], holes: Mapping[str, str], workload: str) -> ReadyMadeModel:
    """Return the model for a workload; raise UnsupportedError with the reason where there is none."""
    if workload in models:
        return models[workload]
    reason = holes.get(workload, f"networks of this kind are written by hand; there are models for {', '.join(models)}")
    msg = f"no ready-made model for {workload}: {reason}"
    raise UnsupportedError(msg)

"""The training step of a model that collects: noted without gradients, and computed with the first update."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jittor as jt

from bakeoff.frameworks.collecting import Collecting
from bakeoff.frameworks.jittor.engine import TrainStep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.frameworks.engine import Model


class CollectingStep(Collecting, TrainStep):
    """Collect, and then train on what was collected."""

    def __init__(self, network: Any, model: Model, options: Mapping[str, str]) -> None:
        """Take the number of updates."""
        super().__init__(network, model, options)
        self.updates = model.size.updates

    def collected(self, inputs: Any) -> dict[str, Any]:
        """Return what the model collects."""
        with jt.no_grad():
            return {name: one.stop_grad() for name, one in self._network.collect(inputs).items()}

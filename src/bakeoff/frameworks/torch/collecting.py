"""The training step of a model that collects: what it collects is computed without a gradient, by the mode's way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from bakeoff.frameworks.collecting import Collecting
from bakeoff.frameworks.torch.engine import TrainStep

if TYPE_CHECKING:
    from bakeoff.frameworks.engine import Model
    from bakeoff.frameworks.torch.precision import Precision
    from bakeoff.frameworks.torch.switches import Switches


class CollectingStep(Collecting, TrainStep):
    """Collect, and then train on what was collected."""

    def __init__(self, network: Any, model: Model, mode: str, precision: Precision, switches: Switches) -> None:
        """Have the mode execute the model's `collect`, too."""
        super().__init__(network, model, mode, precision, switches)
        self.updates = model.size.updates
        self._collect = self._executed(network.collect)

    def collected(self, inputs: Any) -> dict[str, Any]:
        """Return what the model collects; tensors of inference_mode could not be trained on."""
        with torch.no_grad():
            found = self._collect(inputs)
        return {name: one.to(self._dtype) if one.is_floating_point() else one for name, one in found.items()}

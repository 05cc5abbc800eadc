"""The training step of a model that collects: noted with the updates, and computed with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.frameworks.collecting import Collecting
from bakeoff.frameworks.mlx.compilation import executed
from bakeoff.frameworks.mlx.engine import TrainStep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.frameworks.engine import Model
    from bakeoff.frameworks.mlx.replicas import Replicas


class CollectingStep(Collecting, TrainStep):
    """Collect, and then train on what was collected."""

    def __init__(self, model: Model, options: Mapping[str, str], replicas: Replicas) -> None:
        """Have the mode execute the model's `collect`, too."""
        super().__init__(model, options, replicas)
        self.updates = model.size.updates
        self._collect = executed(lambda inputs: self._model.collect(inputs), self._mode, reads=[self._model.state])  # noqa: PLW0108

    def collected(self, inputs: Any) -> dict[str, Any]:
        """Return what the model collects: no gradient goes through what another function has given."""
        found: dict[str, Any] = self._collect(inputs)
        return found

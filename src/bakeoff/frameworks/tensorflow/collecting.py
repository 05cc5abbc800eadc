"""The training step of a model that collects: a function of its own, in the mode of the step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.frameworks.collecting import Collecting
from bakeoff.frameworks.tensorflow.engine import TrainStep
from bakeoff.frameworks.tensorflow.modes import in_mode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.frameworks.engine import Model
    from bakeoff.frameworks.tensorflow.precision import Precision
    from bakeoff.frameworks.tensorflow.replicas import Replicas


class CollectingStep(Collecting, TrainStep):
    """Collect, and then train on what was collected."""

    def __init__(self, model: Model, options: Mapping[str, str], precision: Precision, replicas: Replicas) -> None:
        """Make the function that collects."""
        super().__init__(model, options, precision, replicas)
        self.updates = model.size.updates
        self._collect = in_mode(self._collect_by, options["mode"])

    def _collect_by(self, inputs: Any) -> Any:
        """Return what the model collects, outside of any tape."""
        net: Any = self._net
        return self._precision.called(net.collect, inputs)

    def collected(self, inputs: Any) -> dict[str, Any]:
        """Return what the model collects."""
        return dict(self._collect(inputs))

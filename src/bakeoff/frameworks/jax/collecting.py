"""The training step of a model that collects: a pure function of the parameters and the inputs, jitted by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bakeoff.frameworks.collecting import Collecting
from bakeoff.frameworks.jax.engine import TrainStep

if TYPE_CHECKING:
    import jax

    from bakeoff.frameworks.engine import Model
    from bakeoff.frameworks.jax.precision import Precision
    from bakeoff.frameworks.jax.replicas import Replicas
    from bakeoff.frameworks.jax.switches import Switches
    from bakeoff.frameworks.steps import DeviceBatch


class CollectingStep(Collecting, TrainStep):
    """Collect, and then train on what was collected."""

    def __init__(self, model: Model, precision: Precision, switches: Switches, replicas: Replicas) -> None:
        """Make the function that collects."""
        super().__init__(model, precision, switches, replicas)
        self.updates = model.size.updates
        self._collect = switches.executed(self._collect_by)

    def _collect_by(
        self, parameters: dict[str, jax.Array], statistics: dict[str, jax.Array], inputs: Any
    ) -> dict[str, jax.Array]:
        """Return what the model of these parameters collects."""
        model: Any = self._split.merge(self._precision.reduced(parameters), statistics)
        found: dict[str, jax.Array] = self._precision.called(model.collect, inputs)
        return found

    def collected(self, inputs: Any) -> dict[str, Any]:
        """Return what the model collects."""
        return self._collect(self._state.parameters, self._state.statistics, inputs)

    def call(self, batch: DeviceBatch) -> tuple[Any, tuple[Any, ...]]:
        """Return the function of an update, and what it would be given now."""
        return super().call(self.whole(batch))

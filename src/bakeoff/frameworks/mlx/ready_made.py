"""What MLX's users would take ready-made: nothing that comes with MLX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bakeoff.frameworks.ready_made import find
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bakeoff.frameworks.engine import Model, Step
    from bakeoff.spec.scenario import Scenario

REASON = (
    "MLX ships no models: those of mlx-examples are scripts and no package, and mlx-image and mimm are third parties' "
    "ports of torchvision's, which bakeoff has not examined"
)


class ReadyMadeModels:
    """No models, with the reason."""

    def name(self, workload: str) -> str:
        """Raise UnsupportedError: there is none."""
        return find({}, {workload: REASON}, workload).name

    def build(self, workload: str, model: Model, scenario: Scenario, options: Mapping[str, str]) -> Step:
        """Raise UnsupportedError: there is none."""
        del model, scenario, options
        raise UnsupportedError(self.name(workload))

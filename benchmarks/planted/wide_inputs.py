"""A network that computes next to nothing for each number of its inputs: copying them takes most of a step.

Layers: the mean of (256, 128) over its first axis, then Linear(128, 10); 34 MB a batch. Source: this file, a planted
cause for `bakeoff explain`.
"""

from __future__ import annotations

from typing import Any

from bakeoff.spec.workload import Size, Workload

WORKLOAD = Workload(
    name="wide-inputs",
    summary="the mean of large inputs, and one small layer",
    source="a planted cause",
    sizes={"full": Size(batch_size=256, input_shape=(256, 128), classes=10)},
    scenarios=("infer",),
)


def build(nn: Any, size: Size) -> Any:
    """Return the network."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = nn.Linear(128, size.classes)

        def forward(self, x: Any) -> Any:
            return self.head(nn.mean(x, 1))

    return Model()

"""A network of element-wise operations on numbers that are denormal: its inputs times 1e-39, divided again and again.

Layers: 64 divisions of (batch, 64) by a constant, added to the inputs, into Linear. Divisions, since some processors
multiply and add denormal numbers as fast as others. Source: this file, a planted cause for `bakeoff explain`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

TINY = 1e-39
"""Below 1.2e-38, the smallest normal number of float32."""
DIVISOR = 0.99
"""After 64 divisions a number is twice as large, and denormal still."""

WORKLOAD = Workload(
    name="denormal-maps",
    summary="element-wise operations on denormal numbers",
    source="a planted cause",
    sizes={"full": Size(batch_size=1024, input_shape=(64,), classes=10, config={"divisions": 64})},
    optimizer=SGD(learning_rate=1e-3),
)


def build(nn: Any, size: Size) -> Any:
    """Return the network."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tiny = nn.constant(np.full((64,), TINY, np.float32))
            self.divisor = nn.constant(np.full((64,), DIVISOR, np.float32))
            self.head = nn.Linear(64, 10)

        def forward(self, x: Any) -> Any:
            found = x * self.tiny
            for _ in range(int(size.config["divisions"])):  # type: ignore[arg-type]
                found = found / self.divisor
            return self.head(x + found)

    return Model()


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the mean cross-entropy."""
    return nn.cross_entropy(outputs, targets)

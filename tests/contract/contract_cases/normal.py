"""RandomNormal in training: independent draws of the standard normal distribution, anew in every step and layer."""

from __future__ import annotations

from typing import Any

BATCH = 400
FEATURES = 8
STEPS = 3


def build(nn: Any, size: Any) -> Any:
    """Make a model with one parameter for each draw of two layers: its gradient is the draw.

    Its inputs are zero, so that its outputs in evaluation are the bias.
    """
    del size

    class Model(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(5, FEATURES)
            self.one = nn.Parameter((BATCH, FEATURES))
            self.other = nn.Parameter((BATCH, FEATURES))
            self.noise = nn.RandomNormal()
            self.more = nn.RandomNormal()

        def forward(self, x: Any) -> Any:
            x = self.first(x)
            return x + self.noise(x) * self.one + self.more(x) * self.other

    return Model()


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the sum."""
    del targets
    return nn.sum(outputs)

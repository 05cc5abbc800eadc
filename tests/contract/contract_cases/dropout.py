"""Dropout in training: what is kept is scaled, and every step draws anew."""

from __future__ import annotations

from typing import Any

RATE = 0.25
BATCH = 400
FEATURES = 8
STEPS = 3


def build(nn: Any, size: Any) -> Any:
    """Make a model whose outputs are the bias alone where they are not dropped, as its inputs are zero."""
    del size

    class Model(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(5, FEATURES)
            self.drop = nn.Dropout(RATE)

        def forward(self, x: Any) -> Any:
            return self.drop(self.first(x))

    return Model()


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the sum: the gradient of a bias is then how many of its outputs were kept, scaled."""
    del targets
    return nn.sum(outputs)

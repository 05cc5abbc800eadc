"""Dropout on attention's weights in training: each weight by itself, in every call, scaled, and anew in every step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

RATES = (0.1, 0.75)
"""None is its own complement, so that dropping what should be kept shows."""

BATCH, QUERIES, HEADS, KEYS, CALLS = 50, 4, 2, 8, 2
STEPS = 3

AXES = ("samples", "queries", "heads", "keys", "calls")
"""Of the parameters, and so of the weights that may be dropped."""


def build(rate: float) -> Callable[[Any, Any], Any]:
    """Return the function that makes a model with one parameter for each weight that can be dropped.

    All keys are zero, so that the weights are equal, and the values are unit vectors, so that an output is a weight:
    times the number of keys it is 1, or 0 where it is dropped. Two calls share the layer.
    """

    def build_with(nn: Any, size: Any) -> Any:
        del size

        class Model(nn.Module):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.first = nn.Linear(5, QUERIES * HEADS * KEYS)
                self.each = nn.Parameter((BATCH, QUERIES, HEADS, KEYS, CALLS))
                self.zeros = nn.constant(np.zeros((1, KEYS, HEADS, KEYS), np.float32))
                units = np.eye(KEYS, dtype=np.float32)[None, :, None]
                self.units = nn.constant(np.repeat(units, HEADS, 2))
                self.drop = nn.Dropout(rate)

            def forward(self, x: Any) -> Any:
                q = nn.reshape(self.first(x), (BATCH, QUERIES, HEADS, KEYS))
                k, v = (nn.broadcast_to(one, (BATCH, KEYS, HEADS, KEYS)) for one in (self.zeros, self.units))
                weights = nn.stack([nn.attention(q, k, v, dropout=self.drop) * KEYS for _ in range(CALLS)], 4)
                return nn.reshape(weights * self.each, (BATCH, -1))

        return Model()

    return build_with


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the sum: the gradient of a weight's own parameter is zero, or what it was scaled by."""
    del targets
    return nn.sum(outputs)

"""Dropout in training: each element is dropped by itself, what is kept is scaled, and every step draws anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

RATES = (0.1, 0.3, 0.75)
"""None is its own complement, so that dropping what should be kept shows."""

BATCH = 400
FEATURES = 8
STEPS = 3

BY_SAMPLE = (0.3,)
"""Rates that StochasticDepth is tried with."""


def build(rate: float, layer: str = "Dropout") -> Callable[[Any, Any], Any]:
    """Return the function that makes a model with one parameter for each element that can be dropped.

    Its inputs are zero: an output is the bias and that element's own parameter, or nothing.
    """

    def build_with(nn: Any, size: Any) -> Any:
        del size

        class Model(nn.Module):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.first = nn.Linear(5, FEATURES)
                self.each = nn.Parameter((BATCH, FEATURES))
                self.drop = getattr(nn, layer)(rate)

            def forward(self, x: Any) -> Any:
                return self.drop(self.first(x) + self.each)

        return Model()

    return build_with


IN_SCAN = 0.3
"""The rate inside a loop."""


def build_in_scan(nn: Any, size: Any) -> Any:
    """Make the same model, which drops one column after another in the steps of a loop.

    Where all steps drew alike, two elements of one row would always be dropped together.
    """
    del size

    class Model(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(5, FEATURES)
            self.each = nn.Parameter((BATCH, FEATURES))
            self.drop = nn.Dropout(IN_SCAN)

        def forward(self, x: Any) -> Any:
            x = self.first(x) + self.each
            _, dropped = nn.scan(lambda state, column: (state, self.drop(column)), x[:, 0], x)
            return dropped

    return Model()


def loss(nn: Any, outputs: Any, targets: Any) -> Any:
    """Return the sum: the gradient of an element's own parameter is zero, or what it was scaled by."""
    del targets
    return nn.sum(outputs)

"""What stands in a model twice: layers and modules, one set of parameters whose gradients add up; a constant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from contract_cases.vocabulary import BATCH, CLASSES, Case, linear, model, random

if TYPE_CHECKING:
    from contract_cases.vocabulary import Array, Weights


def shared(nn: Any) -> Any:
    """Use a layer under two attributes, a module twice in a list, and a list under two attributes.

    The first path of each comes later in the alphabet than the second, by which flax sorts.
    """
    layer, last = nn.Linear(4, 4), nn.Linear(4, CLASSES)
    block = model(nn, {"deep": layer, "norm": nn.LayerNorm(4)}, lambda m, x: m.norm(nn.tanh(m.deep(x))))
    layers = {
        "zeroth": layer,
        "stack": nn.ModuleList([block, last, block]),
        "another": block,
        "again": layer,
    }

    def forward(m: Any, x: Any) -> Any:
        x = m.stack[2](m.again(x) + m.stack[0](m.zeroth(x)))
        return m.stack[1](x + m.another(x))

    return model(nn, layers, forward)


def shared_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""

    def block(x: Array) -> Array:
        x = np.tanh(linear(weights, "zeroth", x))
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return x * weights["stack.0.norm.scale"] + weights["stack.0.norm.bias"]

    x = linear(weights, "zeroth", x)
    x = block(x + block(x))
    return linear(weights, "stack.1", x + block(x))


MASK = np.array([1.0, -0.5, 2.0, 0.25])


def masked(nn: Any) -> Any:
    """Hand an array to two modules as the attribute that it is of a third; it is no parameter of any."""

    class Masked(nn.Module):  # type: ignore[misc]
        def __init__(self, mask: Any) -> None:
            super().__init__()
            self.mask = mask
            self.linear = nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            return nn.tanh(self.linear(x) * self.mask)

    class Whole(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.mask = nn.constant(MASK)
            self.first = Masked(self.mask)
            self.second = Masked(self.first.mask)
            self.last = nn.Linear(4, CLASSES)

        def forward(self, x: Any) -> Any:
            return self.last(self.second(self.first(x)) * self.mask)

    return Whole()


def masked_in_numpy(weights: Weights, x: Array) -> Array:
    """Return the same."""
    for name in ("first", "second"):
        x = np.tanh(linear(weights, f"{name}.linear", x) * MASK)
    return linear(weights, "last", x * MASK)


CASES: dict[str, Case] = {
    "shared layers": Case(
        names=("Module", "ModuleList", "Linear"),
        build=shared,
        forward=shared_in_numpy,
        x=random(BATCH, 4),
    ),
    "a constant of several modules": Case(
        names=("Module", "constant"),
        build=masked,
        forward=masked_in_numpy,
        x=random(BATCH, 4),
    ),
}

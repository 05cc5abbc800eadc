"""Numbers in the place of random draws, for the certificate: the same in every framework, and in every precision."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTH = 1009
"""How many numbers a layer has before they repeat: a prime, so that rows of no usual length come out alike."""


def fixed_normal(nn: Any) -> Callable[[], Any]:
    """Return what makes the layers that stand for the vocabulary's RandomNormal, over the vocabulary itself.

    Each has numbers of its own, by the order in which a model makes them.
    """
    numbers = itertools.count()
    return lambda: _made(nn, next(numbers))


def _made(nn: Any, number: int) -> Any:
    """Make a layer with the same numbers in every training step, and zeros in evaluation."""
    drawn = np.random.RandomState([0, number]).standard_normal(LENGTH)

    class FixedNormal(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.numbers = nn.constant(drawn.astype(np.float32).astype(np.float64))  # what a float32 holds

        def forward(self, x: Any) -> Any:
            if not nn.in_training(self):
                return x * 0.0
            count = math.prod(x.shape)
            times = -(-count // LENGTH)
            repeated = nn.reshape(nn.broadcast_to(self.numbers, (times, LENGTH)), (times * LENGTH,))
            return nn.reshape(repeated[:count], tuple(x.shape))

    return FixedNormal()

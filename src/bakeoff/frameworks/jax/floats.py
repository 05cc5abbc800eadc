"""In which type JAX's real numbers are made within a step: in a model the computation's, else the parameters'."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator


class Floats:
    """The types of this process, and whether a model is being traced."""

    parameters: np.dtype[Any] = np.dtype(np.float32)
    compute: np.dtype[Any] = np.dtype(np.float32)
    in_model = False


def settle(parameters: np.dtype[Any], compute: np.dtype[Any]) -> None:
    """Set both types."""
    Floats.parameters, Floats.compute = parameters, compute


def current() -> np.dtype[Any]:
    """Return the type of what is made now: in a model that of the computation, in a loss that of the parameters."""
    return Floats.compute if Floats.in_model else Floats.parameters


@contextmanager
def of_the_model() -> Iterator[None]:
    """Have real numbers made in the computation's type while a model is traced."""
    before, Floats.in_model = Floats.in_model, True
    try:
        yield
    finally:
        Floats.in_model = before

"""What a source of data gives."""

from __future__ import annotations

from typing import Any

import msgspec
from numpy.typing import NDArray


class Samples(msgspec.Struct, frozen=True, kw_only=True):
    """Samples in the order in which they are used, channels last, with labels; and held-out ones to be tested on.

    Shapes: x (samples, *input_shape) float32; y (samples,) int32.
    """

    source: str
    """The source with its version."""
    x: NDArray[Any]
    y: NDArray[Any]
    x_test: NDArray[Any] | None = None
    y_test: NDArray[Any] | None = None

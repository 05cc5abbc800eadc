"""How a weight lies in canonical layout, and how where outputs are first, as PyTorch and Jittor have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Layout(NamedTuple):
    """How a weight lies in canonical layout; natively the output is first, and channels are before height and width.

    Shapes: canonical (in, out) or (kernel, kernel, in, out); unfolded the same with the inputs' axes apart, such as
    (height, width, channels, out).
    """

    canonical: tuple[int, ...]
    unfolded: tuple[int, ...]

    def to_native(self, array: NDArray[Any]) -> NDArray[Any]:
        """Bring a canonical array into the native order of axes: (out, channels, height, width) or (out, in)."""
        return np.moveaxis(array.reshape(self.unfolded), (-1, -2), (0, 1))

    def to_canonical(self, array: NDArray[Any]) -> NDArray[Any]:
        """Bring a native array of a weight into canonical layout."""
        *spatial, inputs, outputs = self.unfolded
        return np.moveaxis(array.reshape(outputs, inputs, *spatial), (0, 1), (-1, -2)).reshape(self.canonical)


def kernel_layout(kernel: tuple[int, ...], inputs: int, outputs: int) -> dict[str, Layout]:
    """Return the layout of a convolution's weight, (*kernel, inputs, outputs) in canonical layout."""
    shape = (*kernel, inputs, outputs)
    return {"weight": Layout(shape, shape)}

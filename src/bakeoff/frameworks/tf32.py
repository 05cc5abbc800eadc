"""Whether products of float32 are computed in TF32, as measured: by a number that float32 holds and TF32 does not.

A switch says what may be done. The environment (NVIDIA_TF32_OVERRIDE), a library's own paths, or a compiler's may do
something else, and what comes out tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

OPERAND = 1.0 + 2.0**-12
"""Of float32's 23 bits after the point TF32 keeps 10 (NVIDIA, "A100 Tensor Core GPU Architecture"), and bfloat16 7:
rounded or cut off, this is 1 in both."""

_EXACT = OPERAND**2
"""Both factors have it, so that it shows in whichever a library rounds."""

_ALLOWED = 2.0**-13
"""Half of what one rounded operand is off by. Each result is one product and zeros, so that the order of a sum changes
nothing; convolutions by other algorithms (Winograd, FFT) are off by some roundings of float32, 2^-24 each."""

SIDE = 256
"""Of the matrices: large enough, and even enough, for tensor cores to be taken where they may be."""

_BATCH, _MAP, _CHANNELS = 8, 16, 64
"""Of the convolution, 3 x 3 as those of most networks; channels are a multiple of what tensor cores take."""


def measured(
    multiply: Callable[[NDArray[Any], NDArray[Any]], Any], convolve: Callable[[NDArray[Any], NDArray[Any]], Any]
) -> dict[str, bool]:
    """Return, under the settings' names, whether a product of matrices and a convolution are less than float32.

    `multiply` takes two matrices of float32; `convolve` a feature map (batch, height, width, channels) and a kernel
    (3, 3, in, out), with a padding of 1, and keeps the order of axes. Both return a NumPy array.
    """
    diagonal = np.float32(OPERAND) * np.eye(SIDE, dtype=np.float32)
    product = np.diagonal(np.asarray(multiply(diagonal, diagonal)))
    kernel = np.zeros((3, 3, _CHANNELS, _CHANNELS), np.float32)
    kernel[1, 1] = np.float32(OPERAND) * np.eye(_CHANNELS, dtype=np.float32)
    convolved = np.asarray(convolve(np.full((_BATCH, _MAP, _MAP, _CHANNELS), OPERAND, np.float32), kernel))
    return {"tf32_matmul_measured": _is_less(product), "tf32_convolution_measured": _is_less(convolved)}


def _is_less(found: NDArray[Any]) -> bool:
    """Return whether any result is further off than float32 could be; what is no number is so, too."""
    return not bool(np.all(np.abs(found.astype(np.float64) - _EXACT) <= _ALLOWED))

"""Whether JAX's products of float32 are computed in TF32, as measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from bakeoff.frameworks import tf32

if TYPE_CHECKING:
    from collections.abc import Callable

    import jax
    from numpy.typing import NDArray


def measured(executed: Callable[[Callable[..., Any]], Any]) -> dict[str, bool]:
    """Multiply and convolve by functions that are `executed` as a step's are: operands are arguments, no constants."""

    def convolve(image: jax.Array, kernel: jax.Array) -> jax.Array:
        return lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def called(function: Callable[..., Any]) -> Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]:
        made = executed(function)
        return lambda left, right: np.asarray(made(jnp.asarray(left), jnp.asarray(right)))

    return tf32.measured(called(jnp.matmul), called(convolve))

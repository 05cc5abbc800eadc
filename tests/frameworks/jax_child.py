"""Run in JAX's interpreter: how far `products` lies from XLA's own convolution, outputs and gradients, as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bakeoff.frameworks.jax.convolution import products

NUMBERS = {4: ("NHWC", "HWIO", "NHWC"), 3: ("NWC", "WIO", "NWC")}
"""By the number of axes."""
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "one point": ((8, 8, 5), (1, 1, 5, 6), {}),
    "one point with a stride": ((9, 8, 5), (1, 1, 5, 6), {"window_strides": (2, 2)}),
    "kernel larger than the map": ((2, 2, 5), (3, 3, 5, 6), {"padding": ((1, 1), (1, 1))}),
    "stride and padding": ((7, 4, 5), (3, 3, 5, 6), {"window_strides": (2, 2), "padding": ((1, 1), (1, 1))}),
    "not square": ((5, 8, 5), (1, 7, 5, 6), {"padding": ((0, 0), (3, 3))}),
    "large map": ((20, 20, 5), (3, 3, 5, 6), {"padding": ((1, 1), (1, 1))}),
    "groups": ((6, 6, 4), (3, 3, 2, 6), {"feature_group_count": 2}),
    "dilated": ((8, 8, 5), (3, 3, 5, 6), {"rhs_dilation": (2, 2)}),
    "a sequence": ((9, 5), (3, 5, 6), {"window_strides": (2,), "padding": ((1, 1),)}),
    "a sequence of one point each": ((9, 5), (1, 5, 6), {"window_strides": (1,), "padding": ((0, 0),)}),
    "padding by name": ((6, 6, 5), (3, 3, 5, 6), {"padding": "SAME"}),
}


def largest_error(x_shape: tuple[int, ...], kernel_shape: tuple[int, ...], more: dict[str, Any]) -> float:
    """Return the largest error of outputs and gradients, relative to the largest magnitude."""
    random = np.random.default_rng(0)
    x, kernel = jnp.array(random.normal(size=(3, *x_shape))), jnp.array(random.normal(size=kernel_shape))
    asked = {"window_strides": (1, 1), "padding": ((0, 0), (0, 0))} | more

    def computed(convolve: Any) -> list[Any]:
        def total(x: Any, kernel: Any) -> Any:
            return (convolve(x, kernel, dimension_numbers=NUMBERS[x.ndim], **asked) ** 2).sum()

        def everything(x: Any, kernel: Any) -> list[Any]:
            outputs = convolve(x, kernel, dimension_numbers=NUMBERS[x.ndim], **asked)
            return [outputs, *jax.grad(total, (0, 1))(x, kernel)]

        # As one program: XLA would compile operation by operation.
        return jax.jit(everything)(x, kernel)

    pairs = zip(computed(products), computed(lax.conv_general_dilated), strict=True)
    return max(float(jnp.abs(mine - other).max() / jnp.abs(other).max()) for mine, other in pairs)


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", val=True)
    sys.stdout.write(json.dumps({name: largest_error(*case) for name, case in CASES.items()}))

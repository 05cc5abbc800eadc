"""Run in JAX's interpreter: how far other ways lie from XLA's own convolution, outputs and gradients, as JSON."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bakeoff.frameworks.jax.convolution import convolve, products, quickly
from bakeoff.frameworks.jax.engine import Engine

if TYPE_CHECKING:
    from bakeoff.spec.trial import Purpose

PURPOSES: tuple[Purpose, ...] = ("reference", "program", "certify", "time")

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
    "strides, dilated, padded unlike": (
        (11, 10, 5),
        (3, 2, 5, 6),
        {"window_strides": (2, 3), "padding": ((2, 1), (0, 3)), "rhs_dilation": (2, 1)},
    ),
    "a kernel larger than its stride reaches": ((8, 9, 5), (2, 2, 5, 6), {"window_strides": (3, 3)}),
    "strides in groups": ((6, 6, 4), (3, 3, 2, 6), {"window_strides": (2, 2), "feature_group_count": 2}),
    "padding by name": ((6, 6, 5), (3, 3, 5, 6), {"padding": "SAME"}),
}


Pass = tuple[Any, tuple[Any, Any]]


def passes(way: Any, x_shape: tuple[int, ...], kernel_shape: tuple[int, ...], more: dict[str, Any]) -> Pass:
    """Return outputs and gradients as a function of an input and a kernel, and these."""
    random = np.random.default_rng(0)
    arrays = jnp.array(random.normal(size=(3, *x_shape))), jnp.array(random.normal(size=kernel_shape))
    asked = {"window_strides": (1, 1), "padding": ((0, 0), (0, 0))} | more
    convolved = partial(way, dimension_numbers=NUMBERS[len(x_shape) + 1], **asked)

    def everything(x: Any, kernel: Any) -> list[Any]:
        return [convolved(x, kernel), *jax.grad(lambda *both: (convolved(*both) ** 2).sum(), (0, 1))(x, kernel)]

    return everything, arrays


def largest_errors(ways: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return of each way, and each case in which it is another program than XLA's own, the largest relative error."""
    told: dict[str, dict[str, float]] = {name: {} for name in ways}
    for case, shapes in CASES.items():
        own, arrays = passes(lax.conv_general_dilated, *shapes)
        # As one program: XLA would compile operation by operation.
        expected = jax.jit(own)(*arrays)
        for name, way in ways.items():
            everything, _ = passes(way, *shapes)
            if str(jax.make_jaxpr(everything)(*arrays)) != str(jax.make_jaxpr(own)(*arrays)):
                pairs = zip(jax.jit(everything)(*arrays), expected, strict=True)
                told[name][case] = max(float(jnp.abs(one - other).max() / jnp.abs(other).max()) for one, other in pairs)
    return told


def eased() -> list[str]:
    """Return the purposes of which the engine computes convolutions in another way."""
    case = CASES["stride and padding"]
    found: list[str] = []
    own, arrays = passes(lax.conv_general_dilated, *case)
    for purpose in PURPOSES:
        with Engine().easing(purpose):
            if str(jax.make_jaxpr(passes(convolve, *case)[0])(*arrays)) != str(jax.make_jaxpr(own)(*arrays)):
                found.append(purpose)
    return found


def in_program(*args: Any, **kwargs: Any) -> Any:
    """Convolve as a layer does in the certificate's program."""
    with quickly():
        return convolve(*args, **kwargs)


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", val=True)
    errors = largest_errors({"products": products, "plain": convolve, "program": in_program})
    sys.stdout.write(json.dumps({"errors": errors, "purposes": eased()}))

"""Convolutions in other ways than XLA's own, for flax's `conv_general_dilated`: the option `convolution`.

XLA's compiler exchanges the input and the kernel of a convolution whose kernel is larger than its feature map, and on
a processor has no fast code for what comes out: 3x3 on 2x2 takes 70 times as long as on 3x3. Its weight gradients of
1x1 convolutions are transposed and then convolved, where a matrix product would do. docs/jax-on-cpu.md has the figures.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
from jax import lax

from bakeoff.frameworks.in_force import InForce

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import jax

SMALL_MAP = 8
"""Height or width up to which a kernel of more than one point is taken as a product, too: below it copying the patches
costs less than the product saves, for ResNet-50's kernels (benchmarks/jax_cpu.py)."""


def products(x: jax.Array, kernel: jax.Array, window_strides: Sequence[int], padding: Any, **more: Any) -> jax.Array:
    """Convolve as `lax.conv_general_dilated` does, channels last: where that pays, as one product of matrices.

    Patches are put side by side, (batch, places, kernel's places x channels), and multiplied.
    """
    dilations = {*(more.get("lhs_dilation") or ()), *(more.get("rhs_dilation") or ())}
    is_plain = more.get("feature_group_count", 1) == 1 and dilations <= {1} and not isinstance(padding, str)
    if not is_plain or not _pays(x.shape, kernel.shape):
        return lax.conv_general_dilated(x, kernel, window_strides, padding, **more)
    flat = kernel.reshape(-1, kernel.shape[-1])
    return jnp.matmul(patches(x, kernel.shape[:-2], window_strides, padding), flat, precision=more.get("precision"))


def _pays(shape: Sequence[int], kernel: Sequence[int]) -> bool:
    """Return whether a product is faster: for kernels of one point, and on small maps."""
    return math.prod(kernel[:-2]) == 1 or max(shape[1:-1]) <= SMALL_MAP


def patches(x: jax.Array, kernel: Sequence[int], strides: Sequence[int], padding: Sequence[Any]) -> jax.Array:
    """Put the points under each place of the kernel side by side: rows first, then columns, then channels."""
    if any(side for sides in padding for side in sides):
        x = jnp.pad(x, ((0, 0), *padding, (0, 0)))
    lengths = zip(x.shape[1:-1], kernel, strides, strict=True)
    spans = [(size - points) // stride * stride + 1 for size, points, stride in lengths]
    shifted = [
        x[(slice(None), *(slice(at, at + span, step) for at, span, step in zip(place, spans, strides, strict=True)))]
        for place in itertools.product(*map(range, kernel))
    ]
    return shifted[0] if len(shifted) == 1 else jnp.concatenate(shifted, axis=-1)


WAYS: dict[str, Callable[..., jax.Array]] = {"xla": lax.conv_general_dilated, "products": products}
"""By the values of the option `convolution`."""

in_force = InForce("xla")
"""The way of every convolution of this process."""


def convolve(*args: Any, **kwargs: Any) -> jax.Array:
    """Convolve in the way that is in force: what layers hand to flax."""
    return WAYS[in_force.value](*args, **kwargs)

"""Convolutions in other ways than XLA's own, for flax's `conv_general_dilated`: the option `convolution`.

XLA's compiler exchanges the input and the kernel of a convolution whose kernel is larger than its feature map, and on
a processor has no fast code for what comes out: 3x3 on 2x2 takes 70 times as long as on 3x3. Its weight gradients of
1x1 convolutions are transposed and then convolved, where a matrix product would do. docs/jax-on-cpu.md has the figures.

In float64 it has no fast code on a processor for points that are set apart while it convolves, either, which the
gradient by the input of a convolution with a stride is made of. Set apart before, they are convolved by the fast code.
The certificate's program, which nobody times, has whichever way is fast (benchmarks/reference_convolutions.py).
"""

from __future__ import annotations

import itertools
import math
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import lax

from bakeoff.frameworks.in_force import InForce

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SMALL_MAP = 8
"""Height or width up to which a kernel of more than one point is taken as a product, too: below it copying the patches
costs less than the product saves, for ResNet-50's kernels (benchmarks/jax_cpu.py)."""


FEW_CHANNELS = 4
"""Of an input that is an image, of whose gradient nobody asks."""


def products(x: jax.Array, kernel: jax.Array, window_strides: Sequence[int], padding: Any, **more: Any) -> jax.Array:
    """Convolve as `lax.conv_general_dilated` does, channels last: where that pays, as one product of matrices.

    Patches are put side by side, (batch, places, kernel's places x channels), and multiplied.
    """
    is_dense = {*(more.get("rhs_dilation") or ())} <= {1}
    if not (is_dense and _is_plain(padding, more)) or not _pays(x.shape, kernel.shape):
        return lax.conv_general_dilated(x, kernel, window_strides, padding, **more)
    flat = kernel.reshape(-1, kernel.shape[-1])
    return jnp.matmul(patches(x, kernel.shape[:-2], window_strides, padding), flat, precision=more.get("precision"))


def _is_plain(padding: Any, more: dict[str, Any]) -> bool:
    """Return whether a convolution is of one group, and pads by numbers an input whose points are side by side."""
    is_one = more.get("feature_group_count", 1) == 1
    return is_one and {*(more.get("lhs_dilation") or ())} <= {1} and not isinstance(padding, str)


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


def apart(x: jax.Array, kernel: jax.Array, window_strides: Sequence[int], padding: Any, **more: Any) -> jax.Array:
    """Convolve as `lax.conv_general_dilated` does, channels last; points of a gradient are set apart before."""
    convolved = partial(lax.conv_general_dilated, window_strides=window_strides, padding=padding, **more)

    @jax.custom_vjp
    def convolution(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return convolved(x, kernel)

    def backward(taken: tuple[jax.Array, jax.Array], gradient: jax.Array) -> tuple[jax.Array, jax.Array]:
        x, kernel = taken
        (by_kernel,) = jax.linear_transpose(partial(convolved, x), kernel)(gradient)
        return _by_input(gradient, kernel, x.shape, window_strides, padding, more), by_kernel

    convolution.defvjp(lambda *taken: (convolved(*taken), taken), backward)
    return convolution(x, kernel)


def _by_input(
    gradient: jax.Array,
    kernel: jax.Array,
    shape: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[Any],
    more: dict[str, Any],
) -> jax.Array:
    """Return the gradient of a convolution by its input, of this shape, by a convolution whose stride is 1."""
    dilations = more.get("rhs_dilation") or (1,) * len(strides)
    lengths = zip(shape[1:-1], kernel.shape[:-2], dilations, padding, strides, gradient.shape[1:-1], strict=True)
    around = [
        ((points - 1) * dilation - before, size + before - (places - 1) * stride - 1, stride - 1)
        for size, points, dilation, (before, _), stride, places in lengths
    ]
    spread = lax.pad(gradient, jnp.zeros((), gradient.dtype), [(0, 0, 0), *around, (0, 0, 0)])
    turned = jnp.flip(kernel, range(kernel.ndim - 2)).swapaxes(-1, -2)
    # Without a barrier the compiler takes the zeros back into the convolution.
    return lax.conv_general_dilated(
        lax.optimization_barrier(spread), turned, (1,) * len(strides), ((0, 0),) * len(strides), **more
    )


WAYS: dict[str, Callable[..., jax.Array]] = {"xla": lax.conv_general_dilated, "products": products}
"""By the values of the option `convolution`."""

in_force = InForce("xla")
"""The way of every convolution of this process."""


_quickly: ContextVar[bool] = ContextVar("_quickly", default=False)


@contextmanager
def quickly() -> Iterator[None]:
    """Within it convolutions in float64 on a processor are computed in whichever way takes little time."""
    token = _quickly.set(True)
    try:
        yield
    finally:
        _quickly.reset(token)


def convolve(x: jax.Array, kernel: jax.Array, window_strides: Sequence[int], padding: Any, **more: Any) -> jax.Array:
    """Convolve in the way that is in force: what layers hand to flax."""
    way = WAYS[in_force.value]
    if _quickly.get() and x.dtype == jnp.float64 and jax.default_backend() == "cpu":
        way = _quick
    return way(x, kernel, window_strides, padding, **more)


def _quick(x: jax.Array, kernel: jax.Array, window_strides: Sequence[int], padding: Any, **more: Any) -> jax.Array:
    """Convolve as products do where they pay, and else as `apart` does where there is a stride."""
    is_apart = max(window_strides) > 1 and _is_plain(padding, more) and kernel.shape[-2] > FEW_CHANNELS
    way = apart if is_apart and not _pays(x.shape, kernel.shape) else products
    return way(x, kernel, window_strides, padding, **more)

"""JAX's engine, whose model has one layer that does the same work in a slower way."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import msgspec
import numpy as np
from jax.experimental.layout import Layout, with_layout_constraint

from bakeoff.frameworks import scopes
from bakeoff.frameworks.jax import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

SLEEP_S = 0.002
"""A few times the step of mlp-mnist."""

TRANSPOSITIONS = 20
"""One copy of 32 images of 784 points is too little to be seen."""


class Engine(engine.Engine):
    """JAX's own, but for the layer that the option `planted_in` names."""

    def configure(self, options: Mapping[str, str]) -> None:
        """Allow float64 besides, whatever is planted, so that contenders differ in the plant alone."""
        super().configure(options)
        self._allowed = allowing_float64()
        self._allowed.__enter__()

    def build(self, model: Any, scenario: Any, options: Mapping[str, str]) -> Any:
        """Build the step of the model with its fault."""
        build = planted(model.build, PLANTS[options["plant"]], options["planted_in"])
        return super().build(msgspec.structs.replace(model, build=build), scenario, options)


@contextmanager
def allowing_float64() -> Iterator[None]:
    """Have JAX compute in float64 where it is asked to."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", val=True)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)


def planted(
    build: Callable[[Any, Any], Any], plant: Callable[[Any, Callable[..., Any]], Callable[..., Any]], path: str
) -> Callable[[Any, Any], Any]:
    """Return a workload's build with a fault in the layer at a path."""

    def build_with(nn: Any, size: Any) -> Any:
        network = build(nn, size)
        layer = network
        for name in path.split("."):
            layer = layer[int(name)] if name.isdigit() else getattr(layer, name)
        kind: Any = type(layer)

        def called(this: Any, x: jax.Array) -> Any:
            # A trace that opens scopes has its own around the layer as it was.
            with jax.named_scope(scopes.layer(path)):
                return plant(this, lambda given: kind.__call__(this, given))(x)

        object.__setattr__(layer, "__class__", type(kind)(kind.__name__, (kind,), {"__call__": called}))
        return network

    return build_with


def _nothing(layer: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """Leave the layer as it is."""
    del layer
    return call


def _sleep(layer: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """Sleep in the layer's forward pass: XLA calls back into Python."""
    del layer

    def slept(x: jax.Array) -> Any:
        first = jax.lax.stop_gradient(x[(0,) * x.ndim])
        zero = jax.pure_callback(_zero, jax.ShapeDtypeStruct((), x.dtype), first)
        return call(x + jax.lax.stop_gradient(zero))

    return slept


def _zero(first: Any) -> Any:
    """Return 0 after a while."""
    time.sleep(SLEEP_S)
    return np.zeros((), first.dtype)


def _float64(layer: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """Compute a product in float64, from float32 to float32."""

    def in_double(x: jax.Array) -> Any:
        if x.dtype == jnp.float64:  # the certificate's first stage
            return call(x)
        kernel, bias = (one[...].astype(jnp.float64) for one in (layer.kernel, layer.bias))
        return (x.astype(jnp.float64) @ kernel + bias).astype(x.dtype)

    return in_double


def _transposed(layer: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """Lay the layer's input out in the other order of its axes first, and back again."""
    del layer

    @jax.custom_vjp
    def across(x: jax.Array) -> Any:
        order = tuple(range(x.ndim))
        for _ in range(TRANSPOSITIONS):
            x = with_layout_constraint(x, Layout(major_to_minor=order[::-1]))
            x = with_layout_constraint(x, Layout(major_to_minor=order))
        return x

    across.defvjp(lambda x: (across(x), None), lambda _, gradient: (gradient,))
    return lambda x: call(across(x))


PLANTS: dict[str, Callable[[Any, Callable[..., Any]], Callable[..., Any]]] = {
    "none": _nothing,
    "sleep": _sleep,
    "float64": _float64,
    "transposed": _transposed,
}

"""TensorFlow's engine, whose model has one layer that does the same work in a slower way."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
import tensorflow as tf

from bakeoff.frameworks import scopes
from bakeoff.frameworks.tensorflow import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SLEEP_S = 0.002
"""A few times the step of mlp-mnist."""

TRANSPOSITIONS = 20
"""One copy of 32 images of 784 points is too little to be seen."""


class Engine(engine.Engine):
    """TensorFlow's own, but for the layer that the option `planted_in` names."""

    def build(self, model: Any, scenario: Any, options: Mapping[str, str]) -> Any:
        """Build the step of the model with its fault."""
        build = planted(model.build, PLANTS[options["plant"]], options["planted_in"])
        return super().build(msgspec.structs.replace(model, build=build), scenario, options)


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

        def called(this: Any, x: Any) -> Any:
            # A trace that opens scopes has its own around the layer as it was.
            with tf.name_scope(scopes.layer(path)):
                return plant(this, lambda given: kind.__call__(this, given))(x)

        planted = type(kind)(kind.__name__, (kind,), {"__call__": called, "__module__": kind.__module__})
        object.__setattr__(layer, "__class__", planted)
        return network

    return build_with


def _nothing(layer: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """Leave the layer as it is."""
    del layer
    return call


def _sleep(layer: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """Sleep in the layer's forward pass: the graph calls back into Python."""
    del layer

    @tf.custom_gradient
    def slept(x: Any) -> Any:
        found = tf.numpy_function(_after_a_while, [x], x.dtype)
        found.set_shape(x.shape)
        return found, lambda gradient: gradient

    return lambda x: call(slept(x))


def _after_a_while(x: Any) -> Any:
    """Return an array after a while."""
    time.sleep(SLEEP_S)
    return x


def _float64(layer: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """Compute a product in float64, from float32 to float32."""

    def in_double(x: Any) -> Any:
        if x.dtype == tf.float64:  # the certificate's first stage
            return call(x)
        given, kernel, bias = (tf.cast(tf.convert_to_tensor(one), tf.float64) for one in (x, layer.kernel, layer.bias))
        return tf.cast(tf.matmul(given, kernel) + bias, x.dtype)

    return in_double


def _transposed(layer: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """Copy the layer's input into the other order of its axes first, and back again; Grappler would leave that out."""
    del layer

    @tf.custom_gradient
    def across(x: Any) -> Any:
        found = x
        for _ in range(TRANSPOSITIONS):
            found = tf.transpose(tf.transpose(found))
        return found, lambda gradient: gradient

    return lambda x: call(across(x))


PLANTS: dict[str, Callable[[Any, Callable[..., Any]], Callable[..., Any]]] = {
    "none": _nothing,
    "sleep": _sleep,
    "float64": _float64,
    "transposed": _transposed,
}

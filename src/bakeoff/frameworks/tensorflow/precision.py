"""What the option `precision` is in TensorFlow: Keras' dtype policies, with float32 variables, or TF32 allowed.

mixed_bfloat16 and mixed_float16 cast a layer's inputs and weights at its call; what stands between layers is computed
in what it is given, and the outputs are cast to float32 before the loss, as Keras' guide to mixed precision asks for.
float16 adds Keras' LossScaleOptimizer, whose steps are skipped where a gradient overflows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf
from keras.src.backend.common.variables import AutocastScope  # it has no public name

from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

_POLICIES = {
    "float32": "float32",
    "tf32": "float32",
    "bfloat16": "mixed_bfloat16",
    "float16": "mixed_float16",
    "float64": "float64",
}

TF32_CAPABILITY = (8, 0)
"""NVIDIA's Ampere, the first with TF32 (CUDA C++ Programming Guide, "Compute Capabilities")."""


class Precision:
    """The precision of this process."""

    def __init__(self, name: str) -> None:
        """Set the policy that layers take, and TF32; raise UnsupportedError for what the GPU lacks."""
        if name not in _POLICIES:
            msg = f"TensorFlow has no precision={name}; it has {', '.join(_POLICIES)}"
            raise UnsupportedError(msg)
        if name == "tf32":
            _check_tf32()
        self._scales = name == "float16"
        self.floatx = "float64" if name == "float64" else "float32"
        """Of variables, batches and the optimiser."""
        self._seen: str | None = None
        keras.config.set_floatx(self.floatx)
        keras.config.set_dtype_policy(_POLICIES[name])
        self._compute = keras.config.dtype_policy().compute_dtype
        """Kept here: Keras keeps its policy for each thread, and a strategy's replicas have threads of their own."""
        tf.config.experimental.enable_tensor_float_32_execution(enabled=name == "tf32")

    def called(self, net: Callable[[Any], Any], inputs: Any) -> Any:
        """Return a model's outputs in the type of its variables; what they were computed in is seen while tracing."""
        with AutocastScope(self._compute):  # as a Keras model calls its layers
            outputs = net(inputs)
        self._seen = tf.nest.flatten(outputs)[0].dtype.name
        return tf.nest.map_structure(lambda output: tf.cast(output, self.floatx), outputs)

    def optimizer(self, native: Any) -> Any:
        """Return the optimiser, with loss scaling where gradients are in float16."""
        return keras.optimizers.LossScaleOptimizer(native) if self._scales else native

    def settings(self, device: str) -> dict[str, str | int | float | bool | None]:
        """Read back in which precision the model was computed, and what TF32 is allowed for."""
        tf32 = tf.config.experimental.tensor_float_32_execution_enabled()
        return {
            "precision": "tf32" if tf32 and device == "cuda" and self._seen == "float32" else self._seen,
            "parameters_dtype": self.floatx,
            "tf32_matmul": tf32,
            "tf32_convolution": tf32,
        }


def settled(optimizer: Any, differentiate: Callable[[], list[Any]]) -> list[Any]:
    """Return unscaled gradients; a scale at which they overflow is halved, as the first steps of a training do it."""
    while True:
        gradients = differentiate()
        if not isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
            return gradients
        scale = optimizer.dynamic_scale
        if float(scale) <= 1 or all(bool(tf.reduce_all(tf.math.is_finite(one))) for one in gradients):
            return [gradient / tf.cast(scale, gradient.dtype) for gradient in gradients]
        scale.assign(scale / 2)


def scaling(optimizer: Any) -> str | None:
    """Return how the loss is scaled; None where it is not."""
    if not isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
        return None
    # Keras has its factors in its code: twice, and half at an overflow.
    return f"dynamic: times 2 after {optimizer.dynamic_growth_steps} steps, times 0.5 at an overflow"


def _check_tf32() -> None:
    """Raise UnsupportedError unless the GPU in use has TF32."""
    for gpu in tf.config.get_visible_devices("GPU"):
        capability = tf.config.experimental.get_device_details(gpu).get("compute_capability", (0, 0))
        if capability >= TF32_CAPABILITY:
            return
        name = tf.config.experimental.get_device_details(gpu).get("device_name", "the GPU")
        msg = f"precision=tf32 needs CUDA compute capability 8.0, and {name} has {'.'.join(map(str, capability))}"
        raise UnsupportedError(msg)
    msg = "precision=tf32 is a mode of NVIDIA's tensor cores, and no GPU is in use"
    raise UnsupportedError(msg)

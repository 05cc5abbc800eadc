"""What the option `precision` is in JAX: parameters in float32, computation in what was asked, outputs in float32.

That is the policy of jmp, the library for mixed precision: parameters and batches are cast at the model's entry, within
the step. float16 adds the loss scaling of flax, whose steps are skipped where a gradient overflows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from flax.training.dynamic_scale import DynamicScale

from bakeoff.frameworks.jax import floats
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_DTYPES = {
    "float32": (np.float32, np.float32),
    "tf32": (np.float32, np.float32),
    "bfloat16": (np.float32, jnp.bfloat16),
    "float16": (np.float32, np.float16),
    "float64": (np.float64, np.float64),
}
"""For each value the type of the parameters and that of the computation."""

_FULL, _TF32 = "highest", "tensorfloat32"
"""JAX's words for products in the precision of their operands, and in TF32; its default on a GPU is the latter."""

TF32_CAPABILITY = 8.0
"""NVIDIA's Ampere, the first with TF32 (CUDA C++ Programming Guide, "Compute Capabilities")."""

_FIRST_SCALE = 2.0**16
"""As flax has it."""


class Precision:
    """The precision of this process."""

    def __init__(self, name: str) -> None:
        """Set JAX's switches, whatever the user's environment says of them."""
        if name not in _DTYPES:
            msg = f"JAX has no precision={name}; it has {', '.join(_DTYPES)}"
            raise UnsupportedError(msg)
        self._name = name
        parameters, compute = _DTYPES[name]
        self.dtype: np.dtype[Any] = np.dtype(parameters)
        """Of parameters, batches and the optimiser."""
        self.compute = np.dtype(compute)
        """Of products."""
        self._seen: np.dtype[Any] | None = None
        floats.settle(self.dtype, self.compute)
        jax.config.update("jax_enable_x64", self.dtype == np.float64)
        jax.config.update("jax_default_matmul_precision", _TF32 if name == "tf32" else _FULL)

    def check(self, device: jax.Device) -> None:
        """Raise UnsupportedError where a device cannot compute in this precision."""
        if self._name != "tf32":
            return
        capability = getattr(device, "compute_capability", None)
        if capability is None or float(capability) < TF32_CAPABILITY:
            found = "has none" if capability is None else f"has {capability}"
            msg = f"precision=tf32 needs CUDA compute capability 8.0, and {device.device_kind} {found}"
            raise UnsupportedError(msg)

    def reduced(self, values: Any) -> Any:
        """Cast real numbers to the type of the computation."""
        return jax.tree.map(self._cast, values)

    def _cast(self, value: jax.Array) -> jax.Array:
        """Cast one array of real numbers."""
        return value.astype(self.compute) if jnp.issubdtype(value.dtype, jnp.floating) else value

    def called(self, model: Callable[[Any], Any], inputs: Any) -> Any:
        """Return a model's outputs in the type of the parameters; what they were computed in is seen while tracing."""
        with floats.of_the_model():
            outputs = model(self.reduced(inputs))
        self._seen = np.dtype(jax.tree.leaves(outputs)[0].dtype)
        return jax.tree.map(lambda output: output.astype(self.dtype), outputs)

    def scale(self) -> DynamicScale | None:
        """Return the loss scaling that gradients in float16 need; None for all other precisions."""
        if self.compute != np.float16:
            return None
        # As arrays: Python's numbers would be another type than what the step gives back, and compile it twice.
        return DynamicScale(fin_steps=jnp.int32(0), scale=jnp.float32(_FIRST_SCALE))

    def settings(self, device: str) -> dict[str, str | int | float | bool | None]:
        """Read back in which precision the model was computed, and what TF32 is allowed for."""
        matmul = jax.config.jax_default_matmul_precision
        allowed = device != "cpu" and matmul != _FULL
        computed = self._seen.name if self._seen else None
        return {
            "precision": "tf32" if allowed and matmul == _TF32 and computed == "float32" else computed,
            "parameters_dtype": self.dtype.name,
            "tf32_matmul": allowed,
            "tf32_convolution": allowed,
        }


def differentiated(
    loss: Callable[..., Any], axis: str | None = None, frozen: Collection[str] = ()
) -> Callable[..., Any]:
    """Return a function of a scale, or None, and the loss's arguments; gradients are means over the axis of a mesh.

    It returns the next scale, whether all gradients are finite, the loss and the gradients of parameters that are not
    frozen: by the others nothing is differentiated.

    The loss has an auxiliary value, which is returned beside it; the gradients are those of the unscaled loss.
    """

    def of_trained(trained: dict[str, Any], held: dict[str, Any], *more: Any) -> Any:
        return loss(trained | held, *more)

    plain = jax.value_and_grad(of_trained, has_aux=True)

    def differentiate(scale: DynamicScale | None, parameters: dict[str, Any], *more: Any) -> tuple[Any, Any, Any, Any]:
        held = {name: parameters[name] for name in frozen}
        args = {name: array for name, array in parameters.items() if name not in held}, held, *more
        if scale is None:
            value, gradients = plain(*args)
            return None, None, value, gradients if axis is None else jax.lax.pmean(gradients, axis)
        found = scale.value_and_grad(of_trained, has_aux=True, axis_name=axis)(*args)
        return found.dynamic_scale, found.finite, found.aux, found.grad

    return differentiate


def kept(finite: jax.Array | None, new: Any, old: Any) -> Any:
    """Return the new state of a step, or the old one where its gradients overflowed."""
    return new if finite is None else jax.tree.map(lambda n, o: jnp.where(finite, n, o), new, old)


def scaling(scale: DynamicScale | None) -> str | None:
    """Return how the loss is scaled; None where it is not."""
    if scale is None:
        return None
    grows = f"times {scale.growth_factor:g} after {scale.growth_interval} steps"
    return f"dynamic: {grows}, times {scale.backoff_factor:g} at an overflow"

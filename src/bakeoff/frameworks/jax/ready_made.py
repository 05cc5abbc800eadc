"""What JAX's users would take ready-made: keras.applications and KerasHub's layers on Keras' JAX backend.

Of the packages with such models for JAX it is the one that is kept and covers most workloads: flax has its ResNet as an
example beside the package, Haiku is in maintenance and has a ResNet only.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from bakeoff.frameworks import denormals
from bakeoff.frameworks.jax import devices, memory, profiling, snapshots
from bakeoff.frameworks.jax.compilation import compiled
from bakeoff.frameworks.keras_models import HOLES, MODELS, KerasStep
from bakeoff.frameworks.ready_made import find
from bakeoff.frameworks.steps import on_device
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.options import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bakeoff.frameworks.engine import Model
    from bakeoff.frameworks.steps import DeviceBatch
    from bakeoff.spec.batch import Batch
    from bakeoff.spec.record import Compilation, DeviceMemory
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.selftest import Profiled


class ReadyMadeModels:
    """The models of Keras, on JAX."""

    def name(self, workload: str) -> str:
        """Return what a user would write to have the model."""
        return f"{find(MODELS, HOLES, workload).name} on JAX"

    def build(self, workload: str, model: Model, scenario: Scenario, options: Mapping[str, str]) -> Step:
        """Make the model's step on the device that the engine was configured with."""
        for option, only in (("precision", "float32"), ("graph_optimization", "on"), ("conv_algorithm", DEFAULT)):
            if options[option] != only:
                msg = f"ready-made models run with {option}={only} on JAX here, not {option}={options[option]}"
                raise UnsupportedError(msg)
        _use_jax()
        found = find(MODELS, HOLES, workload)
        return Step(found.made(model.size), found.trained_by(model), scenario, options["mode"])


def _use_jax() -> None:
    """Import Keras on JAX; raise UnsupportedError where it is not there."""
    os.environ["KERAS_BACKEND"] = "jax"
    try:
        import keras
    except ImportError as error:
        msg = f"Keras is not there ({error}); bakeoff env create jax installs it"
        raise UnsupportedError(msg) from error
    keras.config.set_dtype_policy("float32")  # whatever the user's keras.json says


class Step(KerasStep):
    """A Keras model's step on JAX."""

    def prepare(self, batch: Batch) -> DeviceBatch:
        """Copy a batch to the device."""
        types = {"i": np.int32, "f": np.float32}
        return jax.block_until_ready(on_device(batch, lambda array: jnp.array(array, types.get(array.dtype.kind))))

    def wait(self) -> None:
        """Return when the step's variables are there, too: Keras has waited for its result only."""
        jax.block_until_ready([variable.value for variable in self._network.variables])

    def _copies(self, variables: Sequence[Any]) -> list[Any]:
        """Copy the arrays that variables have at present: Keras' step consumes them."""
        copied: list[Any] = snapshots.copied([variable.value for variable in variables])
        return copied

    def _put_back(self, variables: Sequence[Any], copies: Sequence[Any]) -> None:
        """Assign copies of the copies: the next step consumes what it is given."""
        for variable, value in zip(variables, snapshots.copied(list(copies)), strict=True):
            variable.assign(value)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force."""
        reduced = jax.default_backend() != "cpu" and jax.config.jax_default_matmul_precision != "highest"
        return self.keras_settings() | {
            "device": devices.named(jax.default_backend()),
            "threads": None,
            "tf32_matmul": reduced,
            "tf32_convolution": reduced,
            "accumulation": None,
            "denormals": denormals.in_force(jax.jit(jnp.multiply), None),
        }

    def compilation(self) -> Compilation:
        """Return what this process has traced and compiled so far."""
        return compiled()

    def profiled(self, work: Callable[[], None]) -> Profiled:
        """Return the time that JAX's profiler measured for some steps."""
        return profiling.profiled(work, self.wait, devices.named(jax.default_backend()))

    def device_memory(self) -> DeviceMemory:
        """Return what the device's allocator has held."""
        return memory.reading(jax.devices()[0])

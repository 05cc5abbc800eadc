"""What TensorFlow's users would take ready-made: keras.applications and KerasHub's layers, trained by Keras itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from bakeoff.frameworks.keras_models import HOLES, MODELS, KerasStep
from bakeoff.frameworks.ready_made import find
from bakeoff.frameworks.steps import on_device
from bakeoff.frameworks.tensorflow import devices, memory, profiling, snapshots, switches
from bakeoff.spec.record import Compilation, DeviceMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bakeoff.frameworks.engine import Model
    from bakeoff.frameworks.steps import DeviceBatch
    from bakeoff.spec.batch import Batch
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.selftest import Profiled


class ReadyMadeModels:
    """The models of Keras."""

    def name(self, workload: str) -> str:
        """Return what a user would write to have the model."""
        return find(MODELS, HOLES, workload).name

    def build(self, workload: str, model: Model, scenario: Scenario, options: Mapping[str, str]) -> Step:
        """Make the model's step: precision and device are those that the engine was configured with."""
        found = find(MODELS, HOLES, workload)
        return Step(found.made(model.size), found.trained_by(model), scenario, options["mode"])


class Step(KerasStep):
    """A Keras model's step on TensorFlow."""

    def __init__(self, network: Any, model: Model, scenario: Scenario, mode: str) -> None:
        """Take the network, and how all of its work is waited for."""
        super().__init__(network, model, scenario, mode)
        self._synchronize = devices.gpu_waiting() if devices.has_gpu() else tf.test.experimental.sync_devices

    def prepare(self, batch: Batch) -> DeviceBatch:
        """Put a batch on the device, in the variables' precision, and wait until it is there."""
        prepared = on_device(batch, lambda array: devices.placed(array, keras.config.floatx()))
        tf.test.experimental.sync_devices()
        return prepared

    def wait(self) -> None:
        """Return when the step's variables are assigned, too: Keras has waited for its result only."""
        self._synchronize()

    def _copies(self, variables: Sequence[Any]) -> list[Any]:
        """Copy variables on the device."""
        return snapshots.copies(variables)

    def _put_back(self, variables: Sequence[Any], copies: Sequence[Any]) -> None:
        """Copy into the variables' own memory."""
        snapshots.put_back(variables, copies)

    def settings(self) -> dict[str, str | int | float | bool | None]:
        """Read back what is in force."""
        tf32 = tf.config.experimental.tensor_float_32_execution_enabled()
        keras_settings = self.keras_settings()
        device = devices.device_name()
        is_tf32 = tf32 and device == "cuda" and keras_settings["precision"] == "float32"
        return (
            switches.settings(device, str(keras_settings["mode"]))
            | keras_settings
            | {
                "precision": "tf32" if is_tf32 else keras_settings["precision"],
                "device": device,
                "threads": tf.config.threading.get_intra_op_parallelism_threads(),
                "tf32_matmul": tf32,
                "tf32_convolution": tf32,
                "accumulation": None,
                "denormals": switches.denormals(str(keras_settings["mode"])),
            }
        )

    def compilation(self) -> Compilation:
        """Return nothing: Keras' trainer does not report what it has traced."""
        return Compilation()

    def profiled(self, work: Callable[[], None]) -> Profiled:
        """Return the time that TensorFlow's profiler measured for some steps."""
        return profiling.profiled(work, self.wait, devices.device_name())

    def device_memory(self) -> DeviceMemory:
        """Return what the GPU's allocator has held; a processor has none."""
        return memory.reading() if devices.has_gpu() else DeviceMemory()

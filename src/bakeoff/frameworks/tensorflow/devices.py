"""Which devices TensorFlow can use, where its tensors lie, and how a GPU's work is waited for.

Not run on a GPU by us.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

GPU = "GPU:0"


def show(device: str, first: int, count: int) -> None:
    """Show TensorFlow so many devices from one on, of this kind only; raise UnsupportedError where it has none."""
    if device == "cpu":
        tf.config.set_visible_devices([], "GPU")
        return
    if reason := why_unavailable(device):
        raise UnsupportedError(reason)
    tf.config.set_visible_devices(physical_gpus()[first : first + count], "GPU")


def why_unavailable(device: str) -> str:
    """Return why a device cannot be used; nothing when it can."""
    if device == "cpu":
        return ""
    if not tf.test.is_built_with_cuda():
        return f"TensorFlow {tf.__version__} here is its build for processors, without CUDA"
    if not physical_gpus():
        cuda = tf.sysconfig.get_build_info().get("cuda_version", "of a version that it does not tell")
        return f"TensorFlow {tf.__version__} with CUDA {cuda} finds no NVIDIA GPU, or not all of CUDA's libraries"
    return ""


def physical_gpus() -> list[Any]:
    """List the GPUs that TensorFlow finds, visible or not."""
    return tf.config.list_physical_devices("GPU")


def has_gpu() -> bool:
    """Return whether steps run on a GPU: then it is the only one that TensorFlow sees."""
    return bool(tf.config.list_logical_devices("GPU"))


def device_name() -> str:
    """Return what steps run on, by the name that the option `device` has for it."""
    return "cuda" if has_gpu() else "cpu"


def index_type() -> Any:
    """Return the type of labels and indices: int64 on a GPU, int32 on a processor.

    TensorFlow's kernels for GPUs keep int32 in the memory of the host ("Almost all TensorFlow kernels for GPU devices
    keep int32 tensors in host memory", tensorflow/python/eager/pywrap_tensor.cc), from where every step would copy it.
    """
    return tf.int64 if has_gpu() else tf.int32


def placed(array: NDArray[Any], real: Any) -> Any:
    """Copy an array to the device: real numbers as `real`, integers in the type of indices, all else as it is."""
    dtype = {"i": index_type(), "f": real}.get(array.dtype.kind)
    if not has_gpu():
        return tf.identity(tf.constant(array, dtype))
    with tf.device(GPU):
        return tf.identity(tf.constant(array, dtype))


def lies_on_gpu(batch: Any) -> bool:
    """Return whether the memory of every tensor of a batch is the GPU's: `device` names where a kernel ran instead."""
    return all("GPU" in tensor.backing_device for tensor in tf.nest.flatten(batch))


def synchronize() -> None:
    """Wait until this process's devices have nothing more to do.

    tf.test.experimental.sync_devices would ask those of a group's other processes, too, and they refuse.
    """
    if "TF_CONFIG" not in os.environ:
        tf.test.experimental.sync_devices()
        return
    with tf.device(GPU if has_gpu() else "CPU:0"):
        tf.raw_ops.SyncDevice()


def gpu_waiting() -> Callable[[], None]:
    """Return a function that returns when the GPU has nothing more to do.

    tf.test.experimental.sync_devices asks every device in turn, the processor too, and a scope is made for each: about
    30 us for one device (Xeon, TensorFlow 2.21, 2026-11-22), where this takes 6. Its second half waits for operations
    that were queued on the host, as TensorFlow does by set_synchronous_execution(False) only.
    """
    scope = tf.device(GPU)
    synchronize = tf.raw_ops.SyncDevice

    def wait() -> None:
        with scope:
            synchronize()

    return wait


def onednn() -> str | None:
    """Return whether oneDNN's operations are in force; None where TensorFlow does not report it.

    Where nothing is set, TensorFlow takes them on processors with instructions for neural networks alone (AVX512-VNNI
    and its like), and its own kernels on all others.
    """
    try:
        from tensorflow.python.framework.test_util import IsMklEnabled
    except ImportError:  # it is no public name
        return None
    return "on" if IsMklEnabled() else "off"

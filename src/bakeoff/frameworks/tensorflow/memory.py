"""What TensorFlow reports of its allocators, how they are limited, in which words they refuse.

Not run on a GPU by us.
"""

from __future__ import annotations

import os

import tensorflow as tf

from bakeoff.frameworks import exhaustion
from bakeoff.frameworks.exhaustion import Sign
from bakeoff.spec.record import DeviceMemory

_FORCED = {"true": True, "false": False}
"""What TF_FORCE_GPU_ALLOW_GROWTH may be; TensorFlow passes over anything else."""

MIB = 1 << 20
"""LogicalDeviceConfiguration takes its limit in MiB."""

SIGNS = (
    Sign(tf.errors.ResourceExhaustedError),
    # What a copy to the GPU raises where there is no room for it.
    Sign(tf.errors.InternalError, "Dst tensor is not initialized"),
    Sign(tf.errors.InternalError, "out of memory"),
    Sign(tf.errors.InternalError, "CUDA_ERROR_OUT_OF_MEMORY"),
    Sign(tf.errors.OpError, "CUDNN_STATUS_ALLOC_FAILED"),
    Sign(tf.errors.OpError, "CUBLAS_STATUS_ALLOC_FAILED"),
    Sign(RuntimeError, "CUDA runtime implicit initialization on GPU:0 failed. Status: out of memory"),
    # Also where cuDNN or cuBLAS are not those that TensorFlow was built with, or have nothing for these shapes.
    Sign(tf.errors.OpError, "No algorithm worked", sure=False),
    Sign(tf.errors.OpError, "GEMM launch failed", sure=False),
    Sign(tf.errors.OpError, "DNN library initialization failed", sure=False),
    Sign(tf.errors.OpError, "DNN library is not found", sure=False),
    Sign(tf.errors.OpError, "Failed to get convolution algorithm", sure=False),
)


def reading() -> DeviceMemory:
    """Read the first GPU's allocator; what it has reserved, TensorFlow does not report."""
    allocator = os.environ.get("TF_GPU_ALLOCATOR", "default")
    taken = "none" if _grows() else "nearly all that is free of the GPU"
    return DeviceMemory(
        peak_bytes=tf.config.experimental.get_memory_info("GPU:0")["peak"],
        preallocation=f"{taken}; allocator {allocator}",
    )


def reset_peak() -> None:
    """Count the first GPU's peak from now on."""
    tf.config.experimental.reset_memory_stats("GPU:0")


def policy() -> str:
    """Return how memory of a GPU is taken."""
    return "grow" if _grows() else "pool"


def limit(gpu: tf.config.PhysicalDevice, limit_bytes: int) -> None:
    """Have a GPU's allocator take no more than this in all, before TensorFlow's runtime starts; contexts are beyond."""
    limited = tf.config.LogicalDeviceConfiguration(memory_limit=limit_bytes // MIB)
    tf.config.set_logical_device_configuration(gpu, [limited])


def _grows() -> bool:
    """Return whether memory is taken only when it is asked for: by the variable, else as configured."""
    forced = _FORCED.get(os.environ.get("TF_FORCE_GPU_ALLOW_GROWTH", ""))
    if forced is not None:
        return forced
    (gpu, *_) = tf.config.get_visible_devices("GPU")
    return bool(tf.config.experimental.get_memory_growth(gpu))


def is_exhausted(error: BaseException) -> bool:
    """Return whether an error can be nothing but exhausted memory."""
    return exhaustion.is_sure(SIGNS, error)


def may_be_exhausted(error: BaseException) -> bool:
    """Return whether an error may be exhausted memory, or something else."""
    return exhaustion.is_likely(SIGNS, error)

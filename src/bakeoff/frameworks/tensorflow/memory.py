"""What TensorFlow reports of its allocators."""

from __future__ import annotations

import os

import tensorflow as tf

from bakeoff.spec.record import DeviceMemory

_FORCED = {"true": True, "false": False}
"""What TF_FORCE_GPU_ALLOW_GROWTH may be; TensorFlow passes over anything else."""


def reading() -> DeviceMemory:
    """Read the first GPU's allocator; what it has reserved, TensorFlow does not report. Not run on a GPU by us."""
    allocator = os.environ.get("TF_GPU_ALLOCATOR", "default")
    taken = "none" if _grows() else "nearly all that is free of the GPU"
    return DeviceMemory(
        peak_bytes=tf.config.experimental.get_memory_info("GPU:0")["peak"],
        preallocation=f"{taken}; allocator {allocator}",
    )


def _grows() -> bool:
    """Return whether memory is taken only when it is asked for: by the variable, else as configured."""
    forced = _FORCED.get(os.environ.get("TF_FORCE_GPU_ALLOW_GROWTH", ""))
    if forced is not None:
        return forced
    (gpu, *_) = tf.config.get_visible_devices("GPU")
    return bool(tf.config.experimental.get_memory_growth(gpu))


def is_exhausted(error: BaseException) -> bool:
    """Return whether an allocator reports that memory is exhausted."""
    return isinstance(error, tf.errors.ResourceExhaustedError)

"""What JAX reports of its allocators, how they are limited, in which words they refuse.

Its peaks were read on a GPU by us; limits and refusals were not.
"""

from __future__ import annotations

import os
from typing import Any

import jax
from jaxlib import xla_client

from bakeoff.frameworks import exhaustion
from bakeoff.frameworks.exhaustion import Sign
from bakeoff.spec.record import DeviceMemory

DEFAULT_FRACTION = 0.75
"""Of the GPU, taken at the start unless XLA_CLIENT_MEM_FRACTION says otherwise: JAX's documentation, "GPU memory
allocation"."""

FRACTION, OLD_FRACTION = "XLA_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_MEM_FRACTION"
"""Its variable; the second name is deprecated, and both together are refused (jaxlib/xla_client.py)."""

SIGNS = (
    Sign(jax.errors.JaxRuntimeError, "RESOURCE_EXHAUSTED"),
    Sign(jax.errors.JaxRuntimeError, "CUDNN_STATUS_ALLOC_FAILED"),
    Sign(jax.errors.JaxRuntimeError, "CUBLAS_STATUS_ALLOC_FAILED"),
    Sign(jax.errors.JaxRuntimeError, "CUDA_ERROR_OUT_OF_MEMORY"),
    Sign(RuntimeError, "CUDA_ERROR_OUT_OF_MEMORY"),
    # The backend's start, where a device cannot be opened: others hold its memory (a warning in jax/_src/xla_bridge.py
    # says so), or it is too old, or hidden.
    Sign(RuntimeError, "no supported devices found for platform CUDA", sure=False),
    # Also where cuDNN is not the one that XLA was built with.
    Sign(jax.errors.JaxRuntimeError, "DNN library initialization failed", sure=False),
    Sign(jax.errors.JaxRuntimeError, "CUDNN_STATUS_NOT_INITIALIZED", sure=False),
    Sign(jax.errors.JaxRuntimeError, "CUBLAS_STATUS_NOT_INITIALIZED", sure=False),
)


def reading(device: Any) -> DeviceMemory:
    """Read the device's allocator; JAX reports nothing of a processor's.

    Its peaks count from the start of the process, with the weights' way to the device: JAX cannot set them back.
    """
    if device.platform == "cpu":
        return DeviceMemory()
    statistics = device.memory_stats() or {}
    return DeviceMemory(
        peak_bytes=statistics.get("peak_bytes_in_use"),
        reserved_bytes=statistics.get("peak_pool_bytes", statistics.get("pool_bytes")),
        preallocation=_preallocation() if device.platform == "gpu" else None,
    )


def policy() -> str:
    """Return how memory of a GPU is taken, by the options that JAX itself gives its GPU client."""
    options = xla_client.generate_pjrt_gpu_plugin_options()
    # The platform's allocator has no pool that could be filled beforehand.
    return "grow" if options["allocator"] == "platform" or not options.get("preallocate", True) else "pool"


def limit(limit_bytes: int, total_bytes: int) -> None:
    """Have the GPU's allocator take no more than this in all, before its client is made; the context is beyond it."""
    os.environ.pop(OLD_FRACTION, None)
    os.environ[FRACTION] = f"{min(1.0, limit_bytes / total_bytes):.6f}"


def _preallocation() -> str:
    """Return the policy in words, by the same options, from the variables of this process."""
    options = xla_client.generate_pjrt_gpu_plugin_options()
    allocator = options["allocator"]
    if policy() == "grow":
        return f"none; allocator {allocator}"
    return f"{options.get('memory_fraction', DEFAULT_FRACTION):g} of the GPU; allocator {allocator}"


def is_exhausted(error: BaseException) -> bool:
    """Return whether an error can be nothing but exhausted memory."""
    return exhaustion.is_sure(SIGNS, error)


def may_be_exhausted(error: BaseException) -> bool:
    """Return whether an error may be exhausted memory, or something else."""
    return exhaustion.is_likely(SIGNS, error)

"""What JAX reports of its allocators."""

from __future__ import annotations

from typing import Any

import jax
from jaxlib import xla_client

from bakeoff.spec.record import DeviceMemory

DEFAULT_FRACTION = 0.75
"""Of the GPU, taken at the start unless XLA_CLIENT_MEM_FRACTION says otherwise: JAX's documentation, "GPU memory
allocation"."""


def reading(device: Any) -> DeviceMemory:
    """Read the device's allocator; JAX reports nothing of a processor's. Not run on a GPU by us."""
    if device.platform == "cpu":
        return DeviceMemory()
    statistics = device.memory_stats() or {}
    return DeviceMemory(
        peak_bytes=statistics.get("peak_bytes_in_use"),
        reserved_bytes=statistics.get("peak_pool_bytes", statistics.get("pool_bytes")),
        preallocation=_preallocation() if device.platform == "gpu" else None,
    )


def _preallocation() -> str:
    """Return the policy by the options that JAX itself gives its GPU client, from the variables of this process."""
    options = xla_client.generate_pjrt_gpu_plugin_options()
    allocator = options["allocator"]
    # The platform's allocator has no pool that could be filled beforehand.
    if allocator == "platform" or not options.get("preallocate", True):
        return f"none; allocator {allocator}"
    return f"{options.get('memory_fraction', DEFAULT_FRACTION):g} of the GPU; allocator {allocator}"


def is_exhausted(error: BaseException) -> bool:
    """Return whether an allocator reports that memory is exhausted, by XLA's status code."""
    return isinstance(error, jax.errors.JaxRuntimeError) and "RESOURCE_EXHAUSTED" in str(error)

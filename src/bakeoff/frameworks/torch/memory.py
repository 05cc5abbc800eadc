"""What PyTorch tells of its allocators."""

from __future__ import annotations

from typing import Any

import torch

from bakeoff.spec.record import DeviceMemory


def told(device: Any) -> DeviceMemory:
    """Read CUDA's allocator: it takes nothing before it is asked; nothing is told of other devices.

    Not run on a GPU by us.
    """
    if device.type != "cuda":
        return DeviceMemory()
    return DeviceMemory(
        peak_bytes=torch.cuda.max_memory_allocated(device),
        reserved_bytes=torch.cuda.max_memory_reserved(device),
        preallocation=f"none; allocator {torch.cuda.get_allocator_backend()}",
    )


def is_exhausted(error: BaseException) -> bool:
    """Tell whether an allocator has said so: a device's by an error of its own, the processor's by its words."""
    return isinstance(error, torch.OutOfMemoryError) or "DefaultCPUAllocator: can't allocate memory" in str(error)

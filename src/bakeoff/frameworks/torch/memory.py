"""What PyTorch reports of its allocators."""

from __future__ import annotations

from typing import Any

import torch

from bakeoff.spec.record import DeviceMemory


def reading(device: Any) -> DeviceMemory:
    """Read CUDA's allocator: it takes nothing before it is asked; nothing is reported of other devices.

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
    """Return whether an allocator reports that memory is exhausted: by the error's type, or its words."""
    return isinstance(error, torch.OutOfMemoryError) or "DefaultCPUAllocator: can't allocate memory" in str(error)

"""What PyTorch reports of its allocators, how they are limited, in which words they refuse.

Its peaks were read on a GPU by us; limits and refusals were not.
"""

from __future__ import annotations

from typing import Any

import torch

from bakeoff.frameworks import exhaustion
from bakeoff.frameworks.exhaustion import Sign
from bakeoff.spec.record import DeviceMemory

SIGNS = (
    Sign(torch.OutOfMemoryError),
    Sign(RuntimeError, "DefaultCPUAllocator: can't allocate memory"),
    # torch.AcceleratorError is a RuntimeError: CUDA itself refuses, outside of PyTorch's allocator.
    Sign(RuntimeError, "CUDA error: out of memory"),
    Sign(RuntimeError, "CUDA out of memory"),
    # The driver itself, where PyTorch maps memory, and where Triton loads a kernel of compiled code.
    Sign(RuntimeError, "CUDA driver error: out of memory"),
    Sign(RuntimeError, "Triton Error [CUDA]: out of memory"),
    Sign(RuntimeError, "CUBLAS_STATUS_ALLOC_FAILED"),
    Sign(RuntimeError, "CUDNN_STATUS_ALLOC_FAILED"),
    Sign(RuntimeError, "MPS backend out of memory"),
    # Also where a library is not the one that PyTorch was built with, or the GPU is in a wrong state.
    Sign(RuntimeError, "CUDNN_STATUS_NOT_INITIALIZED", sure=False),
    Sign(RuntimeError, "CUBLAS_STATUS_NOT_INITIALIZED", sure=False),
    Sign(RuntimeError, "CUDNN_STATUS_INTERNAL_ERROR", sure=False),
    # Also where cuDNN has no algorithm for these shapes or this GPU.
    Sign(RuntimeError, "unable to find an engine to execute this computation", sure=False),
)


def reading(device: Any) -> DeviceMemory:
    """Read the device's allocator; nothing is reported of a processor's."""
    if device.type == "mps":
        # Metal reports what the driver has given to this process, which PyTorch's cache keeps: no live peak.
        return DeviceMemory(reserved_bytes=torch.mps.driver_allocated_memory(), preallocation="none")
    if device.type != "cuda":
        return DeviceMemory()
    return DeviceMemory(
        peak_bytes=torch.cuda.max_memory_allocated(device),
        reserved_bytes=torch.cuda.max_memory_reserved(device),
        preallocation=f"none; allocator {torch.cuda.get_allocator_backend()}",
    )


def reset_peak(device: Any) -> None:
    """Count CUDA's peaks from now on; MPS counts none."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def policy(device: Any) -> str | None:
    """Return how memory of a GPU is taken: both of CUDA's allocators grow; None on a processor."""
    return None if device.type == "cpu" else "grow"


def limit(limit_bytes: int, total_bytes: int) -> None:
    """Have CUDA's allocator take no more than this of a GPU of this size; the context is beyond it."""
    torch.cuda.set_per_process_memory_fraction(min(1.0, limit_bytes / total_bytes), 0)


def is_exhausted(error: BaseException) -> bool:
    """Return whether an error can be nothing but exhausted memory."""
    return exhaustion.is_sure(SIGNS, error)


def may_be_exhausted(error: BaseException) -> bool:
    """Return whether an error may be exhausted memory, or something else."""
    return exhaustion.is_likely(SIGNS, error)

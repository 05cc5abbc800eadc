"""How much memory a GPU has left, asked of NVML by a process that has no Python package for it.

A worker runs in its framework's environment. Not run on a GPU by us.
"""

from __future__ import annotations

import ctypes
import os


class _Memory(ctypes.Structure):
    """nvmlMemory_t of nvml.h, in bytes."""

    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


def left_share() -> float | None:
    """Return the free share of the memory of the first GPU that this process may use; None where NVML does not say."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    device, memory = ctypes.c_void_p(), _Memory()
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0].strip()
    try:
        if nvml.nvmlInit_v2():
            return None
        if first.isdigit():
            failed = nvml.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(int(first)), ctypes.byref(device))
        else:
            failed = nvml.nvmlDeviceGetHandleByUUID(ctypes.c_char_p(first.encode()), ctypes.byref(device))
        failed = failed or nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory))
        nvml.nvmlShutdown()
    except AttributeError:  # a library of that name without these functions
        return None
    return None if failed or not memory.total else memory.free / memory.total

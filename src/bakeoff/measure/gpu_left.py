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
    """Return the free share of the fullest of the GPUs that this process is shown; None where NVML does not say."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    shown = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")
    try:
        if nvml.nvmlInit_v2():
            return None
        shares = [_left_of(nvml, one.strip()) for one in shown]
        nvml.nvmlShutdown()
    except AttributeError:  # a library of that name without these functions
        return None
    return min((share for share in shares if share is not None), default=None)


def _left_of(nvml: ctypes.CDLL, name: str) -> float | None:
    """Return the free share of a GPU by its index or UUID; None where there is none, or NVML does not say."""
    device, memory = ctypes.c_void_p(), _Memory()
    if name.isdigit():
        failed = nvml.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(int(name)), ctypes.byref(device))
    else:
        failed = nvml.nvmlDeviceGetHandleByUUID(ctypes.c_char_p(name.encode()), ctypes.byref(device))
    failed = failed or nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory))
    return None if failed or not memory.total else memory.free / memory.total

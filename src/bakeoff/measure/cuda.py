"""Which GPUs CUDA shows to a process, asked of NVIDIA's driver itself, whatever framework runs.

Also run by itself, as a script, so that the process that asks need not have CUDA in it.
"""

from __future__ import annotations

import ctypes
import uuid

LIBRARY = "libcuda.so.1"
"""The driver's library on Linux; CUDA is asked nowhere else."""


def visible_uuids() -> list[str]:
    """Return the UUIDs of the devices that this process sees, in CUDA's order, without "GPU-" or "MIG-" before them.

    Empty where it sees none, or there is no driver. No context is made, so that no memory of a GPU is taken.
    Functions: the CUDA Driver API's chapters on initialisation and device management.
    """
    try:
        cuda = ctypes.CDLL(LIBRARY)
        read = getattr(cuda, "cuDeviceGetUuid_v2", None) or cuda.cuDeviceGetUuid  # _v2 since CUDA 11.4, for MIG
        count = ctypes.c_int()
        if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)):
            return []
    except (OSError, AttributeError):
        return []
    found = []
    for ordinal in range(count.value):
        device, text = ctypes.c_int(), (ctypes.c_ubyte * 16)()
        if cuda.cuDeviceGet(ctypes.byref(device), ordinal) or read(text, device):
            return []
        found.append(str(uuid.UUID(bytes=bytes(text))))
    return found


if __name__ == "__main__":
    print("\n".join(visible_uuids()))  # noqa: T201 - its answer

"""What MLX reports of its allocators."""

from __future__ import annotations

import mlx.core as mx

from bakeoff.spec.record import DeviceMemory

_WORDS = ("[malloc]", "[metal::malloc]")
"""With which MLX's allocators begin their errors."""


def reading(device: str) -> DeviceMemory:
    """Read Metal's allocator, which takes nothing before it is asked; nothing is reported of a processor's.

    Not run on a GPU by us.
    """
    if device == "cpu":
        return DeviceMemory()
    return DeviceMemory(peak_bytes=mx.get_peak_memory(), preallocation="none")


def is_exhausted(error: BaseException) -> bool:
    """Return whether an allocator reports that memory is exhausted.

    On a processor it says nothing: MLX 0.32 writes to what the system did not give, and the process ends by a signal.
    """
    return isinstance(error, RuntimeError) and str(error).startswith(_WORDS)

"""How many threads share one operation: one in MLX itself, which leaves products to a library that may have more."""

from __future__ import annotations

from pathlib import Path

_MAPS = Path("/proc/self/maps")
_PLAIN_BLAS = "/mlx_cpu.libs/libblas"
"""The reference implementation of BLAS, of one thread, which mlx-cpu brings with it for Linux."""


def in_force() -> int | None:
    """Count them; None where products are another library's, about which MLX reports nothing."""
    return 1 if _MAPS.exists() and _PLAIN_BLAS in _MAPS.read_text() else None

"""The library that computes products of matrices on a processor: MLX leaves them to BLAS, and has one thread itself."""

from __future__ import annotations

import ctypes
from pathlib import Path

import mlx.core as mx

_PRODUCT = "cblas_sgemm"
_THREADS = "openblas_get_num_threads"
_PLAIN = "libblas-"
"""How the file begins that mlx-cpu brings for Linux: the reference implementation of BLAS, of one thread."""


class _Symbol(ctypes.Structure):
    """The struct Dl_info of dladdr(3)."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def library() -> str | None:
    """Return the name of the file that has it; None where MLX was not linked with such a file."""
    found = _Symbol()
    try:
        scope = _scope()
        address = ctypes.cast(getattr(scope, _PRODUCT), ctypes.c_void_p)
        ctypes.CDLL(None).dladdr(address, ctypes.byref(found))
    except (AttributeError, OSError):
        return None
    return Path(found.file.decode()).resolve().name if found.file else None


def threads() -> int | None:
    """Return how many share a product; None where the library does not say."""
    if (library() or "").startswith(_PLAIN):
        return 1
    try:
        return int(getattr(_scope(), _THREADS)())
    except (AttributeError, OSError):
        return None


def _scope() -> ctypes.CDLL:
    """Return where MLX finds a function: what was preloaded (LD_PRELOAD) comes before what MLX was linked with."""
    everywhere = ctypes.CDLL(None)
    if hasattr(everywhere, _PRODUCT):
        return everywhere
    return ctypes.CDLL(str(Path(mx.__file__).parent / "lib" / "libmlx.so"))

"""NVML, the library of NVIDIA's driver that reports on GPUs to any process, whoever uses them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bakeoff.spec.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def opened() -> Iterator[Any]:
    """Yield the module pynvml while NVML is open; raise UnavailableError, with the reason, for any of its errors."""
    try:
        import pynvml
    except ImportError as error:
        msg = "its Python package, nvidia-ml-py, is missing"
        raise UnavailableError(msg) from error
    try:
        pynvml.nvmlInit()
        try:
            yield pynvml
        finally:
            pynvml.nvmlShutdown()
    except pynvml.NVMLError as error:
        raise UnavailableError(str(error)) from error

"""NVML, the library of NVIDIA's driver that reports on GPUs to any process, whoever uses them.

The parent asks it, through nvidia-ml-py: which GPUs there are (gpus.py), what one is and how it is set (gpu_facts.py,
whose `Device` stands for one with answers that may be missing), its clocks while a block runs (gpu_clocks.py), what
processes hold of it (gpu_memory.py), and its energy (energy.py). A worker's environment has no such package, so that
it asks one question by itself (gpu_left.py).
"""

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

"""NVML, the library of NVIDIA's driver that reports on GPUs to any process, whoever uses them.

The parent asks it, through nvidia-ml-py: which GPUs there are (gpus.py), what one is, how it is set and how several are
linked (gpu_facts.py, whose `Device` stands for one with answers that may be missing), its clocks while a block runs
(gpu_clocks.py), what processes hold of it (gpu_memory.py), and its energy (energy.py). A worker's environment has no
such package, so that it asks one question by itself (gpu_left.py).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bakeoff.spec.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

INSTALL = "install NVIDIA's driver; in a container: docker run --gpus all"

REMEDIES = {
    "NVML_ERROR_DRIVER_NOT_LOADED": "sudo modprobe nvidia; where that fails, install NVIDIA's driver again",
    "NVML_ERROR_LIB_RM_VERSION_MISMATCH": "reboot: the driver was updated, and its older module is still loaded",
    "NVML_ERROR_GPU_IS_LOST": "reboot: the GPU has fallen off its bus; sudo dmesg | grep -i nvrm tells why",
    "NVML_ERROR_NO_PERMISSION": "ask for access to /dev/nvidia*, by ls -l /dev/nvidia*",
}
"""What to do about errors of NVML, by its own description of them (nvml.h)."""


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


def why_no_gpu() -> tuple[str, str]:
    """Return why NVML reports no GPU that can be used, in its words or ours, and what to do."""
    try:
        with opened() as pynvml:
            # What a device answers in its turn ends it, with NVML's reason.
            for index in range(pynvml.nvmlDeviceGetCount()):
                pynvml.nvmlDeviceGetUUID(pynvml.nvmlDeviceGetHandleByIndex(index))
    except UnavailableError as error:
        return _told(error)
    return "it counts none", INSTALL


def _told(error: UnavailableError) -> tuple[str, str]:
    """Return why NVML does not answer, and what to do."""
    import pynvml

    code = getattr(error.__cause__, "value", None)
    if code == pynvml.NVML_ERROR_LIBRARY_NOT_FOUND:
        return "its driver is missing, or a container was started without the GPU", INSTALL
    return str(error), next((do for name, do in REMEDIES.items() if getattr(pynvml, name) == code), "nvidia-smi")

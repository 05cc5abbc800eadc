"""What computes here, as the parent sees it: the processor or Apple's chip, and an NVIDIA GPU with its driver."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.measure import nvml
from bakeoff.spec.errors import UnavailableError

if TYPE_CHECKING:
    from bakeoff.measure.hidden import Facts

SYSCTL_LIMIT_S = 5.0
"""sysctl answers at once; a machine on which it does not must not hold a comparison up."""


def processor() -> str:
    """Give the processor's model name, such as "AMD EPYC 9R14" or "Apple M2 Pro"."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "Model")):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # Not Linux: the answers below are the best there are.
    return _apple_chip() or platform.processor() or platform.machine()


def _apple_chip() -> str:
    """Give the chip's name on macOS, which is processor and GPU in one; "" elsewhere. Not run by us."""
    if platform.system() != "Darwin":
        return ""
    command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SYSCTL_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def gpu() -> Facts:
    """Give name, capability, driver and memory of the first GPU by NVML; empty where NVML or a GPU is missing."""
    try:
        with nvml.opened() as told:
            handle = told.nvmlDeviceGetHandleByIndex(0)
            major, minor = told.nvmlDeviceGetCudaComputeCapability(handle)
            # NVML has 12080 for CUDA 12.8, the newest that the driver runs.
            cuda = int(told.nvmlSystemGetCudaDriverVersion_v2())
            return {
                "gpu": str(told.nvmlDeviceGetName(handle)),
                "gpus": int(told.nvmlDeviceGetCount()),
                "gpu_compute_capability": f"{major}.{minor}",
                "gpu_driver": str(told.nvmlSystemGetDriverVersion()),
                "gpu_driver_cuda": f"{cuda // 1000}.{cuda % 1000 // 10}",
                "gpu_memory_bytes": int(told.nvmlDeviceGetMemoryInfo(handle).total),
            }
    except UnavailableError:
        return {}
